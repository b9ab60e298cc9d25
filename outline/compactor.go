package outline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/tasks"
)

// A Compactor keeps what the tasks of a run found out within a budget of tokens.
//
// Everything stays as it is while it fits. When it does not, the oldest details have to
// be summarised, together with the summary so far: [Compactor.Request] says so,
// and the answer goes to [Compactor.Accept], which takes it or says what is wrong
// with it. If no good summary is to be had, [Compactor.Fallback] makes one of the
// sentences that matter. Nothing is ever cut off blindly.
//
//	c.Add(task, title, result, details)
//	for r := c.Request(); r != nil; r = c.Request() {
//		... ask for a summary of r.Text, once or a few times ...
//		if err := c.Accept(summary); err != nil {
//			c.Fallback()
//		}
//	}
//
// # What is carried over
//
// The result of each task is kept whole, word for word, as long as all of them fit into
// the context beside a short summary: details go first. Only then the oldest results
// become part of a summary, which says which tasks it is about; they are named.
// What the last task found out is never cut in the middle: it is there as a whole, or
// summarised as a whole.
//
// Names, numbers, paths and addresses that a later task mentions must be in
// the summary; one without them is rejected. So is one with an address or a path
// that is not in the text, and one that is not about the text. Which tasks come later is
// told by [Compactor.Expect]. If they mention more than a summary can hold, it has to have
// what is needed first. What people decided stays as it is as long as there is room.
//
// # Size
//
// The context takes at most three quarters of the budget, and a request as well: what
// a token is depends on the model. A summary takes up to a quarter, and results the
// rest. A request leaves a quarter for new results, so that a batch of them is
// summarised at a time: the work of a long run grows with its length, and what is kept
// does not.
//
// A Compactor is not safe for concurrent use.
type Compactor struct {
	budget  int
	now     int // the last task whose result was added
	last    int // the last task that is expected
	summary note
	notes   []note // verbatim, oldest first
	size    int    // tokens of all
	request *request

	partly   int              // the task of whose details some are summarised and some are not yet
	results  []int            // tasks whose results are not whole any more, in order
	expected map[string][]int // the tasks that mention a key, in order
	named    map[string]bool  // keys of identifiers among them
}

// A note is a part of the context.
type note struct {
	kind        noteKind
	first, last int // tasks it is about
	text        string
	tokens      int
}

type noteKind byte

const (
	detailNote noteKind = iota
	resultNote
	decisionNote
	summaryNote
)

// MinBudget is the least budget that a [Compactor] can work with.
const MinBudget = 400

// Size is how many tokens the context has, about.
func (c *Compactor) Size() int { return c.size }

// Summary is what the oldest results were summarised to, if they were.
func (c *Compactor) Summary() string { return c.summary.text }

// EstimateTokens is a third of a text's bytes. English prose has four to five bytes
// a token, code and numbers about three, and so have scripts whose characters
// take three bytes: it is seldom too little.
func EstimateTokens(text string) int { return (len(text) + 2) / 3 }

// NewCompactor returns a compactor for a budget of tokens.
func NewCompactor(budget int) (*Compactor, error) {
	if budget < MinBudget {
		return nil, fmt.Errorf("outline: the context budget is %d tokens, want at least %d", budget, MinBudget)
	}
	return &Compactor{budget: budget, expected: map[string][]int{}, named: map[string]bool{}}, nil
}

// titleTokens is more than the titles of a context have.
const titleTokens = 19

// How the budget is divided: see [Compactor].
func (c *Compactor) maxSummary() int   { return c.budget/4 - titleTokens }
func (c *Compactor) maxNote() int      { return c.budget / 4 }
func (c *Compactor) maxKept() int      { return c.budget / 4 } // of results, after a request
func (c *Compactor) maxDecisions() int { return c.budget / 8 } // word for word
func (c *Compactor) maxSize() int      { return c.budget/4*3 - titleTokens }

// maxResults is what results may take, beside so many tokens of decisions and a short
// summary, before the oldest of them are summarised, and keptResults what they take then.
func (c *Compactor) maxResults(decisions int) int {
	return c.maxSize() - decisions - c.minSummary() - leftOutTokens
}
func (c *Compactor) keptResults() int { return c.budget / 4 }

// minSummary is how long a summary may be when results take all the room there is.
func (c *Compactor) minSummary() int { return c.maxSummary() / 2 }

// leftOutTokens is more than the title of a summary and a line about what was left out
// take.
const leftOutTokens = 60

