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
// the budget: details go first, and then the summary, but for what it has of things that
// later tasks mention. Only then as many of the oldest results go as must; they are named,
// and summarised if there is room for it.
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
// The context takes at most the budget, and a request as well. A summary takes up to a
// quarter of it, and no more than results leave. A request leaves a quarter to details, so
// that a batch of them is summarised at a time: the work of a long run grows with its
// length, and what is kept does not.
//
// A Compactor is not safe for concurrent use.
type Compactor struct {
	budget  int
	now     int // the last task whose result was added
	last    int // the last task that is expected
	summary note
	notes   []note // verbatim, oldest first
	request *request

	partly   int              // the task of whose details some are summarised and some are not yet
	results  []int            // tasks whose results are not kept any more, in order
	gone     []int            // tasks of whose details nothing is left, not even in a summary, in order
	dropped  int              // tokens of the context before something of it was last left out
	quoted   map[int]string   // of those, the lines that a summary may have them in, whole all the same
	expected map[string][]int // the tasks that mention a key, in order
	named    map[string]bool  // keys of identifiers among them
}

// A note is a part of the context.
type note struct {
	kind        noteKind
	first, last int // tasks it is about
	text        string
	tokens      int
	goesOn      bool // with the text of the note before it
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
func (c *Compactor) Size() int { return EstimateTokens(c.Context()) }

// Summary is what the oldest results were summarised to, if they were.
func (c *Compactor) Summary() string { return c.summary.text }

// EstimateTokens is a third of a text's bytes. English prose has four to five bytes
// a token, code and numbers about three, and so have scripts whose characters
// take three bytes: it is seldom too little.
func EstimateTokens(text string) int { return tokensOf(len(text)) }

// tokensOf is the estimate for so many bytes.
func tokensOf(bytes int) int { return (bytes + 2) / 3 }

// NewCompactor returns a compactor for a budget of tokens.
func NewCompactor(budget int) (*Compactor, error) {
	if budget < MinBudget {
		return nil, fmt.Errorf("outline: the context budget is %d tokens, want at least %d", budget, MinBudget)
	}
	return &Compactor{budget: budget, quoted: map[int]string{}, expected: map[string][]int{}, named: map[string]bool{}}, nil
}

// titleTokens is more than the titles of a context have.
const titleTokens = 19

// How the budget is divided: see [Compactor].
func (c *Compactor) maxSummary() int   { return c.budget/4 - titleTokens }
func (c *Compactor) maxNote() int      { return c.budget / 4 }
func (c *Compactor) maxKept() int      { return c.budget / 4 }                            // of details, after a request
func (c *Compactor) maxDecisions() int { return c.budget / 8 }                            // word for word
func (c *Compactor) maxRequest() int   { return c.budget - c.maxSummary() - titleTokens } // beside a summary
func (c *Compactor) maxSize() int      { return c.budget - titleTokens }

// minSummary is how many tokens a summary needs to say anything. There is none if results
// leave less.
const minSummary = 50

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
	result, details = strings.TrimSpace(valid(result)), strings.TrimSpace(valid(details))
	switch n := (note{kind: resultNote, first: task, last: task, text: head + result + end}); {
	case result == "" && details == "":
		details = "(no result)"
	case result == "":
	case !c.fits(n):
		c.results = mergeTask(c.results, task)
		details = strings.TrimSpace(result + end + details)
	default:
		c.keep(n)
		head = detailsHead(task)
	}
	if details == "" {
		return
	}
	c.notes = append(c.notes, c.details(task, head, details)...)
}

// end is behind a note.
const end = "\n\n"

// details are the notes about the details of a task, none of which is too large for a
// request.
func (c *Compactor) details(task int, head, text string) []note {
	var out []note
	for i, part := range portions(text, 3*c.maxNote()-len(head)-len(end)) {
		n := note{first: task, last: task, text: head + part + end, goesOn: i > 0}
		n.tokens = EstimateTokens(n.text)
		out = append(out, n)
	}
	return out
}

// joined puts the parts of a text together again, so that no heading is in the middle of
// a sentence.
func joined(notes []note) []note {
	var out []note
	for _, n := range notes {
		if i := len(out) - 1; n.goesOn && i >= 0 && out[i].kind == detailNote && out[i].first == n.first {
			_, text, _ := strings.Cut(n.text, "\n")
			out[i].text = strings.TrimSuffix(out[i].text, end) + text
			continue
		}
		out = append(out, n)
	}
	return out
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
	for c.request == nil && (c.Size() > c.budget || c.partly > 0) {
		r := c.newRequest()
		if r.Text == "" {
			break // there is nothing to summarise
		}
		if c.request = r; r.MaxTokens < minSummary {
			c.drop() // results take all the room
		}
	}
	if c.request == nil {
		return nil
	}
	r := c.request.SummaryRequest
	r.Must = slices.Clone(r.Must)
	return &r
}

// drop leaves out what there is no room to summarise, and notes whose it was.
func (c *Compactor) drop() {
	c.dropped = max(c.dropped, c.Size())
	for i, n := range c.notes {
		if c.request.taken[i] && n.kind == detailNote {
			c.gone = mergeTask(c.gone, n.first)
		}
	}
	for task := c.summary.first; c.summary.text != "" && task <= c.summary.last; task++ {
		c.gone = mergeTask(c.gone, task)
	}
	c.replace("")
}

