package redflag

// The phrases are folded, and matched where a sentence begins unless said
// otherwise. A final comma asks for punctuation after the phrase; see startsWith.

// apologies open a refusal, and much else: alone they mean nothing.
var apologies = []string{
	"i'm sorry", "i am sorry", "i'm very sorry", "i'm really sorry", "sorry", "i apologize", "i apologise",
	"my apologies", "apologies", "unfortunately", "regrettably", "i'm afraid", "i am afraid", "i regret",
	"but", "that", "however",
	"es tut mir leid", "tut mir leid", "entschuldigung", "leider", "aber", "dass",
	"je suis désolé", "je suis désolée", "désolé", "désolée", "je regrette", "malheureusement", "mais",
	"lo siento", "lo siento mucho", "lamento", "lamentablemente", "perdón", "disculpa", "desafortunadamente", "pero",
	"desculpe", "desculpa", "sinto muito", "lamento", "infelizmente", "mas",
	"mi dispiace", "spiacente", "purtroppo", "ma",
	"извините", "простите", "к сожалению", "прошу прощения", "мне жаль", "но",
	"很抱歉", "非常抱歉", "抱歉", "对不起", "對不起", "不好意思", "但是", "但",
	"申し訳ありません", "申し訳ございません", "すみません", "ごめんなさい", "残念", "ながら", "ですが", "が",
	"죄송합니다만", "죄송합니다", "죄송하지만", "죄송", "미안하지만", "유감스럽게도", "하지만",
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
	"ich kann dir dabei nicht helfen", "ich kann ihnen dabei nicht helfen", "dabei kann ich nicht helfen",
	"dabei kann ich dir nicht helfen", "dabei kann ich ihnen nicht helfen", "ich kann dabei nicht helfen",
	"ich kann diese anfrage nicht", "ich kann diese frage nicht beantworten",
	"je ne peux pas vous aider", "je ne peux pas t'aider", "je ne peux pas répondre à cette demande", "je ne peux pas aider",
	"je ne suis pas en mesure de vous aider", "je ne suis pas en mesure de répondre",
	"no puedo ayudarte con", "no puedo ayudarle con", "no puedo ayudar con", "no puedo cumplir con", "no puedo responder a esa",
	"não posso ajudar", "não posso te ajudar", "não posso atender", "não consigo ajudar",
	"non posso aiutarti", "non posso aiutarla", "non posso aiutare", "non posso soddisfare",
	"я не могу помочь", "я не могу вам помочь", "я не могу выполнить этот", "я не могу выполнить ваш", "не могу помочь с",
	"我无法协助", "我不能协助", "我无法帮助你", "我无法帮助您", "我无法满足", "我無法協助", "我無法幫助", "我拒绝回答", "我不能帮你", "我不能帮助你",
	"お手伝いできません", "お手伝いすることはできません", "そのリクエストにはお応えできません", "そのご要望にはお応えできません",
	"도와드릴 수 없습니다", "도와 드릴 수 없습니다", "해당 요청은 도와드릴 수",
}

// unwilling declines only after an apology: without one, "I cannot provide a
// closed form" is mathematics. It is matched anywhere in the sentence, because
// in many languages the verb comes last.
var unwilling = []string{
	"i can't help with", "i can't help you", "i cannot help with", "i cannot help you", "i can't assist", "i cannot assist",
	"i can't provide", "i cannot provide", "i can't answer", "i cannot answer", "i can't discuss", "i cannot discuss",
	"i can't generate", "i cannot generate", "i can't create", "i cannot create", "i can't write", "i cannot write",
	"i can't share", "i cannot share", "i can't do that", "i cannot do that", "i can't do this", "i cannot do this",
	"i can't complete", "i cannot complete", "i can't engage", "i cannot engage", "i can't continue", "i cannot continue",
	"i can't comply", "i cannot comply", "i can't fulfill", "i cannot fulfill", "i can't support", "i cannot support",
	"i'm unable to", "i am unable to", "i'm not able to", "i am not able to", "i won't", "i will not",
	"unable to help with that", "unable to assist with that", "can't help with that", "cannot help with that",
	"ich ihnen nicht", "ich dir nicht", "ich dabei nicht", "ich kann das nicht", "ich kann diese", "ich diese anfrage nicht",
	"ich nicht helfen", "ich kann dir", "ich kann ihnen",
	"je ne peux pas", "je ne suis pas en mesure", "je ne puis",
	"no puedo", "não posso", "não consigo", "non posso", "non sono in grado",
	"не могу", "я не в состоянии",
	"我无法", "我不能", "我無法", "无法协助", "无法提供", "无法回答", "無法提供", "無法回答",
	"お応えできません", "お答えできません", "お手伝いできません", "対応できません", "提供できません", "回答できません", "お手伝いすることはできません",
	"도와드릴 수 없", "답변할 수 없", "답변드릴 수 없", "제공할 수 없", "도움을 드릴 수 없",
}

