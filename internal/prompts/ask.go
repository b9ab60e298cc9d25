package prompts

// Ask is one question, with what is shown for it and how it is to be answered.
type Ask struct {
	Question    string
	Shown       []Attached
	Instruction string
}

// Prompt implements [Data].
func (Ask) Prompt() string { return "ask" }

var askSamples = []Data{
	Ask{
		Question: "Which of these is a bug report?", Instruction: "Answer with exactly one of these: yes, no.",
		Shown: []Attached{{Ref: "mail.txt", Label: "mail.txt", Text: "It crashes."}, {Ref: "screen.png", Label: "screen.png", Image: 1}},
	},
}