// Dropped is how many tokens the context had before something was left out of it for lack of
// room, 0 if nothing was since it was last asked.
func (c *Compactor) Dropped() int {
	before := c.dropped
	c.dropped = 0
	return before
}

// LeftOut names what is not in the context for lack of room, "" if nothing is.
func (c *Compactor) LeftOut() string { return strings.TrimSpace(leftOut(c.left(), c.gone)) }

func (c *Compactor) newRequest() *request {
	c.evict()
	r := &request{taken: c.oldest()}
	var text strings.Builder
	parts := []note{c.summary}
	rest := len(leftOut(c.results, nil)) // bytes: rounding each of many short notes up adds up
	for i, n := range c.notes {
		if !r.taken[i] {
			if n.kind != detailNote || n.first != c.partly { // which is next
				rest += len(n.text)
			}
			continue
		}
		parts = append(parts, n)
	}
	room := c.maxSize() - tokensOf(rest)
	r.MaxTokens = min(c.maxSummary(), room)
	if len(parts) == 1 { // the summary alone has to be shorter, and not soon again
		r.MaxTokens = min(room, max(minSummary, room/2))
	}
	for _, n := range joined(parts) {
		text.WriteString(n.text)
		if n.text == "" {
			continue
		}
		if r.first == 0 {
			r.first = n.first
		}
		r.last = max(r.last, n.last)
		r.lines = append(r.lines, c.extracts(n)...)
	}
	r.Text = strings.TrimSpace(text.String())
	c.sortNeeds(r)
	return r
}

// evict makes details of the oldest results, as many as do not fit beside decisions, what
// later tasks mention and a line that names them.
func (c *Compactor) evict() {
	limit := c.budget
	if needed := c.needed(); needed > 0 && c.least()+needed > limit {
		limit -= needed + c.maxKept() // room for details too, or every task would need a summary
	}
	for i := 0; i < len(c.notes) && c.least() > limit; i++ {
		n := c.notes[i]
		if n.kind != resultNote {
			continue
		}
		head, result, _ := strings.Cut(strings.TrimSuffix(n.text, end), "\n")
		c.results = mergeTask(c.results, n.first)
		c.quoted[n.first] = (&extract{text: result, task: n.first}).row()
		parts := c.details(n.first, head+"\n", result)
		c.notes = slices.Replace(c.notes, i, i+1, parts...)
		i += len(parts) - 1
	}
}

// needed is how many tokens a summary should have to say what later tasks mention, beside
// what results say of it: twice the sentences, because it has other things to say.
func (c *Compactor) needed() int {
	tokens, seen := 0, map[string]bool{}
	for _, n := range slices.Concat([]note{c.summary}, c.notes) {
		if n.kind != detailNote && n.kind != summaryNote {
			continue
		}
		for _, l := range c.extracts(n) {
			isNew := false
			for _, m := range l.marks {
				if key := m.key(); !seen[key] && c.nextNeed(key) > 0 {
					seen[key], isNew = true, true
				}
			}
			if isNew {
				tokens += 2 * EstimateTokens(l.row())
			}
		}
	}
	if tokens == 0 {
		return 0
	}
	return min(max(tokens, minSummary), c.maxSummary()) + titleTokens
}

// fits reports whether a result fits at all: if all others are only named.
func (c *Compactor) fits(result note) bool {
	alone := &Compactor{budget: c.budget, notes: []note{result}, results: slices.Clone(c.results)}
	for _, n := range c.notes {
		switch n.kind {
		case decisionNote:
			alone.notes = append(alone.notes, n)
		case resultNote:
			alone.results = mergeTask(alone.results, n.first)
		}
	}
	return alone.least() <= c.budget
}

// least is how many tokens the context has without details, a summary, and the decisions
// that are too many.
func (c *Compactor) least() int {
	decisions := 0
	for _, n := range c.notes {
		if n.kind == decisionNote {
			decisions += n.tokens
		}
	}
	return EstimateTokens(c.render(false)) - decisions + c.decisionLimit(decisions)
}

// decisionLimit is how many tokens of so many of decisions stay word for word.
func (c *Compactor) decisionLimit(tokens int) int {
	if tokens > c.maxDecisions() {
		return c.maxDecisions() / 2 // so that it does not happen again soon
	}
	return tokens
}

// oldest chooses the notes to summarise: the oldest details, until what is left is small,
// and decisions only if there are too many. It takes no more than fits into a request. None means that the summary has to be shorter.
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
	limits[decisionNote] = c.decisionLimit(sizes[decisionNote])
	room := c.maxSize() - limits[resultNote] - limits[decisionNote] - c.maxSummary() - EstimateTokens(leftOut(c.results, nil))
	limits[detailNote] = min(limits[detailNote], c.maxKept(), max(room, 0))
	if newest > limits[detailNote] && newest <= room {
		limits[detailNote] = newest
	}
	sum, begun := 0, c.partly // the task whose details are being taken
	c.partly = 0
	for i, n := range c.notes {
		whole := n.kind == detailNote && n.first == begun
		if sizes[n.kind] <= limits[n.kind] && !whole {
			continue
		}
		if sum += n.tokens; sum > c.maxRequest() {
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
