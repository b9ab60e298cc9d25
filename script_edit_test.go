package maker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/vote"
)

// unedited fails at its end.
const unedited = `
def double(n):
    twice = ask("Compute: %d * 2" % n, number = True)
    call("Note", item = "item %d" % twice)
    return twice

def turn(n):
    next = ask("Compute: %d + 1" % n, number = True)
    call("Note", item = "turn %d" % next)
    return next

def main(args):
    log("begins")
    first = ask("Compute: 1 + 1", number = True)
    call("Note", item = "first")
    items = map(range(4), double)
    last = chain(first, turn, times = 2)
    name = human("A name?")
    call("Note", item = "gone")
    fail("it is broken")
`

// edited asks something before all that, in the items that are odd and after it; its even items
// come to something else, its chain has more turns that do more, and one call is not made any more.
const edited = `
# A comment.
def double(n):
    twice = ask("Compute: %d * 2" % n, number = True)
    if n % 2 == 1:
        return [twice, ask("Compute: %d * 3" % n, number = True)]
    call("Note", item = "item %d" % twice)
    return [twice, 0]

def turn(n):
    call("Note", item = "turn from %d" % n)
    return ask("Compute: %d + 10" % n, number = True)

def main(args):
    log("begins")
    zero = ask("Compute: 0 + 0", number = True)
    first = ask("Compute: 1 + 1", number = True)
    call("Note", item = "first")
    items = map(range(4), double)
    last = chain(first, turn, times = 4)
    name = human("A name?")
    call("Note", item = "new")
    return [zero, items, last, name, ask("Compute: %d + %d" % (last, zero), number = True)]
`

// A notary is behind a tool that must not be called twice with the same.
type notary struct {
	mu     sync.Mutex
	noted  map[string]int
	absent bool // nobody is there to be asked
}