// selfReferences speak of being a model.
var selfReferences = []string{
	"as an ai language model", "as an ai assistant", "as an ai model", "as an ai,", "as an ai i", "as an artificial intelligence,",
	"as an artificial intelligence language model", "as a large language model", "as a language model", "as an assistant,",
	"i am an ai", "i'm an ai", "i am just an ai", "i'm just an ai", "i am a large language model", "i'm a large language model",
	"my training data", "my knowledge cutoff", "my system prompt", "based on my training data", "according to my training data",
	"als ki-sprachmodell", "als ki-assistent", "als ki-modell", "als sprachmodell", "als ki,", "als ki kann ich", "als ki habe ich",
	"en tant que modèle de langage", "en tant qu'ia", "en tant qu'intelligence artificielle", "en tant qu'assistant",
	"como modelo de lenguaje", "como ia,", "como inteligencia artificial,", "como una ia", "como asistente de ia", "como un modelo de lenguaje",
	"como modelo de linguagem", "como um modelo de linguagem", "como uma ia", "como inteligência artificial,",
	"come modello linguistico", "come modello di linguaggio", "in quanto modello linguistico", "come ia,", "in quanto ia",
	"как языковая модель", "как ии,", "как искусственный интеллект,", "будучи языковой моделью", "я языковая модель",
	"作为一个人工智能", "作为人工智能,", "作为ai,", "作为一个ai", "作为一名ai", "作为语言模型", "作为一个语言模型", "作为ai语言模型", "作為一個ai", "我是一个ai", "我是ai",
	"aiとして", "aiアシスタントとして", "言語モデルとして", "大規模言語モデルとして", "私はai",
	"ai 언어 모델로서", "ai로서", "저는 ai", "인공지능으로서", "언어 모델로서",
}

// leaks are thoughts about the request that were not meant to be seen.
var leaks = []string{
	"the user wants me to", "the user is asking me to", "the user asked me to", "the user has asked me to", "the user would like me to",
	"okay, the user", "ok, the user", "okay, so the user", "the prompt asks me to", "i was asked to", "i have been asked to",
	"der nutzer möchte, dass ich", "l'utilisateur me demande", "el usuario me pide", "o usuário me pede", "l'utente mi chiede",
	"пользователь просит меня", "用户要求我", "用户让我", "用户希望我", "ユーザーは私に", "사용자가 나에게",
}

// openers are courtesies before the answer.
var openers = []string{
	"sure thing", "sure", "certainly", "of course", "absolutely", "definitely", "great question", "good question", "excellent question", "great", "okay", "ok",
	"gerne", "natürlich", "selbstverständlich", "klar", "gute frage",
	"bien sûr", "certainement", "avec plaisir", "bonne question",
	"¡claro", "claro", "¡por supuesto", "por supuesto", "¡desde luego", "desde luego", "con gusto", "¡buena pregunta",
	"com certeza", "claro que sim", "ótima pergunta",
	"certo", "certamente", "ecco", "volentieri", "ottima domanda",
	"конечно", "разумеется", "хороший вопрос", "отличный вопрос",
	"当然可以", "当然", "好的", "没问题", "當然", "好問題", "好问题",
	"もちろんです", "もちろん", "はい、もちろんです", "承知しました", "かしこまりました",
	"물론입니다", "물론이죠", "물론", "네, 물론", "좋은 질문입니다", "알겠습니다",
}

// presentations announce the answer after an opener.
var presentations = []string{
	"here is", "here's", "here are", "here you go", "below is", "let me", "i'd be happy", "i would be happy", "i'm happy to", "i can help",
	"hier ist", "hier sind", "hier kommt", "voici", "voilà", "aquí está", "aquí tienes", "aquí están", "aquí te", "aqui está", "aqui estão", "ecco",
	"вот", "以下是", "这是", "這是", "下面是", "以下は", "以下が", "こちらが", "다음은", "여기",
}

