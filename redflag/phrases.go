package redflag

// The phrases are English, as our prompts are; a [Config] can add others. They are
// folded, which spells contractions out, and matched where a sentence begins unless
// said otherwise. A final comma asks for punctuation after the phrase; see startsWith.

// apologies open a refusal, and much else: alone they mean nothing.
var apologies = []string{
	"i am sorry", "i am very sorry", "i am really sorry", "sorry", "i apologize", "i apologise", "my apologies", "apologies", "unfortunately",
	"regrettably", "i am afraid", "i regret", "but", "that", "however",
}

// refusals decline to help, whatever stands around them.
var refusals = []string{
	"i cannot help with", "i can not help with", "i cannot help you with", "i cannot help you do", "i will not help with", "i will not be able to help",
	"i will not be able to assist", "i cannot assist", "i will not assist", "i am unable to help", "i am not able to help", "i am unable to assist",
	"i am not able to assist", "i cannot comply with", "i am unable to comply", "i cannot fulfill", "i cannot fulfil", "i am unable to fulfill",
	"i must decline", "i have to decline", "i respectfully decline", "i decline to", "i refuse to", "i will not provide", "i will not do that",
	"i cannot do that", "this request violates", "your request violates",
}

// unwilling declines only after an apology: without one, "I cannot provide a
// closed form" is mathematics. It is matched anywhere in the sentence.
var unwilling = []string{
	"i cannot help with", "i cannot help you", "i cannot assist", "i cannot provide", "i cannot answer", "i cannot discuss", "i cannot generate",
	"i cannot create", "i cannot write", "i cannot share", "i cannot do that", "i cannot do this", "i cannot complete", "i cannot engage",
	"i cannot continue", "i cannot comply", "i cannot fulfill", "i cannot support", "i am unable to", "i am not able to", "i will not",
	"unable to help with that", "unable to assist with that", "cannot help with that",
}

// selfReferences speak of being a model.
var selfReferences = []string{
	"as an ai language model", "as an ai assistant", "as an ai model", "as an ai,", "as an ai i", "as an artificial intelligence,",
	"as an artificial intelligence language model", "as a large language model", "as a language model", "as an assistant,", "i am an ai",
	"i am just an ai", "i am a large language model", "my training data", "my knowledge cutoff", "my system prompt", "based on my training data",
	"according to my training data",
}

// leaks are thoughts about the request that were not meant to be seen.
var leaks = []string{
	"the user wants me to", "the user is asking me to", "the user asked me to", "the user has asked me to", "the user would like me to",
	"okay, the user", "ok, the user", "okay, so the user", "the prompt asks me to", "i was asked to", "i have been asked to",
}

// openers are courtesies before the answer.
var openers = []string{
	"sure thing", "sure", "certainly", "of course", "absolutely", "definitely", "great question", "good question", "excellent question", "great",
	"okay", "ok",
}

// presentations announce the answer after an opener.
var presentations = []string{
	"here is", "here are", "here you go", "below is", "let me", "i would be happy", "i am happy to", "i can help",
}

// introductions announce the answer without an opener.
var introductions = []string{
	"here is the json", "here is the requested", "here is your", "here is the output you", "here is the answer to your", "here you go",
	"i would be happy to", "i am happy to help", "i will be glad to", "thank you for your question", "thanks for your question",
}

// closings offer more after the answer. They count only in the last sentence,
// so that a drafted letter with a signature may have them.
var closings = []string{
	"i hope this helps", "i hope that helps", "hope this helps", "hope that helps", "let me know if", "please let me know if", "feel free to ask",
	"feel free to let me know", "please feel free", "is there anything else", "would you like me to", "do you want me to",
	"if you have any other questions", "if you have any more questions", "if you have any further questions", "if you have any questions",
	"if you need any", "if you need further", "if you need more help", "if you would like, i can", "if you want, i can", "i am here to help",
	"happy to help",
}

// hedges are matched anywhere in a sentence.
var hedges = []string{
	"i am not sure", "i am not certain", "i am not entirely sure", "i am not completely sure", "i am unsure", "i am not confident", "i do not know",
	"i have no idea", "i am guessing", "i can only guess", "my best guess", "just a guess", "only a guess", "i could be wrong", "i might be wrong",
	"i may be wrong", "do not quote me", "i cannot be certain",
}

// corrections take back what was said.
var corrections = []string{
	"wait, no,", "wait no,", "no, wait,", "no wait,", "actually, no,", "actually no,", "oh wait, no,", "hold on, no,", "hmm, no,",
	"wait, that is wrong", "wait, that is not right", "wait, that is incorrect", "wait, that cannot be right", "hold on, that is not right",
	"hold on, that is wrong", "actually, that is wrong", "actually, that is not right", "actually, that is incorrect", "hmm, that is not right",
	"hmm, that is wrong", "no, that is wrong", "no, that is not right", "scratch that", "strike that", "on second thought", "i made a mistake",
	"i made an error", "i was wrong,", "i misspoke", "i miscalculated", "i need to correct myself", "let me correct myself", "let me correct that",
	"my previous answer was wrong", "my previous answer is wrong", "my earlier answer was wrong", "my first answer was wrong", "oops,",
	"correction: the answer",
}

// thinking opens a sentence before a correction, a hedge or an answer.
var thinking = []string{
	"so", "well", "but", "and", "oh", "ah", "hmm", "hm", "then", "thus", "therefore", "hence", "ok", "okay", "sorry", "now", "finally", "in conclusion",
	"my",
}

// conditions make an answer one of several: "if x > 0, the answer is 3".
var conditions = []string{
	"if", "when", "for", "unless", "assuming", "suppose", "otherwise", "in case", "would be", "was", "might", "could",
}

// slotWords begin what stands between the brackets of a slot.
var slotWords = []string{
	"insert", "your", "enter your", "enter the", "fill in", "fill this in", "add your", "add the", "placeholder", "todo", "tbd", "to be determined",
	"to be filled", "to be completed", "to be added", "describe your", "provide your", "specify your", "specify the", "company name", "recipient name",
	"recipient's name", "name of", "phone number", "email address", "city, state",
}

// unfilled is a line or a value that says nothing else.
var unfilled = []string{
	"todo", "tbd", "tba", "fixme", "xxx", "placeholder", "to be determined", "to be filled in", "to be completed", "to be added", "coming soon",
	"fill in later", "fill me in",
}

// fillers stand in for text wherever they occur.
var fillers = []string{
	"lorem ipsum", "your answer here", "your answer goes here", "your text here", "your text goes here", "your code here", "your code goes here",
	"insert your answer here", "insert text here", "answer goes here", "text goes here", "content goes here", "todo: fill in", "todo: insert",
	"todo: implement", "todo: complete this",
}
