package prompts

// Ask is one question, with what is shown for it and how it is to be answered.
type Ask struct {
	Question string
	Shown    []Attached

	// Instructions say how to answer, in one way or in several that mean the same, such
	// as options in another order: framings take turns with them.
	Instructions []string
}

// Instruction is the one for a framing, from 1, or the first.
func (a Ask) Instruction(framing ...int) string {
	if len(framing) == 0 || framing[0] < 1 {
		return a.Instructions[0]
	}
	return a.Instructions[(framing[0]-1)%len(a.Instructions)]
}

// Prompt implements [Data].
func (Ask) Prompt() string { return "ask" }

// Split implements [Splitter].
func (a Ask) Split() (shared, rest Data, err error) {
	shared, a.Shown = OutlineData{Attached: a.Shown}, nil
	return shared, a, nil
}

// SameMeaning asks whether two answers say the same.
type SameMeaning struct{ First, Second, Instruction string }

// Prompt implements [Data].
func (SameMeaning) Prompt() string { return "same_meaning" }

// ChooseAnswer asks which of several answers is best.
type ChooseAnswer struct {
	Asked       string
	Answers     []NamedAnswer
	Instruction string
}

// A NamedAnswer is one of them.
type NamedAnswer struct{ Name, Text string }

// Prompt implements [Data].
func (ChooseAnswer) Prompt() string { return "choose_answer" }

var askSamples = []Data{
	ChooseAnswer{
		Asked: "When does it end?", Answers: []NamedAnswer{{"a", "At noon."}, {"b", "It ends at one."}},
		Instruction: "Answer with exactly one of these: a, b.",
	},
	SameMeaning{First: "It is late.", Second: "It came too late.", Instruction: "Answer with exactly one of these: same, different."},
	Ask{
		Question: "Which of these is a bug report?", Instructions: []string{"Answer with exactly one of these: yes, no."},
		Shown: []Attached{{Ref: "mail.txt", Label: "mail.txt", Text: "It crashes."}, {Ref: "screen.png", Label: "screen.png", Image: 1}},
	},
}