// engine has the tool of the notary, voters who are always right, and somebody to be asked.
func (n *notary) engine(t *testing.T, dir string) *maker.Engine {
	t.Helper()
	n.noted = map[string]int{}
	type input struct {
		Item string `json:"item"`
	}
	note, err := tool.New(tool.Tool{Name: "Note", Description: "Notes something.", Class: tool.Mutate}, func(_ context.Context, in input) (tool.Result, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.noted[in.Item]++
		return tool.Result{Text: "noted"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	o := maker.Options{LogDir: dir, Tools: []tool.Tool{note}, Ask: func(_ context.Context, q maker.Question) (string, error) {
		if n.absent {
			return "", maker.ErrAbsent
		}
		if q.Kind == event.ClarifyOutcome {
			return "it did not happen: do it", nil
		}
		return "Ada", nil
	}}
	o.Config.Model, o.Config.Tools.Approve = "sim/default?p=1", "none"
	o.Config.Voting = vote.Rule{Strategy: vote.FirstToK, K: 1, MaxSamples: 9}
	return newEngine(t, o)
}

// cutLogs makes run folders whose logs end after each line of that in dir, from a line on.
func cutLogs(t *testing.T, dir string, from int) (dirs, ends []string) {
	t.Helper()
	all := logLines(t, dir)
	for n := from; n < len(all); n++ {
		short := filepath.Join(t.TempDir(), filepath.Base(dir))
		if err := os.Mkdir(short, 0o755); err != nil {
			t.Fatal(err)
		}
		part := strings.TrimSuffix(strings.Join(all[:n+1], ""), "\n") + "\n"
		if err := os.WriteFile(filepath.Join(short, runlog.EventsFile), []byte(part), 0o644); err != nil {
			t.Fatal(err)
		}
		dirs, ends = append(dirs, short), append(ends, all[n])
	}
	return dirs, ends
}

// made counts the calls that the log in dir has as done, and checks that nothing is decided or
// committed twice.
func made(t *testing.T, dir string) map[string]int {
	t.Helper()
	input, done, seen := map[string]string{}, map[string]int{}, map[string]bool{}
	for _, raw := range logLines(t, dir) {
		var l struct {
			Type, Question, Effect string
			Step                   int
			Input                  struct{ Item string }
		}
		if err := json.Unmarshal([]byte(raw), &l); err != nil {
			t.Fatalf("%v: %s", err, raw)
		}
		id := ""
		switch l.Type {
		case "vote_completed":
			id = "question " + l.Question
		case "step_completed":
			id = fmt.Sprint("step ", l.Step)
		case "effect_claimed":
			input[l.Effect] = l.Input.Item
			continue
		case "effect_done":
			done[input[l.Effect]]++
			id = "effect " + l.Effect
		default:
			continue
		}
		if seen[id] {
			t.Errorf("%s is there twice", id)
		}
		seen[id] = true
	}
	return done
}

// goOn resumes the run in dir, which comes to what is wanted without doing anything again.
func goOn(t *testing.T, dir string, opts *maker.ResumeOptions, want string) {
	t.Helper()
	before := made(t, dir)
	var n notary
	e := n.engine(t, filepath.Dir(dir))
	run, err := e.Resume(t.Context(), dir, opts)
	if errors.Is(err, maker.ErrFinished) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	r := mustResult(t, run)
	if got := r.Output.Compact(); r.Status != event.StatusCompleted || got != want {
		t.Errorf("it ends %s with %s: %s, want %s", r.Status, got, r.Reason, want)
	}
	for item := range before {
		if n.noted[item] > 0 {
			t.Errorf("%s was noted, and is noted again", item)
		}
	}
	for item, times := range made(t, dir) {
		if times != 1 {
			t.Errorf("%s is noted %d times", item, times)
		}
	}
	wantReplay(t, e, dir)
}

// TestAnEditedScriptGoesOn: whenever a run was killed, it goes on with an edited script, and
// whenever that was killed, with that one. Nothing that is recorded is asked, done or committed
// again.
func TestAnEditedScriptGoesOn(t *testing.T) {
	var n notary
	dir := t.TempDir()
	e := n.engine(t, dir)
	run, err := e.Script(t.Context(), maker.Script{Name: "a.star", Text: unedited})
	if err != nil {
		t.Fatal(err)
	}
	if r := mustResult(t, run); r.Status != event.StatusFailed || !strings.Contains(r.Reason, "it is broken") {
		t.Fatalf("it ends %s: %s", r.Status, r.Reason)
	}
	const want = `[0,[[0,0],[2,3],[4,0],[6,9]],24,"Ada",24]`
	script := &maker.Script{Name: "b.star", Text: edited}
	wantRehearsal(t, e, run.ID(), *script)
	first, _ := cutLogs(t, run.Dir(), 0)
	edit := len(logLines(t, run.Dir()))
	goOn(t, run.Dir(), &maker.ResumeOptions{Script: script}, want)
	second, ends := cutLogs(t, run.Dir(), edit)
	third, _ := cutLogs(t, run.Dir(), edit)
	t.Run("killed before", func(t *testing.T) {
		t.Parallel() // it mostly waits for the disk
		for i, short := range first {
			if i%3 != 0 && i != len(first)-1 {
				continue
			}
			// A chain that was begun has turns of the script as it was.
			turns := strings.Count(strings.Join(logLines(t, short), ""), `"loop":true`)
			last := 2 + turns + 10*(4-turns)
			if goOn(t, short, &maker.ResumeOptions{Script: script}, strings.ReplaceAll(want, "24", fmt.Sprint(last))); t.Failed() {
				t.Fatalf("after line %d", i+1)
			}
		}
	})
	t.Run("killed after", func(t *testing.T) {
		t.Parallel()
		for i, short := range second {
			if goOn(t, short, nil, want); t.Failed() {
				t.Fatalf("after line %d, %s", edit+i+1, ends[i])
			}
		}
	})
	t.Run("there and back", func(t *testing.T) {
		t.Parallel()
		for i, short := range third {
			if i%4 != 0 || i == len(third)-1 {
				continue
			}
			run, err := e.Resume(t.Context(), short, &maker.ResumeOptions{Script: &maker.Script{Name: "a.star", Text: unedited}})
			if err != nil {
				t.Fatal(err)
			}
			if r := mustResult(t, run); r.Status != event.StatusFailed || !strings.Contains(r.Reason, "it is broken") {
				t.Errorf("the script as it was ends %s: %s", r.Status, r.Reason)
			}
			made(t, short)
			wantReplay(t, e, short)
			if goOn(t, short, &maker.ResumeOptions{Script: script}, want); t.Failed() {
				t.Fatalf("after line %d, %s", edit+i+1, ends[i])
			}
		}
	})
}

// wantRehearsal checks what is said before the script is edited, and that nothing is written.
func wantRehearsal(t *testing.T, e *maker.Engine, run string, edited maker.Script) {
	t.Helper()
	rehearse := func(s maker.Script) *maker.Rehearsal {
		r, err := e.Rehearse(run, &maker.ResumeOptions{Script: &s})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if got := rehearse(maker.Script{Name: "other.star", Text: unedited}); got.Changed {
		t.Errorf("Rehearse() of the same script = %+v, want no change", got)
	}
	gone := maker.RehearsedMade{Tool: "Note", Input: json.RawMessage(`{"item":"gone"}`)}
	// The first question is new, and comes before everything.
	want := &maker.Rehearsal{Changed: true, New: []maker.RehearsedCall{{What: "ask", File: "b.star", Line: 16, Times: 1}}}
	want.Answers.Recorded, want.Calls.Recorded = 6, 6
	got := rehearse(edited)
	if len(got.Unused) != 6 || len(got.Chains) != 1 || got.Chains[0].Line != 0 {
		t.Errorf("Rehearse() = %+v, want nothing used", got)
	}
	want.Unused, want.Chains = got.Unused, got.Chains
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Rehearse() (-want +got):\n%s", diff)
	}
	// Without it the items come to something else, and the odd ones to what is not there.
	late := edited
	late.Text = strings.Replace(edited.Text, `zero = ask("Compute: 0 + 0", number = True)`, `zero = 0`, 1)
	want = &maker.Rehearsal{Changed: true, New: []maker.RehearsedCall{{What: "ask", File: "b.star", Line: 6, Times: 2}}, Again: 4}
	want.Answers.Used, want.Answers.Recorded, want.Calls.Used, want.Calls.Recorded = 5, 6, 3, 6
	got = rehearse(late)
	want.Unused, want.Chains = got.Unused, got.Chains
	if diff := cmp.Diff(want, got); diff != "" || len(got.Unused) != 3 {
		t.Errorf("Rehearse() without the first question: %d unused (-want +got):\n%s", len(got.Unused), diff)
	}
	// A line is taken out at the end.
	short := maker.Script{Name: "a.star", Text: strings.Replace(unedited, `    call("Note", item = "gone")
    fail("it is broken")`, `    return name`, 1)}
	want = &maker.Rehearsal{Changed: true, Ends: true, Unused: []maker.RehearsedMade{gone}}
	want.Answers.Used, want.Answers.Recorded, want.Calls.Used, want.Calls.Recorded = 6, 6, 5, 6
	want.Chains = []maker.RehearsedChain{{Key: "main/chain/0", Turns: 2, Call: maker.RehearsedCall{What: "chain", File: "a.star", Line: 17}}}
	if diff := cmp.Diff(want, rehearse(short)); diff != "" {
		t.Errorf("Rehearse() of a script that ends (-want +got):\n%s", diff)
	}
	// Another chain stands before it.
	other := maker.Script{Name: "a.star", Text: strings.Replace(short.Text, `    last = `, `    chain(7, turn, times = 1)
    last = `, 1)}
	if got := rehearse(other); len(got.Chains) != 1 || !got.Chains[0].Other {
		t.Errorf("Rehearse() with another chain before the one that is recorded = %+v, want that it says so", got.Chains)
	}
}

// TestUnknownOutcomesSurviveAnEdit: a call that was begun stays one of which nobody knows whether
// it took effect, whether the edited script still makes it or not.
func TestUnknownOutcomesSurviveAnEdit(t *testing.T) {
	var n notary
	run, err := n.engine(t, t.TempDir()).Script(t.Context(), maker.Script{Name: "a.star", Text: unedited})
	if err != nil {
		t.Fatal(err)
	}
	mustResult(t, run)
	claimed := slices.IndexFunc(logLines(t, run.Dir()), func(line string) bool {
		return strings.Contains(line, `"effect_claimed"`) && strings.Contains(line, `"gone"`)
	})
	dirs, _ := cutLogs(t, run.Dir(), claimed)
	n.absent = true
	e := n.engine(t, filepath.Dir(dirs[0]))
	end := func(line string) *maker.ResumeOptions {
		return &maker.ResumeOptions{Script: &maker.Script{Name: "a.star", Text: strings.Replace(unedited, `fail("it is broken")`, line, 1)}}
	}
	without := end("return name")
	without.Script.Text = strings.Replace(without.Script.Text, `    call("Note", item = "gone")`, "", 1)
	r, err := e.Rehearse(dirs[0], without)
	want := []maker.RehearsedMade{{Tool: "Note", Input: json.RawMessage(`{"item":"gone"}`), Unknown: true}}
	if err != nil || !r.Ends {
		t.Fatalf("Rehearse() = %+v, %v, want that it comes to its end", r, err)
	}
	if diff := cmp.Diff(want, r.Unused); diff != "" {
		t.Errorf("calls that are not called for any more (-want +got):\n%s", diff)
	}
	with := end("return name")
	if r, err = e.Rehearse(dirs[0], with); err != nil || len(r.Unused) > 0 || len(r.New) > 0 || len(r.Open) != 1 {
		t.Errorf("Rehearse() of a script that makes the call = %+v, %v, want one that is open", r, err)
	}
	again, err := e.Resume(t.Context(), dirs[0], with)
	if err != nil {
		t.Fatal(err)
	}
	if r := mustResult(t, again); r.Status != event.StatusFailed || !strings.Contains(r.Reason, "nobody knows whether the call of Note took effect") || n.noted["gone"] > 0 {
		t.Errorf("it ends %s: %s, with %d calls", r.Status, r.Reason, n.noted["gone"])
	}
	wantReplay(t, e, dirs[0])
	again, err = e.Resume(t.Context(), dirs[0], without)
	if err != nil {
		t.Fatal(err)
	}
	if r := mustResult(t, again); r.Status != event.StatusCompleted || len(r.Effects) != 8 || r.Effects[7].Status != runs.EffectUnknown || n.noted["gone"] > 0 {
		t.Errorf("without the call it ends %s: %s, with the calls %+v", r.Status, r.Reason, r.Effects)
	}
	wantReplay(t, e, dirs[0])
}

// TestEditsThatCannotBe: they are refused, and change nothing.
func TestEditsThatCannotBe(t *testing.T) {
	var n notary
	e := n.engine(t, t.TempDir())
	run, err := e.Script(t.Context(), maker.Script{Name: "a.star", Text: "def main():\n    fail(1)\n"})
	if err != nil {
		t.Fatal(err)
	}
	mustResult(t, run)
	was := logLines(t, run.Dir())
	for _, text := range []string{"def main(:\n", "def main():\n    aks(1)\n", "def main():\n    return '\xff'\n"} {
		s := maker.Script{Name: "a.star", Text: text}
		_, rehearsed := e.Rehearse(run.ID(), &maker.ResumeOptions{Script: &s})
		_, resumed := e.Resume(t.Context(), run.ID(), &maker.ResumeOptions{Script: &s})
		for what, err := range map[string]error{"Rehearse": rehearsed, "Resume": resumed} {
			if c, ok := errors.AsType[*maker.ConfigError](err); !ok || c.Field != "script" {
				t.Errorf("%s(%q) = %v, want an error about the script", what, text, err)
			}
		}
	}
	if diff := cmp.Diff(was, logLines(t, run.Dir())); diff != "" {
		t.Errorf("the log has changed (-was +is):\n%s", diff)
	}
	hanoi := startHanoi(t, e, 2)
	mustResult(t, hanoi)
	s := maker.Script{Name: "a.star", Text: "def main():\n    return 1\n"}
	if _, err := e.Rehearse(hanoi.ID(), &maker.ResumeOptions{Script: &s}); err == nil || !strings.Contains(err.Error(), "not one of a script") {
		t.Errorf("Rehearse() of a run without a script = %v, want an error", err)
	}
	done, err := e.Script(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	mustResult(t, done)
	if r, err := e.Rehearse(done.ID(), &maker.ResumeOptions{Script: &s}); err != nil || r.Changed {
		t.Errorf("Rehearse() of a run that is completed, with its script = %+v, %v", r, err)
	}
	s.Text += "# edited"
	if _, err := e.Rehearse(done.ID(), &maker.ResumeOptions{Script: &s}); !errors.Is(err, maker.ErrFinished) {
		t.Errorf("Rehearse() of a run that is completed = %v, want %v", err, maker.ErrFinished)
	}
}

// TestAnEditKeepsWhatAgentsDid: calls that voters decided on are not made again either, on the
// main line and in the items of a map; what is added to an item is a step of its own.
func TestAnEditKeepsWhatAgentsDid(t *testing.T) {
	const text = `
def book(what):
    return act("Book a " + what, tools = ["Book"])

def main():
    table = book("table")
    map(["room"], book)
    fail("no")
`
	var w witness
	model := following(t,
		calls("Book a table", 0, "Book", map[string]any{"item": "table"}), says("Book a table", "booked"),
		calls("Book a room", 0, "Book", map[string]any{"item": "room"}), says("Book a room", "booked"),
		says("Book a boat", "none left"), says("Anything else", "no"),
	)
	o := maker.Options{Tools: []tool.Tool{w.tool(t, "Book", tool.Mutate)}, Config: maker.Config{Model: model, Voting: vote.Rule{Strategy: vote.FirstToK, K: 1, MaxSamples: 9}}}
	o.Config.Tools.Approve = "none"
	e := newEngine(t, o)
	run, err := e.Script(t.Context(), maker.Script{Name: "a.star", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	if r := mustResult(t, run); r.Status != event.StatusFailed || w.calls.Load() != 2 {
		t.Fatalf("it ends %s after %d calls: %s", r.Status, w.calls.Load(), r.Reason)
	}
	s := strings.Replace(text, `    table =`, "    ask(\"Anything else?\")\n    table =", 1)
	s = strings.Replace(s, `    return act("Book a " + what, tools = ["Book"])`, `    booked = act("Book a " + what, tools = ["Book"])
    return booked if what == "table" else [booked, act("Book a boat", tools = ["Book"])]`, 1)
	s = strings.Replace(s, `map(["room"], book)`, `more = map(["room"], book)`, 1)
	s = strings.Replace(s, `fail("no")`, `return [table, more]`, 1)
	again, err := e.Resume(t.Context(), run.ID(), &maker.ResumeOptions{Script: &maker.Script{Name: "a.star", Text: s}})
	if err != nil {
		t.Fatal(err)
	}
	r := mustResult(t, again)
	if got, want := r.Output.Compact(), `["booked",[["booked","none left"]]]`; r.Status != event.StatusCompleted || got != want {
		t.Errorf("it ends %s with %s: %s, want %s", r.Status, got, r.Reason, want)
	}
	if got := w.calls.Load(); got != 2 {
		t.Errorf("Book is called %d times, want 2: for the table and for the room", got)
	}
	wantReplay(t, e, run.ID())
}
