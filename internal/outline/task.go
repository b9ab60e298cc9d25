package outline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind says what a task needs.
type Kind string

// The kinds.
const (
	Clarification Kind = "clarification" // an answer from the person
	ToolCall      Kind = "tool_call"     // a command or another tool
	Processing    Kind = "processing"    // a model
)

func (k Kind) known() bool { return k == Clarification || k == ToolCall || k == Processing }

// A Task is one thing to do, as the person wrote it.
type Task struct {
	ID   int    `json:"id"` // counts from 1
	Text string `json:"text"`
	Kind Kind   `json:"kind"`

	// Command is what to execute, exactly as written, if running it is all that
	// the task asks for.
	Command string `json:"command,omitempty"`

	Attachments []Attachment `json:"attachments,omitempty"`

	// Context has the headings, lead-ins and parent items above the task, the
	// outermost first.
	Context []string `json:"context,omitempty"`

	// Line is where the task begins in the text, from 1.
	Line int `json:"line,omitempty"`

	// Done says that the text marks the task as done.
	Done bool `json:"done,omitempty"`
}

// maxTitle is how many characters a title may have.
const maxTitle = 80

// Title is the task in one short line, for lists. It leaves out the answers that
// were merged into the text.
func (t *Task) Title() string {
	text, _, _ := strings.Cut(t.Text, "\n\n")
	if fence, _ := fenceOf(text[:lineEnd(text)]); fence != "" {
		if code := strings.Trim(strings.TrimRight(text[lineEnd(text):], fence[:1]+"\n"), "\n"); code != "" {
			text = code
		}
	}
	return oneLine(text, maxTitle)
}

func lineEnd(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i
	}
	return len(text)
}

// oneLine puts a text on one line of at most limit characters. It ends at a word,
// with an ellipsis, if it has to be shortened.
func oneLine(text string, limit int) string {
	var b strings.Builder
	count, lastWord := 0, 0
	space := false
	for _, r := range text {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			space = b.Len() > 0
			continue
		}
		if space {
			lastWord = b.Len()
			b.WriteByte(' ')
			count++
			space = false
		}
		if count >= limit {
			short := b.String()
			if lastWord > len(short)/2 {
				short = short[:lastWord]
			}
			return strings.TrimRight(short, " ,;:") + "…"
		}
		b.WriteRune(r)
		count++
	}
	return b.String()
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}
