package report

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
)

// Tree is how a problem was solved, as the log of the run has it.
type Tree struct {
	Nodes      []*treeNode // the problem, then what was found missing
	Checks     []event.CompletenessChecked
	Questions  []*treeVote // about the whole: checks and corrections of the answer
	Calibrated *event.Calibrated

	byPath  map[string]*treeNode
	votes   map[string]*treeVote // by question, being counted
	decided map[string]*treeVote // by question
}

// treeNode is a problem.
type treeNode struct {
	Path    string
	Problem string

	Split  string // how it was decided whether to split it
	Atomic bool
	How    string // to make the solution from those of the parts

	Solution   string
	Work       string
	Confidence float64
	By         string // who settled the solution
	From       string // the same problem elsewhere
	Solved     bool

	Votes       []*treeVote
	Escalations []event.Escalated
	Parts       []*treeNode
}

// treeVote is one question.
type treeVote struct {
	What    string // without the path of the node
	Status  string // "" if it was not decided before the run ended
	Reason  string
	Voting  event.Voting
	Changed []string // what of it would now be asked differently
	Samples []treeSample

	stale bool // a session that did not decide it has ended
}

// treeSample is one vote or red flag.
type treeSample struct {
	Model  string
	Vote   string // key; "" for a red flag
	Flag   string
	Reason string
	Text   string
	number int
}

func newTree() *Tree {
	return &Tree{byPath: map[string]*treeNode{}, votes: map[string]*treeVote{}, decided: map[string]*treeVote{}}
}

// ReadTree reads the events of a run.
func ReadTree(run *runs.Run) (*Tree, error) {
	t := newTree()
	for rec, err := range run.Events(0) {
		if err != nil {
			return nil, err
		}
		if rec.Event, err = event.WithValues(rec.Event, run.Load); err != nil {
			return nil, err
		}
		t.learn(rec.Event)
	}
	return t, nil
}

func (t *Tree) learn(e event.Event) {
	switch e := e.(type) {
	case event.TaskSubmitted:
		t.node("0").Problem = e.Task
	case event.SampleCompleted:
		t.sample(e.Question, treeSample{Model: e.Model, Vote: e.Vote, Text: e.Text.Text(), number: e.Sample.Sample})
	case event.SampleRedFlagged:
		t.sample(e.Question, treeSample{Model: e.Model, Flag: e.Flag, Reason: e.Reason, Text: e.Text.Text(), number: e.Sample.Sample})
	case event.VoteCompleted:
		if v := t.vote(e.Question); v != nil {
			v.Status, v.Reason, v.Voting = e.Status, e.Reason, e.Voting
			t.decided[e.Question] = v
		}
		delete(t.votes, e.Question) // asked again, it is another vote
	case event.RunResumed:
		for _, v := range t.votes {
			v.stale = true
		}
	case event.VoteResumed:
		if v := t.votes[e.Question]; v != nil {
			v.stale = false
			v.Samples = slices.DeleteFunc(v.Samples, func(s treeSample) bool { return !slices.Contains(e.Samples, s.number) })
		}
	case event.QuestionChanged:
		if v := t.decided[e.Question]; v != nil {
			v.Changed = e.Changed
		}
	case event.DecompositionSelected:
		n := t.node(e.Path)
		n.Problem, n.Atomic, n.How = e.Problem.Text(), e.Atomic, text(e.Compose)
		n.Split = e.By
		if e.Reason != "" {
			n.Split += ": " + e.Reason
		}
		if !e.Atomic {
			t.node(e.Path + ".0").Problem = text(e.PartA)
			t.node(e.Path + ".1").Problem = text(e.PartB)
		}
	case event.SubproblemSolved:
		n := t.node(e.Path)
		n.Problem, n.Solution, n.Work = e.Problem.Text(), e.Solution.Text(), text(e.Work)
		n.Confidence, n.By, n.From, n.Solved = e.Confidence, e.By, e.From, true
	case event.AnswerComposed:
		n := t.node(e.Path)
		n.Solution, n.Confidence, n.By, n.Solved = e.Answer.Text(), e.Confidence, e.By, !e.Draft
		if full, ok := runs.ReadAnswer(e.Answer); ok {
			n.Solution, n.Work = full.Answer, full.Support.Summary
		}
	case event.CompletenessChecked:
		t.Checks = append(t.Checks, e)
	case event.Escalated:
		n := t.node(e.Path)
		n.Escalations = append(n.Escalations, e)
	case event.Calibrated:
		t.Calibrated = &e
	}
}

// text is what a value holds, if it holds something.
func text(v event.Value) string {
	if v.IsZero() {
		return ""
	}
	return v.Text()
}

// node returns the node at a path, which may be new: parts come after the whole.
func (t *Tree) node(path string) *treeNode {
	if n, ok := t.byPath[path]; ok {
		return n
	}
	n := &treeNode{Path: path}
	t.byPath[path] = n
	dot := strings.LastIndexByte(path, '.')
	parent, ok := (*treeNode)(nil), false
	if dot >= 0 {
		parent, ok = t.byPath[path[:dot]]
	}
	if ok {
		parent.Parts = append(parent.Parts, n)
	} else {
		t.Nodes = append(t.Nodes, n)
	}
	return n
}