// introductions announce the answer without an opener.
var introductions = []string{
	"here is the json", "here's the json", "here is the requested", "here's the requested", "here is your", "here's your",
	"here is the output you", "here's the output you", "here is the answer to your", "here's the answer to your", "here you go",
	"i'd be happy to", "i would be happy to", "i'm happy to help", "i'll be glad to", "thank you for your question", "thanks for your question",
	"hier ist das json", "hier ist ihre", "hier ist deine", "ich helfe gerne", "ich helfe dir gerne", "ich helfe ihnen gerne",
	"voici le json", "voici votre", "je serais ravi", "je serai ravi", "aquí está el json", "aquí tienes", "estaré encantado", "aqui está o json",
	"ecco il json", "ecco la tua", "вот json", "вот ваш", "с удовольствием помогу", "以下是您要求", "以下是您请求", "以下是你要求",
	"ご質問ありがとうございます", "ご依頼の", "요청하신",
}

// closings offer more after the answer. They count only in the last sentence,
// so that a drafted letter with a signature may have them.
var closings = []string{
	"i hope this helps", "i hope that helps", "hope this helps", "hope that helps", "let me know if", "please let me know if", "feel free to ask", "feel free to let me know",
	"please feel free", "is there anything else", "would you like me to", "do you want me to", "if you have any other questions", "if you have any more questions",
	"if you have any further questions", "if you have any questions", "if you need any", "if you need further", "if you need more help", "if you'd like, i can", "if you want, i can",
	"i'm here to help", "happy to help",
	"ich hoffe, das hilft", "ich hoffe, dass", "ich hoffe, ich konnte", "lass mich wissen", "lassen sie mich wissen", "wenn du weitere fragen", "wenn sie weitere fragen", "falls du weitere fragen", "falls sie weitere fragen",
	"j'espère que cela", "j'espère que ça", "n'hésitez pas à", "n'hésite pas à", "souhaitez-vous que je", "si vous avez d'autres questions",
	"espero que esto", "espero que te", "espero haber", "no dudes en", "no dude en", "si tienes más preguntas", "si necesitas más", "¿te gustaría que", "avísame si",
	"espero que isso", "espero ter ajudado", "se precisar de mais", "se tiver mais", "fique à vontade", "gostaria que eu",
	"spero che questo", "spero di esserti", "fammi sapere se", "se hai altre domande", "se hai bisogno di",
	"надеюсь, это", "надеюсь, что это", "если у вас есть", "если у вас возникнут", "если у вас остались", "дайте знать, если", "обращайтесь, если",
	"希望这对你", "希望这对您", "希望这能", "希望对你", "希望对您", "希望對你", "希望對您", "如果你还有", "如果您还有", "如果您有任何", "如果你有任何", "如有任何", "请随时", "請隨時", "需要我",
	"お役に立てれば", "参考になれば", "ご不明な点が", "他にご質問が", "他に何か", "お気軽に", "何かご質問が",
	"도움이 되었", "도움이 되길", "도움이 되셨", "추가 질문이", "더 궁금한", "궁금한 점이", "언제든지",
}

// hedges are matched anywhere in a sentence.
var hedges = []string{
	"i'm not sure", "i am not sure", "i'm not certain", "i am not certain", "i'm not entirely sure", "i'm not completely sure", "i'm unsure", "i am unsure",
	"i'm not confident", "i am not confident", "i don't know", "i do not know", "i have no idea", "i'm guessing", "i am guessing", "i can only guess", "my best guess",
	"just a guess", "only a guess", "i could be wrong", "i might be wrong", "i may be wrong", "don't quote me", "i can't be certain", "i cannot be certain",
	"ich bin mir nicht sicher", "ich bin nicht sicher", "ich weiß es nicht", "ich weiß nicht", "nur geraten", "ich vermute nur", "ich rate nur",
	"je ne suis pas sûr", "je ne suis pas sûre", "je ne suis pas certain", "je ne sais pas", "je me trompe peut-être",
	"no estoy seguro", "no estoy segura", "no lo sé", "puedo estar equivocado", "no tengo idea",
	"não tenho certeza", "não sei", "posso estar errado", "non sono sicuro", "non sono sicura", "non lo so", "potrei sbagliarmi",
	"я не уверен", "я не уверена", "я не знаю", "не уверен, что", "могу ошибаться",
	"我不确定", "我不太确定", "我不确信", "我不知道", "我不確定", "只是猜测", "我可能错了",
	"自信がありません", "自信はありません", "確信が持てません", "確信はありません", "分かりませんが", "わかりませんが", "間違っているかもしれません",
	"확실하지 않", "확신할 수 없", "잘 모르겠", "틀릴 수 있", "추측일 뿐",
}

