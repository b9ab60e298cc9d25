package tasks

import (
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/internal/text/clip"
)

// Kind says what a task needs.
type Kind string

// The kinds.
const (
	Clarification Kind = "clarification" // an answer from the person
	ToolCall      Kind = "tool_call"     // a command or another tool
	Processing    Kind = "processing"    // a model
)

// A Task is one thing to do, as the person wrote it.
type Task struct {
	Text string
	Kind Kind

	// Command is what to execute, exactly as written, if running it is all that
	// the task asks for.
	Command string

	Attachments []Attachment

	// Context has the headings, lead-ins and parent items above the task, the
	// outermost first.
	Context []string

	// Line is where the task begins in the text, from 1.
	Line int

	// Done says that the text marks the task as done.
	Done bool
}

// New returns the task of a text below a context.
func New(text string, context ...string) Task {
	t := Task{Text: text, Context: context}
	t.classify()
	return t
}

// maxTitle is how many characters a title may have.
const maxTitle = 80

// Title is a task's text in one short line, for lists. It ends with the first
// paragraph; of code it leaves out the fence.
func Title(text string) string {
	text, _, _ = strings.Cut(text, "\n\n")
	lines := strings.Split(text, "\n")
	if _, n, closed := fenceAt(lines); n > 0 {
		if closed {
			n--
		}
		if code := strings.Trim(strings.Join(lines[1:n], "\n"), "\n"); code != "" {
			text = code
		}
	}
	return clip.Words(text, maxTitle)
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