// branches is what the runtime puts before the keys of questions that are asked at
// the same time.
var branches = regexp.MustCompile(`^(round/\d+/\d+/|(\d+\.\d+/)+)`) // the latter in logs of early releases

// questionOf says what a question is about: the path of a node, which is empty if it
// is about the whole, and what is asked. It is false if the question is none of
// solving.
func questionOf(key string) (path, what string, ok bool) {
	rest, ok := strings.CutPrefix(branches.ReplaceAllString(key, ""), "solve/")
	if !ok {
		return "", "", false
	}
	switch first, more, _ := strings.Cut(rest, "/"); first {
	case "direct":
		return "0", "direct", true
	case "check", "fill":
		return "", strings.ReplaceAll(rest, "/", " "), true
	default:
		return first, strings.ReplaceAll(more, "/", " "), true
	}
}

// vote returns the question that is being counted, or nil if it is none of solving.
func (t *Tree) vote(question string) *treeVote {
	if v, ok := t.votes[question]; ok && !v.stale {
		return v // a stale one begins anew, unless it was said to go on
	}
	path, what, ok := questionOf(question)
	if !ok {
		return nil
	}
	v := &treeVote{What: what}
	t.votes[question] = v
	if path == "" {
		t.Questions = append(t.Questions, v)
	} else {
		n := t.node(path)
		n.Votes = append(n.Votes, v)
	}
	return v
}

func (t *Tree) sample(question string, s treeSample) {
	v := t.vote(question)
	if v == nil {
		return
	}
	v.Samples = append(v.Samples, s)
}

// Write shows the tree to people.
func (t *Tree) Write(w io.Writer) {
	for i, n := range t.Nodes {
		if i == 1 {
			fmt.Fprintln(w, "\nfound missing:")
		}
		n.write(w, "", "", "")
	}
	if len(t.Questions) > 0 {
		fmt.Fprintln(w)
	}
	for _, v := range t.Questions {
		fmt.Fprintf(w, "%s\n", v)
	}
	for _, c := range t.Checks {
		if !c.Complete {
			fmt.Fprintf(w, "round %d: missing %s\n", c.Round, show.Line(strings.Join(c.Missing, "; ")))
		}
	}
}

// write shows a node and those below it. The first line begins with branch, what is
// said about the node with margin, and so do its parts.
func (n *treeNode) write(w io.Writer, margin, branch, below string) {
	fmt.Fprintf(w, "%s%s%s  %s\n", margin, branch, n.Path, Short(n.Problem))
	margin += below
	inner := margin + "   "
	if len(n.Parts) > 0 {
		inner = margin + "│  "
	}
	var votes []string
	for _, v := range n.Votes {
		votes = append(votes, v.String())
	}
	if len(votes) > 0 {
		fmt.Fprintf(w, "%s%s\n", inner, strings.Join(votes, "; "))
	}
	for _, e := range n.Escalations {
		fmt.Fprintf(w, "%sthen %s: %s\n", inner, e.To, Short(e.Reason))
	}
	if n.Split != "" && n.Split != event.ByVote {
		kind := "split"
		if n.Atomic {
			kind = "atomic"
		}
		fmt.Fprintf(w, "%s%s by %s\n", inner, kind, Short(n.Split))
	}
	switch {
	case n.From != "":
		fmt.Fprintf(w, "%s= %s  (as %s)\n", inner, Short(n.Solution), n.From)
	case n.Solved && n.By != event.ByVote:
		fmt.Fprintf(w, "%s= %s  (by %s)\n", inner, Short(n.Solution), n.By)
	case n.Solved:
		fmt.Fprintf(w, "%s= %s\n", inner, Short(n.Solution))
	case n.Solution != "":
		fmt.Fprintf(w, "%sdraft: %s\n", inner, Short(n.Solution))
	default:
		fmt.Fprintf(w, "%snot solved\n", inner)
	}
	for i, p := range n.Parts {
		if i == len(n.Parts)-1 {
			p.write(w, margin, "└─ ", "   ")
		} else {
			p.write(w, margin, "├─ ", "│  ")
		}
	}
}

// String is a vote in a few words.
func (v *treeVote) String() string {
	votes := v.Voting.Split()
	if votes == "" {
		votes = "no votes"
	}
	out := fmt.Sprintf("%s %s", v.What, votes)
	if v.Voting.RedFlagged > 0 {
		out += fmt.Sprintf(" (%d flagged)", v.Voting.RedFlagged)
	}
	switch v.Status {
	case string(flow.Decided):
	case "":
		out += " unfinished"
	default:
		out += " " + strings.ReplaceAll(v.Status, "_", " ")
	}
	if len(v.Changed) > 0 {
		out += fmt.Sprintf(" (%s)", AskedDifferently(v.Changed))
	}
	return out
}

// Short is a text on one line that is not too long for a terminal.
func Short(s string) string {
	return clip.Text(strings.Join(strings.Fields(show.Line(s)), " "), 100)
}