// corrections take back what was said.
var corrections = []string{
	"wait, no,", "wait no,", "no, wait,", "no wait,", "actually, no,", "actually no,", "oh wait, no,", "hold on, no,", "hmm, no,", "wait, that's wrong", "wait, that is wrong",
	"wait, that's not right", "wait, that is not right", "wait, that's incorrect", "wait, that can't be right", "hold on, that's not right", "hold on, that's wrong",
	"actually, that's wrong", "actually, that is wrong", "actually, that's not right", "actually, that's incorrect", "hmm, that's not right", "hmm, that's wrong",
	"no, that's wrong", "no, that's not right", "no, that is not right", "scratch that", "strike that", "on second thought",
	"i made a mistake", "i made an error", "i was wrong,", "i misspoke", "i miscalculated", "i need to correct myself", "let me correct myself", "let me correct that",
	"my previous answer was wrong", "my previous answer is wrong", "my earlier answer was wrong", "my first answer was wrong", "oops,", "correction: the answer",
	"moment, nein,", "nein, moment,", "nein, warte,", "warte, nein,", "halt, nein,", "halt, das stimmt nicht", "moment, das stimmt nicht", "nein, das stimmt nicht", "ich habe mich geirrt", "ich habe mich verrechnet", "ich habe einen fehler gemacht",
	"attendez, non,", "attends, non,", "non, attendez,", "non, attends,", "en fait, non,", "je me suis trompé", "je me suis trompée", "j'ai fait une erreur",
	"espera, no,", "no, espera,", "en realidad, no,", "me equivoqué", "me he equivocado", "cometí un error", "he cometido un error",
	"espere, não,", "espera, não,", "não, espere,", "não, espera,", "na verdade, não,", "eu errei", "cometi um erro",
	"aspetta, no,", "no, aspetta,", "anzi, no,", "in realtà, no,", "mi sono sbagliato", "mi sono sbagliata", "ho commesso un errore", "ho sbagliato",
	"подождите, нет,", "подожди, нет,", "нет, подождите,", "нет, подожди,", "стоп, нет,", "я ошибся", "я ошиблась", "я допустил ошибку", "я допустила ошибку",
	"不对,", "不,等等", "等等,不对", "等等,不", "等一下,不对", "我错了", "我算错了", "我之前的答案是错", "不對,", "等等,不對", "我錯了",
	"いや、違", "いえ、違", "待って、違", "いや、待って", "間違えました", "間違いました", "訂正します", "計算を間違え",
	"아니, 잠깐", "잠깐, 아니", "아니요, 잠깐", "제가 틀렸", "제가 실수", "실수했습니다", "정정합니다",
}

// thinking opens a sentence before a correction, a hedge or an answer.
var thinking = []string{
	"so", "well", "but", "and", "oh", "ah", "hmm", "hm", "then", "thus", "therefore", "hence", "ok", "okay", "sorry", "now", "finally", "in conclusion", "my",
	"also", "daher", "folglich", "hm", "donc", "alors", "ainsi", "entonces", "por lo tanto", "por tanto", "así que", "portanto", "então", "quindi", "dunque",
	"итак", "значит", "следовательно", "поэтому", "所以", "因此", "那么", "那麼", "したがって", "よって", "だから", "따라서", "그러므로", "그래서",
}

// finalAnswers introduce the answer; the value follows.
var finalAnswers = []string{
	"the final answer is", "the final answer", "final answer is", "final answer", "the correct answer is", "the answer is", "the answer", "answer",
	"die endgültige antwort ist", "die endgültige antwort lautet", "endgültige antwort", "die antwort ist", "die antwort lautet", "antwort",
	"la réponse finale est", "réponse finale", "la réponse est", "réponse",
	"la respuesta final es", "respuesta final", "la respuesta es", "respuesta", "a resposta final é", "resposta final", "a resposta é", "resposta",
	"la risposta finale è", "risposta finale", "la risposta è", "risposta",
	"окончательный ответ", "итоговый ответ", "правильный ответ", "ответ",
	"最终答案是", "最终答案为", "最终答案", "最終答案是", "最終答案", "答案是", "答案为", "答案",
	"最終的な答えは", "最終回答は", "最終回答", "答えは", "答え", "최종 답변은", "최종 답은", "최종 답변", "최종 답", "정답은", "정답", "답은",
}

