package redflag

// The phrases are English, as our prompts are; a [Config] can add others. They are
// folded, and matched where a sentence begins unless said otherwise. A final comma asks for punctuation after the phrase; see startsWith.

// apologies open a refusal, and much else: alone they mean nothing.
var apologies = []string{
	"i'm sorry", "i am sorry", "i'm very sorry", "i'm really sorry", "sorry", "i apologize", "i apologise",
	"my apologies", "apologies", "unfortunately", "regrettably", "i'm afraid", "i am afraid", "i regret",
	"but", "that", "however",
}

// refusals decline to help, whatever stands around them.
var refusals = []string{
	"i can't help with", "i can't help you with", "i can't help you do", "i cannot help with", "i cannot help you with",
	"i can not help with", "i won't help with", "i will not help with", "i won't be able to help", "i won't be able to assist",
	"i can't assist", "i cannot assist", "i can not assist", "i won't assist", "i will not assist",
	"i'm unable to help", "i am unable to help", "i'm not able to help", "i am not able to help",
	"i'm unable to assist", "i am unable to assist", "i'm not able to assist", "i am not able to assist",
	"i can't comply with", "i cannot comply with", "i'm unable to comply", "i am unable to comply",
	"i can't fulfill", "i cannot fulfill", "i can't fulfil", "i cannot fulfil", "i'm unable to fulfill", "i am unable to fulfill",
	"i must decline", "i have to decline", "i respectfully decline", "i decline to", "i refuse to",
	"i won't provide", "i will not provide", "i won't do that", "i can't do that", "i cannot do that",
	"this request violates", "your request violates",
}

// unwilling declines only after an apology: without one, "I cannot provide a
// closed form" is mathematics. It is matched anywhere in the sentence.
var unwilling = []string{
	"i can't help with", "i can't help you", "i cannot help with", "i cannot help you", "i can't assist", "i cannot assist",
	"i can't provide", "i cannot provide", "i can't answer", "i cannot answer", "i can't discuss", "i cannot discuss",
	"i can't generate", "i cannot generate", "i can't create", "i cannot create", "i can't write", "i cannot write",
	"i can't share", "i cannot share", "i can't do that", "i cannot do that", "i can't do this", "i cannot do this",
	"i can't complete", "i cannot complete", "i can't engage", "i cannot engage", "i can't continue", "i cannot continue",
	"i can't comply", "i cannot comply", "i can't fulfill", "i cannot fulfill", "i can't support", "i cannot support",
	"i'm unable to", "i am unable to", "i'm not able to", "i am not able to", "i won't", "i will not",
	"unable to help with that", "unable to assist with that", "can't help with that", "cannot help with that",
}

// selfReferences speak of being a model.
var selfReferences = []string{
	"as an ai language model", "as an ai assistant", "as an ai model", "as an ai,", "as an ai i", "as an artificial intelligence,",
	"as an artificial intelligence language model", "as a large language model", "as a language model", "as an assistant,",
	"i am an ai", "i'm an ai", "i am just an ai", "i'm just an ai", "i am a large language model", "i'm a large language model",
	"my training data", "my knowledge cutoff", "my system prompt", "based on my training data", "according to my training data",
}

// leaks are thoughts about the request that were not meant to be seen.
var leaks = []string{
	"the user wants me to", "the user is asking me to", "the user asked me to", "the user has asked me to", "the user would like me to",
	"okay, the user", "ok, the user", "okay, so the user", "the prompt asks me to", "i was asked to", "i have been asked to",
}

// openers are courtesies before the answer.
var openers = []string{
	"sure thing", "sure", "certainly", "of course", "absolutely", "definitely", "great question", "good question", "excellent question", "great", "okay", "ok",
}

// presentations announce the answer after an opener.
var presentations = []string{
	"here is", "here's", "here are", "here you go", "below is", "let me", "i'd be happy", "i would be happy", "i'm happy to", "i can help",
}

// introductions announce the answer without an opener.
var introductions = []string{
	"here is the json", "here's the json", "here is the requested", "here's the requested", "here is your", "here's your",
	"here is the output you", "here's the output you", "here is the answer to your", "here's the answer to your", "here you go",
	"i'd be happy to", "i would be happy to", "i'm happy to help", "i'll be glad to", "thank you for your question", "thanks for your question",
}