// Expect says that a task that is still to come has this text. It is called for
// every task at the start.
func (c *Compactor) Expect(task int, text string) {
	c.last = max(c.last, task)
	for word, kind := range tasks.Words(text) {
		key := strings.ToLower(word)
		c.expect(key, task)
		if kind != "" {
			c.named[key] = true
		}
	}
}

func (c *Compactor) expect(key string, task int) {
	tasks := c.expected[key]
	if i, ok := slices.BinarySearch(tasks, task); !ok {
		c.expected[key] = slices.Insert(tasks, i, task)
	}
}

// nextNeed is the next task after now that mentions a key, or 0.
func (c *Compactor) nextNeed(key string) int {
	tasks := c.expected[key]
	if i, _ := slices.BinarySearch(tasks, c.now+1); i < len(tasks) {
		return tasks[i]
	}
	return 0
}

// Add takes in what a task found out: its result, which is kept whole, and details.
// Either may be empty.
func (c *Compactor) Add(task int, title, result, details string) {
	c.now = max(c.now, task)
	head := fmt.Sprintf("Task %d: %s\n", task, clip.Words(valid(title), maxName))
	if EstimateTokens(head) > c.maxNote()/2 {
		head = fmt.Sprintf("Task %d:\n", task)
	}
	const end = "\n\n"
	result, details = strings.TrimSpace(valid(result)), strings.TrimSpace(valid(details))
	switch text := head + result + end; {
	case result == "" && details == "":
		details = "(no result)"
	case result == "":
	case EstimateTokens(text) > c.maxResults(c.maxDecisions()):
		c.size -= EstimateTokens(c.leftOut())
		c.results = mergeTask(c.results, task) // it does not fit at all
		c.size += EstimateTokens(c.leftOut())
		details = strings.TrimSpace(result + end + details)
	default:
		c.keep(note{kind: resultNote, first: task, last: task, text: text})
		head = detailsHead(task)
	}
	if details == "" {
		return
	}
	for _, part := range portions(details, 3*c.maxNote()-len(head)-len(end)) {
		c.keep(note{first: task, last: task, text: head + part + end})
	}
}

// maxQuestion is how many characters of a question are shown with its answer.
const maxQuestion = 120

// Decided takes in what a person decided for a task.
func (c *Compactor) Decided(task int, a Answer) {
	text := fmt.Sprintf("- Task %d: %s Decided by %s: %s\n", task, clip.Words(valid(a.Question), maxQuestion), clip.Words(valid(a.By), maxName), strings.TrimSpace(valid(a.Answer)))
	if EstimateTokens(text) > c.maxDecisions()/2 {
		c.Add(task, "a decision", "", text)
		return
	}
	c.keep(note{kind: decisionNote, first: task, last: task, text: text})
}

func (c *Compactor) keep(n note) {
	n.tokens = EstimateTokens(n.text)
	c.notes = append(c.notes, n)
	c.size += n.tokens
}

// portions splits a text into parts of so many bytes, at the ends of lines, at spaces,
// or in a word if there is no other way. Nothing is lost.
func portions(text string, room int) []string {
	var out []string
	for len(text) > room {
		end := runeStart(text, room)
		if i := strings.LastIndexByte(text[:end], '\n'); i > 0 {
			end = i + 1
		} else if i := strings.LastIndexByte(text[:end], ' '); i > 0 {
			end = i + 1
		}
		out = append(out, text[:end])
		text = text[end:]
	}
	return append(out, text)
}

// runeStart is the last place up to i where a character begins, but for the first.
func runeStart(s string, i int) int {
	_, first := utf8.DecodeRuneInString(s)
	for i > first && !utf8.RuneStart(s[i]) {
		i--
	}
	return max(i, first)
}

// A SummaryRequest says what has to be summarised.
type SummaryRequest struct {
	// Text is the summary so far, if there is one, and the oldest results.
	Text string `json:"text"`

	// Must is what the summary has to have. What is needed first comes first.
	Must []Needed `json:"must,omitempty"`

	// MaxTokens is how long the summary may be.
	MaxTokens int `json:"max_tokens"`
}

// Needed is an identifier that a later task mentions.
type Needed struct {
	Text  string `json:"text"`            // as written
	Exact bool   `json:"exact,omitempty"` // its case matters
}

func (n Needed) key() string { return strings.ToLower(n.Text) }

