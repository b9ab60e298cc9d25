package prompts

import "fmt"

// OutlineSystem tells an agent what a task of an outline is.
type OutlineSystem struct{}

// OutlineTask is one task as a person wrote it.
type OutlineTask struct {
	Task     string
	Headings []string // above it, the outermost first
	Context  string   // what the tasks before found out
	Attached []Attached
	AskTool  string // the tool that asks the person, if there is one
}

// Attached is something that a task refers to.
type Attached struct {
	Ref   string
	Label string
	Text  string // its content, if it is text
	Image int    // its number among the images that are shown, from 1, if it is one
	Type  string // what it is, otherwise
}

// OutlineData is what a task is given, on its own.
type OutlineData struct {
	Context  string
	Attached []Attached
}

// Prompt implements [Data].
func (OutlineData) Prompt() string { return "outline_data" }

// Split implements [Splitter].
func (d OutlineTask) Split() (shared, rest Data, err error) {
	shared, d.Context, d.Attached = OutlineData{d.Context, d.Attached}, "", nil
	return shared, d, nil
}

// Note says what an attachment is whose content is not text.
func (a Attached) Note() string {
	if a.Image > 0 {
		return fmt.Sprintf("an image, number %d of those shown", a.Image)
	}
	return "it is there: " + a.Type
}

// OutlineSummary asks for a summary of results.
type OutlineSummary struct {
	Text     string
	Must     []string // what has to be in it
	MaxWords int
}

// Prompt implements [Data].
func (OutlineSystem) Prompt() string { return "outline_system" }

// Prompt implements [Data].
func (OutlineTask) Prompt() string { return "outline_task" }

// Prompt implements [Data].
func (OutlineSummary) Prompt() string { return "outline_summary" }

var outlineSamples = []Data{
	OutlineSystem{},
	OutlineData{Context: "Results:\nTask 1: find the file\nnotes.txt", Attached: []Attached{{Ref: "notes.txt", Label: "notes.txt", Text: "a b c"}}},
	OutlineTask{
		Task: "Count the words in notes.txt.", Headings: []string{"Statistics"}, Context: "Results:\nTask 1: find the file\nnotes.txt",
		Attached: []Attached{{Ref: "notes.txt", Label: "notes.txt", Text: "a b c"}, {Ref: "p.png", Label: "picture", Image: 1}, {Ref: "a.zip", Label: "a.zip", Type: "application/zip"}},
		AskTool:  "AskUserQuestion",
	},
	OutlineSummary{Text: "Task 1: count\n3 words in notes.txt", Must: []string{"notes.txt"}, MaxWords: 100},
}
