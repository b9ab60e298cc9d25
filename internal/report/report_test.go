package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/vote"
)

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 999_999: "999,999", 1_048_575: "1,048,575",
		-1: "-1", -999: "-999", -1000: "-1,000", -123_456: "-123,456", -1_234_567: "-1,234,567",
	} {
		if got := Thousands(n); got != want {
			t.Errorf("Thousands(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestDescribeTask(t *testing.T) {
	titles := map[int]string{}
	for _, test := range []struct {
		e    event.Event
		want string
	}{
		{event.StepStarted{Step: 0, Title: "Look."}, "task 1   Look. …"},
		{event.StepCompleted{Step: 0, Title: "Look.", Voting: event.Voting{Samples: 3, Votes: map[string]int{"a": 3}}}, "task 1   Look.: done, votes 3"},
		{event.StepFailed{Step: 0, Reason: "why"}, "task 1   Look.: FAILED: why"},
		{event.StepStarted{Step: 1999, Title: "step 1999 Look."}, "task 2000 step 1999 Look. …"},
		{event.ContextCompacted{Step: 3, Before: 10, After: 5}, "         context compacted from 10 to 5 tokens"},
	} {
		if got := Describe(event.FormTasks, test.e, titles); got != test.want {
			t.Errorf("Describe(do, %+v) = %q, want %q", test.e, got, test.want)
		}
	}
}

func TestQuestionOf(t *testing.T) {
	tests := []struct {
		key, path, what string
		ok              bool
	}{
		{"solve/direct", "0", "direct", true},
		{"solve/0/compose", "0", "compose", true},
		{"1.0/solve/0/decompose", "0", "decompose", true},
		{"3.1/solve/0.1.0/decompose/diversity/pick", "0.1.0", "decompose diversity pick", true},
		{"12.7/solve/f0.2/solve", "f0.2", "solve", true},
		{"solve/check/1", "", "check 1", true},
		{"solve/fill/0/correct", "", "fill 0 correct", true},
		{"1.24/calibrate/4/4", "", "", false},
		{"", "", "", false},
	}
	for _, test := range tests {
		path, what, ok := questionOf(test.key)
		if path != test.path || what != test.what || ok != test.ok {
			t.Errorf("questionOf(%q) = %q, %q, %v, want %q, %q, %v", test.key, path, what, ok, test.path, test.what, test.ok)
		}
	}
}

// logOf writes a log with the given events and opens the run.
func logOf(t testing.TB, events ...event.Event) *runs.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "solve-1")
	log, err := runlog.Create(dir, "solve-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := log.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	run, err := runs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// story are the events of a run that solves a problem in two parts, with every text
// that others write made by say.
func story(say func(string) string) []event.Event {
	text := func(s string) event.Value { return event.TextValue(say(s)) }
	sample := func(question string, step int) event.Sample {
		return event.Sample{Question: question, Step: step, Model: say("model")}
	}
	votes := func(n ...int) event.Voting {
		v := event.Voting{Strategy: vote.FirstToK, Votes: map[string]int{}}
		for i, n := range n {
			v.Votes[say(fmt.Sprint("key", i))] = n
			v.Samples += n
		}
		return v
	}
	flagged := votes(2)
	flagged.RedFlagged = 1
	return []event.Event{
		event.TaskSubmitted{Format: event.Format, Kind: "solve", Task: say("whole"), Config: []byte(`{"model":"sim/default","batch_size":4}`)},
		event.Calibrated{Basis: "known", P: 0.9, PLow: 0.8, PHigh: 0.95, V: 1, K: 2, MaxK: 5, Reason: say("reason")},
		event.SampleCompleted{Sample: sample("solve/direct", 0), Vote: say("key0"), Text: text("answer")},
		event.SampleRedFlagged{Sample: sample("solve/direct", 0), Flag: "empty", Reason: say("nothing"), Text: text("")},
		event.VoteCompleted{Question: "solve/direct", Status: "undecided", Reason: say("no answer won"), Voting: votes(1, 1, 1)},
		event.AnswerComposed{Path: "0", Answer: event.JSONValue([]byte(`{"answer":"guess","status":"draft","confidence":0.3}`)), Draft: true, By: event.ByVote},
		event.Escalated{Path: "0", Question: "solve/direct", To: "split", Reason: say("no answer won")},
		event.VoteCompleted{Question: "1.0/solve/0/decompose", Status: "decided", Voting: votes(2, 1)},
		event.DecompositionSelected{Path: "0", Problem: text("whole"), PartA: text("left"), PartB: text("right"), Compose: text("join"), By: event.ByVote},
		event.StepCompleted{Step: 0, Title: "decompose 0", Voting: votes(2, 1)},
		event.DecompositionSelected{Path: "0.0", Step: 1, Problem: text("left"), Atomic: true, By: event.ByDefault, Reason: say("nobody agrees")},
		event.VoteCompleted{Question: "3.0/solve/0.0/solve", Step: 2, Status: "decided", Voting: flagged},
		event.SubproblemSolved{Path: "0.0", Step: 2, Problem: text("left"), Solution: text("L"), Work: text("work"), By: event.ByVote, Confidence: 0.9},
		event.SubproblemSolved{Path: "0.1", Step: 2, Problem: text("right"), Solution: text("L"), By: event.ByMemo, From: "0.0"},
		event.StepCompleted{Step: 1, Title: "solve 0.0", Voting: flagged},
		event.CompletenessChecked{Step: 3, Missing: []string{say("more")}, Requirements: []event.Requirement{{Requirement: say("all"), Status: "MISSING", Reason: say("gone")}}},
		event.SubproblemSolved{Path: "f0.0", Step: 4, Problem: text("more"), Solution: text("M"), By: event.ByPerson},
		event.VoteCompleted{Question: "solve/check/0", Step: 3, Status: "decided", Voting: votes(2)},
		event.AnswerComposed{Path: "0", Step: 5, Answer: text("LL"), By: event.ByVote},
		event.StepFailed{Step: 6, Status: "failed", Reason: say("a reason")},
		event.TaskFailed{Status: event.StatusFailed, Reason: say("a reason"), Step: 6},
	}
}

func plainly(s string) string { return s }

func TestTree(t *testing.T) {
	tree, err := ReadTree(logOf(t, story(plainly)...))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	tree.Write(&out)
	want := `0  whole
│  direct 1-1-1 undecided; decompose 2-1
│  then split: no answer won
│  = LL
├─ 0.0  left
│     solve 2 (1 flagged)
│     atomic by default: nobody agrees
│     = L
└─ 0.1  right
      = L  (as 0.0)

found missing:
f0.0  more
   = M  (by person)

check 0 2
round 0: missing more
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("write(): -want +got\n%s", diff)
	}
}

// TestTreeUnfinished: a run that was killed has a tree too.
func TestTreeUnfinished(t *testing.T) {
	all := story(plainly)
	for n := 1; n <= len(all); n++ {
		tree, err := ReadTree(logOf(t, all[:n]...))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		tree.Write(&out)
		if !strings.HasPrefix(out.String(), "0  whole\n") {
			t.Errorf("after %d events: write() = %q", n, out.String())
		}
	}
}

// TestTreeOfSeveralSessions: a vote that goes on is one vote, with the samples that
// count; one that begins anew is another.
func TestTreeOfSeveralSessions(t *testing.T) {
	sample := func(question string, n int) event.Event {
		return event.SampleCompleted{Sample: event.Sample{Question: question, Sample: n}, Vote: "v"}
	}
	decided := func(question string, votes int) event.Event {
		return event.VoteCompleted{Question: question, Status: "decided", Voting: event.Voting{Samples: votes, Votes: map[string]int{"v": votes}}}
	}
	const goesOn, anew = "solve/0/decompose", "solve/0/solve"
	tree, err := ReadTree(logOf(t,
		event.TaskSubmitted{Format: event.Format, Kind: "solve", Task: "whole"},
		sample(goesOn, 0), sample(goesOn, 1), sample(anew, 0),
		event.RunResumed{},
		event.VoteResumed{Question: goesOn, Samples: []int{1}}, sample(goesOn, 2), decided(goesOn, 2),
		sample(anew, 0), decided(anew, 1),
		event.RunResumed{}, event.QuestionChanged{Question: goesOn, Changed: []string{"prompt", "tools"}},
	))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range tree.Nodes[0].Votes {
		got = append(got, fmt.Sprintf("%s, %d samples", v, len(v.Samples)))
	}
	want := []string{"decompose 2 (asked differently now: prompt, tools), 2 samples", "solve no votes unfinished, 1 samples", "solve 1, 1 samples"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("votes of the problem: -want +got\n%s", diff)
	}
}

// hostile texts try to get out of every place that a page may put them in.
var hostile = []string{
	`<script>alert(1)</script>`, `</pre></details><img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `' onmouseover='alert(1)`,
	`</title><script>alert(1)</script>`, `</style><script>alert(1)</script>`, "{{.}} {{template \"node\" .}}", `<!--`, `]]>`, `&lt;b&gt; &amp; &#x3c;`,
	"javascript:alert(1)", "a\x00b\x1b[2J", "\u202eright to left", strings.Repeat("long ", 3000), "https://example.com/x.png", "",
}

func pageOf(t testing.TB, run *runs.Run) string {
	t.Helper()
	r, err := run.Result()
	if err != nil {
		t.Fatal(err)
	}
	tree, err := ReadTree(run)
	if err != nil {
		t.Fatal(err)
	}
	output, err := run.Load(r.Output)
	if err != nil {
		t.Fatal(err)
	}
	data, err := tree.Page(r, output)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// inspect parses a page: every element is closed where it should be, and nothing in
// it runs, loads or links anything. It returns how often each element occurs, and
// the text.
func inspect(t testing.TB, page string) (elements map[string]int, text string) {
	t.Helper()
	elements = map[string]int{}
	var open []string
	var all strings.Builder
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				t.Fatalf("the page does not parse: %v", z.Err())
			}
			if len(open) > 0 {
				t.Errorf("%q are not closed", open)
			}
			return elements, all.String()
		case html.TextToken:
			all.WriteString(z.Token().Data)
		case html.CommentToken:
			t.Errorf("there is a comment: %s", z.Token().Data)
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			elements[token.Data]++
			for _, a := range token.Attr {
				if strings.HasPrefix(a.Key, "on") || slices.Contains([]string{"src", "href", "style", "srcset", "action", "data"}, a.Key) {
					t.Errorf("<%s> has the attribute %s=%q", token.Data, a.Key, a.Val)
				}
			}
			if kind == html.StartTagToken && token.Data != "meta" {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			name := z.Token().Data
			if len(open) == 0 || open[len(open)-1] != name {
				t.Fatalf("</%s> closes %q", name, open)
			}
			open = open[:len(open)-1]
		}
	}
}

var knownElements = []string{
	"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "strong", "pre", "ul", "li", "table", "tr", "td", "div", "details", "summary",
	"span",
}

func TestPage(t *testing.T) {
	page := pageOf(t, logOf(t, story(plainly)...))
	elements, text := inspect(t, page)
	if elements["details"] < 4+4 { // nodes and votes
		t.Errorf("the page has %d details", elements["details"])
	}
	for _, want := range []string{"whole", "left", "right", "join", "nobody agrees", "no answer won", "Best draft", "guess", "a reason", "more"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if external := regexp.MustCompile(`(?i)https?://|url\(|@import|<link|<script`).FindString(page); external != "" {
		t.Errorf("the page has %q: it must need nothing else", external)
	}
	if !strings.Contains(page, `default-src 'none'`) {
		t.Error("the page lets a browser load things")
	}
}

// TestPageHostile: whatever others wrote is text on the page and nothing else.
func TestPageHostile(t *testing.T) {
	want, _ := inspect(t, pageOf(t, logOf(t, story(plainly)...)))
	for _, evil := range hostile {
		checkHostile(t, want, evil)
	}
}

func checkHostile(t testing.TB, want map[string]int, evil string) {
	t.Helper()
	page := pageOf(t, logOf(t, story(func(s string) string { return s + evil })...))
	got, text := inspect(t, page)
	for name := range got {
		if !slices.Contains(knownElements, name) {
			t.Errorf("%q puts a <%s> into the page", evil, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%q changes the elements of the page: -want +got\n%s", evil, diff)
	}
	if short := strings.ReplaceAll(evil, "\x00", "\ufffd"); len(evil) < 100 && !strings.Contains(text, short) {
		t.Errorf("the page lacks the text %q", evil)
	}
}

func FuzzPage(f *testing.F) {
	for _, evil := range hostile {
		f.Add(evil)
	}
	f.Fuzz(func(t *testing.T, evil string) {
		tree := newTree()
		for _, e := range story(func(s string) string { return s + evil }) {
			tree.learn(e)
		}
		r := &runs.Result{Task: evil, Reason: evil, Run: evil, Model: evil, Status: evil, Solve: &runs.SolveFigures{}}
		page, err := tree.Page(r, event.Value{})
		if err != nil {
			t.Fatal(err)
		}
		elements, _ := inspect(t, string(page))
		for name := range elements {
			if !slices.Contains(knownElements, name) {
				t.Errorf("%q puts a <%s> into the page", evil, name)
			}
		}
	})
}

func TestShortOutcome(t *testing.T) {
	var done strings.Builder
	for i := range 60 {
		fmt.Fprintf(&done, "- Task %d: x\n  found (one sample)\n", i+1)
	}
	list := strings.TrimRight(done.String(), "\n")
	short := list[:strings.Index(list, "\n- Task 51:")]
	for _, test := range []struct{ in, want string }{
		{"# Outcome\n\nnothing", "# Outcome\n\nnothing"},
		{"head\n## Done\n\n" + short, "head\n## Done\n\n" + short},
		{"head\n## Done\n\n" + list, "head\n## Done\n\n" + short + "\n… and 10 more: maker show do-1 --step N\n"},
		{"head\n## Done\n\n" + list + "\n\n## Failed\n\n" + list, "head\n## Done\n\n" + short + "\n… and 10 more: maker show do-1 --step N\n\n## Failed\n\n" + list},
	} {
		if diff := cmp.Diff(test.want, shortOutcome("do-1", test.in)); diff != "" {
			t.Errorf("shortOutcome(%.40q): -want +got\n%s", test.in, diff)
		}
	}
}

func TestCall(t *testing.T) {
	for _, test := range []struct{ tool, input, want string }{
		{"Write", `{"file_path":"a.txt","content":"one\n"}`, "Write a.txt (4 bytes)"},
		{"Write", `{"file_path":"a.txt"}`, `Write file_path: "a.txt"`},
		{"Edit", `{"file_path":"a\u001b.txt","old_string":"x","new_string":"y"}`, `Edit a\x1b.txt`},
		{"Bash", `{"command":"ls\n-l"}`, "Bash $ ls -l"},
		{"mcp__shop__buy", `{"item":"tea"}`, `mcp__shop__buy item: "tea"`},
		{"mcp__shop__buy", `{"to":{"b":1,"a":[2]},"item":"tea\u003c\n\u202e","n":12345678901234567890}`, `mcp__shop__buy item: "tea<\n\u202e", n: 12345678901234567890, to: {"a":[2],"b":1}`},
		{"mcp__shop__buy", `{"note":"` + strings.Repeat("x", 500) + `","item":"tea"}`, `mcp__shop__buy item: "tea", note: "` + strings.Repeat("x", 78) + "…"},
		{"mcp__shop__buy", `{"a\n":1}`, `mcp__shop__buy a : 1`},
		{"mcp__shop__close", `{}`, `mcp__shop__close`},
		{"mcp__shop__buy", `["tea"]`, `mcp__shop__buy ["tea"]`},
	} {
		if got := Call(test.tool, event.JSONValue([]byte(test.input))); got != test.want {
			t.Errorf("Call(%s %s) = %q, want %q", test.tool, test.input, got, test.want)
		}
	}
}

// TestUndecidedProvesNothing: where no vote was decided none of them can be wrong.
func TestUndecidedProvesNothing(t *testing.T) {
	for _, test := range []struct {
		races, undecided int
		want             string
	}{
		{0, 0, "nothing: there are no votes"},
		{2, 2, "nothing: no vote was decided"},
		{3, 2, "not that all voted answers are their voters' likeliest: 0 of 1 are expected not to be"},
	} {
		c := runs.CertificateSummary{}
		c.Votes.Races, c.Votes.Undecided = test.races, test.undecided
		if got := describeCertificate(&c); !strings.HasPrefix(got, test.want) {
			t.Errorf("%d of %d undecided: %q, want %q", test.undecided, test.races, got, test.want)
		}
	}
}

// TestFailedStep: a step without a title, such as one of a problem, fails without one.
func TestFailedStep(t *testing.T) {
	e := event.StepFailed{Step: 5, Reason: "compose 0: no answer won"}
	for titles, want := range map[string]string{"": "step 5   FAILED: compose 0: no answer won", "count": "step 5   count: FAILED: compose 0: no answer won"} {
		if got := Describe(event.FormTree, e, map[int]string{5: titles}); got != want {
			t.Errorf("with the title %q it is %q, want %q", titles, got, want)
		}
	}
}