// request is what a summary is asked for and about.
type request struct {
	SummaryRequest
	first, last int    // tasks
	taken       []bool // which notes
	lines       []extract
}

// Request says what has to be summarised before the context fits its budget
// again, or nil. It stays the same until a summary is accepted.
func (c *Compactor) Request() *SummaryRequest {
	for c.request == nil && (c.size > c.maxSize() || c.partly > 0) {
		r := c.newRequest()
		if r.Text == "" {
			break // there is nothing to summarise
		}
		c.request = r
	}
	if c.request == nil {
		return nil
	}
	r := c.request.SummaryRequest
	r.Must = slices.Clone(r.Must)
	return &r
}

func (c *Compactor) newRequest() *request {
	r := &request{taken: c.oldest()}
	var text strings.Builder
	parts := []note{c.summary}
	text.WriteString(c.summary.text)
	rest := leftOutTokens
	for i, n := range c.notes {
		if !r.taken[i] {
			if n.kind != detailNote || n.first != c.partly { // which is next
				rest += n.tokens
			}
			continue
		}
		parts = append(parts, n)
		text.WriteString(n.text)
	}
	r.Text = strings.TrimSpace(text.String())
	r.MaxTokens = max(c.minSummary(), min(c.maxSummary(), c.maxSize()-rest))
	if len(parts) == 1 { // the summary alone has to be shorter, and not soon again
		r.MaxTokens = c.minSummary()
	}
	for _, n := range parts {
		if n.text == "" {
			continue
		}
		if r.first == 0 {
			r.first = n.first
		}
		r.last = max(r.last, n.last)
		r.lines = append(r.lines, c.extracts(n)...)
	}
	c.sortNeeds(r)
	return r
}

// oldest chooses the notes to summarise: the oldest details, until what is left is small;
// results only if they alone do not fit, and decisions only if there are too many. It
// takes no more than fits into a request. None means that the summary has to be shorter.
func (c *Compactor) oldest() []bool {
	taken := make([]bool, len(c.notes))
	var sizes [summaryNote]int
	newest := 0 // tokens of the details of the last task
	for _, n := range c.notes {
		if sizes[n.kind] += n.tokens; n.kind == detailNote && n.first == c.now {
			newest += n.tokens
		}
	}
	limits := sizes
	if limits[decisionNote] > c.maxDecisions() {
		limits[decisionNote] = c.maxDecisions() / 2 // so that it does not happen again soon
	}
	if limits[resultNote] > c.maxResults(limits[decisionNote]) {
		limits[resultNote] = c.keptResults()
	}
	room := c.maxSize() - limits[resultNote] - limits[decisionNote] - c.maxSummary()
	limits[detailNote] = min(limits[detailNote], c.maxKept(), max(room, 0))
	if newest > limits[detailNote] && newest <= room {
		limits[detailNote] = newest
	}
	sum, begun := 0, c.partly // the task whose details are being taken
	c.partly = 0
	for i, n := range c.notes {
		whole := n.kind == detailNote && n.first == begun
		if sizes[n.kind] <= limits[n.kind] && !whole || n.kind == resultNote && n.first == c.now {
			continue
		}
		if sum += n.tokens; sum > c.maxSize() {
			if whole {
				c.partly = n.first // the next request goes on with it
			}
			break
		}
		sizes[n.kind] -= n.tokens
		if taken[i] = true; n.kind == detailNote {
			begun = n.first
		}
	}
	return taken
}

// maxMust is how many identifiers can be asked of one summary.
const maxMust = 100

// sortNeeds finds which identifiers the summary must carry: those that later tasks
// mention, the ones needed first before others, up to [maxMust] and half of the
// summary's room.
func (c *Compactor) sortNeeds(r *request) {
	type need struct {
		Needed
		task int
	}
	var needs []need
	seen := map[string]bool{}
	for _, l := range r.lines {
		for _, m := range l.marks {
			if seen[m.key()] {
				continue
			}
			seen[m.key()] = true
			if task := c.nextNeed(m.key()); task > 0 {
				needs = append(needs, need{m, task})
			}
		}
	}
	slices.SortStableFunc(needs, func(a, b need) int { return cmp.Compare(a.task, b.task) })
	room := r.MaxTokens / 2
	for _, n := range needs {
		if room -= EstimateTokens(n.Text + ", "); room < 0 || len(r.Must) == maxMust {
			break
		}
		r.Must = append(r.Must, n.Needed)
	}
}