// closings offer more after the answer. They count only in the last sentence,
// so that a drafted letter with a signature may have them.
var closings = []string{
	"i hope this helps", "i hope that helps", "hope this helps", "hope that helps", "let me know if", "please let me know if", "feel free to ask", "feel free to let me know",
	"please feel free", "is there anything else", "would you like me to", "do you want me to", "if you have any other questions", "if you have any more questions",
	"if you have any further questions", "if you have any questions", "if you need any", "if you need further", "if you need more help", "if you'd like, i can", "if you want, i can",
	"i'm here to help", "happy to help",
}

// hedges are matched anywhere in a sentence.
var hedges = []string{
	"i'm not sure", "i am not sure", "i'm not certain", "i am not certain", "i'm not entirely sure", "i'm not completely sure", "i'm unsure", "i am unsure",
	"i'm not confident", "i am not confident", "i don't know", "i do not know", "i have no idea", "i'm guessing", "i am guessing", "i can only guess", "my best guess",
	"just a guess", "only a guess", "i could be wrong", "i might be wrong", "i may be wrong", "don't quote me", "i can't be certain", "i cannot be certain",
}

// corrections take back what was said.
var corrections = []string{
	"wait, no,", "wait no,", "no, wait,", "no wait,", "actually, no,", "actually no,", "oh wait, no,", "hold on, no,", "hmm, no,", "wait, that's wrong", "wait, that is wrong",
	"wait, that's not right", "wait, that is not right", "wait, that's incorrect", "wait, that can't be right", "hold on, that's not right", "hold on, that's wrong",
	"actually, that's wrong", "actually, that is wrong", "actually, that's not right", "actually, that's incorrect", "hmm, that's not right", "hmm, that's wrong",
	"no, that's wrong", "no, that's not right", "no, that is not right", "scratch that", "strike that", "on second thought",
	"i made a mistake", "i made an error", "i was wrong,", "i misspoke", "i miscalculated", "i need to correct myself", "let me correct myself", "let me correct that",
	"my previous answer was wrong", "my previous answer is wrong", "my earlier answer was wrong", "my first answer was wrong", "oops,", "correction: the answer",
}

// thinking opens a sentence before a correction, a hedge or an answer.
var thinking = []string{
	"so", "well", "but", "and", "oh", "ah", "hmm", "hm", "then", "thus", "therefore", "hence", "ok", "okay", "sorry", "now", "finally", "in conclusion", "my",
}

// finalAnswers introduce the answer; the value follows.
var finalAnswers = []string{
	"the final answer is", "the final answer", "final answer is", "final answer", "the correct answer is", "the answer is", "the answer", "answer",
}

// conditions make an answer one of several: "if x > 0, the answer is 3".
var conditions = []string{
	"if", "when", "for", "unless", "assuming", "suppose", "otherwise", "in case", "would be", "was", "might", "could",
}

// parts number the pieces of an answer to several questions.
var parts = []string{
	"question", "problem", "part", "exercise", "case", "task", "puzzle", "item", "q", "example", "scenario", "step",
}

// slotWords begin what stands between the brackets of a slot.
var slotWords = []string{
	"insert", "your", "enter your", "enter the", "fill in", "fill this in", "add your", "add the", "placeholder", "todo", "tbd", "to be determined", "to be filled", "to be completed", "to be added",
	"describe your", "provide your", "specify your", "specify the", "company name", "recipient name", "recipient's name", "name of", "phone number", "email address", "city, state",
}

// unfilled is a line or a value that says nothing else.
var unfilled = []string{
	"todo", "tbd", "tba", "fixme", "xxx", "placeholder", "to be determined", "to be filled in", "to be completed", "to be added", "coming soon", "fill in later", "fill me in",
}

// fillers stand in for text wherever they occur.
var fillers = []string{
	"lorem ipsum", "your answer here", "your answer goes here", "your text here", "your text goes here", "your code here", "your code goes here", "insert your answer here", "insert text here",
	"answer goes here", "text goes here", "content goes here", "todo: fill in", "todo: insert", "todo: implement", "todo: complete this",
}