// conditions make an answer one of several: "if x > 0, the answer is 3".
var conditions = []string{
	"if", "when", "for", "unless", "assuming", "suppose", "otherwise", "in case", "would be", "was", "might", "could",
	"wenn", "falls", "für", "si", "pour", "quand", "cuando", "para", "se", "per", "quando", "если", "при", "для", "如果", "若", "对于", "もし", "なら", "場合", "만약", "경우",
}

// parts number the pieces of an answer to several questions.
var parts = []string{
	"question", "problem", "part", "exercise", "case", "task", "puzzle", "item", "q", "example", "scenario", "step",
	"frage", "aufgabe", "teil", "fall", "beispiel", "exercice", "partie", "cas", "exemple", "pregunta", "ejercicio", "parte", "caso", "ejemplo", "questão", "exercício", "exemplo",
	"domanda", "esercizio", "esempio", "вопрос", "задача", "задание", "часть", "случай", "пример", "问题", "题目", "第", "例", "問題", "問", "문제", "질문",
}

// slotWords begin what stands between the brackets of a slot.
var slotWords = []string{
	"insert", "your", "enter your", "enter the", "fill in", "fill this in", "add your", "add the", "placeholder", "todo", "tbd", "to be determined", "to be filled", "to be completed", "to be added",
	"describe your", "provide your", "specify your", "specify the", "company name", "recipient name", "recipient's name", "name of", "phone number", "email address", "city, state",
	"hier einfügen", "einfügen", "ihr name", "ihre", "dein", "deine", "bitte einfügen", "name einfügen", "hier einsetzen",
	"insérer", "insérez", "votre", "à compléter", "compléter", "ton", "insertar", "inserte", "inserta", "tu nombre", "su nombre", "nombre de", "por completar", "completar",
	"inserir", "insira", "seu nome", "sua", "a preencher", "inserisci", "inserire", "il tuo", "il suo nome", "da completare",
	"вставьте", "вставить", "ваше", "ваша", "ваш", "укажите", "введите", "заполнить",
	"在此", "此处", "请填写", "请输入", "您的", "你的", "插入", "填写", "待补充", "待填", "請填寫", "您的姓名",
	"ここに", "あなたの", "入力してください", "記入", "お名前", "여기에", "귀하의", "이름을", "입력",
}

// unfilled is a line or a value that says nothing else.
var unfilled = []string{
	"todo", "tbd", "tba", "fixme", "xxx", "placeholder", "to be determined", "to be filled in", "to be completed", "to be added", "coming soon", "fill in later", "fill me in",
	"noch zu ergänzen", "wird ergänzt", "wird noch ergänzt", "folgt noch", "à compléter", "à déterminer", "à venir", "por determinar", "por completar", "pendiente de completar", "a definir", "a preencher", "da completare", "da definire",
	"будет добавлено", "будет дополнено", "заполнить позже", "待补充", "待填写", "待完善", "待補充", "後で記入", "未記入", "作成中", "추후 작성", "추후 추가", "작성 예정",
}

// fillers stand in for text wherever they occur.
var fillers = []string{
	"lorem ipsum", "your answer here", "your answer goes here", "your text here", "your text goes here", "your code here", "your code goes here", "insert your answer here", "insert text here",
	"answer goes here", "text goes here", "content goes here", "todo: fill in", "todo: insert", "todo: implement", "todo: complete this",
	"hier text einfügen", "hier ihren text", "insérez votre texte ici", "votre réponse ici", "inserte su texto aquí", "tu respuesta aquí", "su respuesta aquí", "sua resposta aqui", "la tua risposta qui",
	"ваш ответ здесь", "вставьте текст", "在此处填写", "在此填写", "此处填写", "在此处插入", "请在此处", "ここに回答を", "ここに入力", "ここにテキスト", "여기에 답변", "여기에 입력", "여기에 내용",
}
