package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/vote"
)

// A fake is a flow that keeps a journal, so that a script can be run again on it.
type fake struct {
	journal *journal
	prefix  string
}

type journal struct {
	mu      sync.Mutex
	answer  func(prompt string) string // JSON; "" for undecided
	files   map[string]string
	known   map[string]any // by method and key
	asked   []string       // prompts that were put to voters
	calls   []string       // that were made
	emitted []event.Event
	keys    map[string]bool // that were emitted
	used    map[string]bool // in this session
}

func newFake(answer func(prompt string) string) *fake {
	return &fake{journal: &journal{answer: answer, files: map[string]string{}, known: map[string]any{}, keys: map[string]bool{}, used: map[string]bool{}}}
}

// once looks up what was recorded, and records it otherwise.
func once[V any](f *fake, method, key string, find func() V) (V, error) {
	j := f.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	key = method + " " + f.prefix + key
	if j.used[key] {
		var none V
		return none, fmt.Errorf("the key %q is used twice", key)
	}
	j.used[key] = true
	if v, ok := j.known[key]; ok {
		return v.(V), nil
	}
	v := find()
	j.known[key] = v
	return v, nil
}

func (f *fake) Decide(key string, q *flow.Question) (*flow.Verdict, error) {
	return once(f, "decide", key, func() *flow.Verdict {
		f.journal.asked = append(f.journal.asked, q.Prompt)
		answer := f.journal.answer(q.Prompt)
		if answer == "" {
			return &flow.Verdict{Status: flow.Undecided, Reason: "nobody agrees", Voting: event.Voting{Strategy: q.Rule.Strategy, Samples: 9}}
		}
		return &flow.Verdict{Status: flow.Decided, Answer: json.RawMessage(answer), Voting: event.Voting{Strategy: q.Rule.Strategy, Samples: q.Rule.K, Margin: q.Rule.K, Votes: map[string]int{answer: q.Rule.K}}}
	})
}

func (f *fake) Perform(key string, e *flow.Effect) (*flow.Result, error) {
	return once(f, "perform", key, func() *flow.Result {
		if e.By != event.ByCode {
			f.journal.calls = append(f.journal.calls, "not by code")
		}
		f.journal.calls = append(f.journal.calls, e.Intent.Key())
		if e.Intent.Tool == "Broken" {
			return &flow.Result{Text: "it broke", IsError: true}
		}
		return &flow.Result{Text: "done"}
	})
}

func (f *fake) Ask(key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	return once(f, "ask", key, func() *flow.Answer { return &flow.Answer{Text: "said " + q.Text, By: "test"} })
}

func (f *fake) Observe(key string, l flow.Look) (json.RawMessage, error) {
	return once(f, "observe", key, func() json.RawMessage {
		if l.Kind == flow.LookUsable {
			data, _ := json.Marshal(flow.Usability{})
			return data
		}
		var r flow.File
		if err := json.Unmarshal(l.Params, &r); err != nil {
			panic(err)
		}
		a := flow.Attached{MediaType: "text/plain", Text: f.journal.files[r.Path]}
		if n := int64(len(a.Text)); n > r.Most {
			a = flow.Attached{Problem: "it is too large", TooLarge: n}
		}
		if a.Text == "" && a.Problem == "" {
			a = flow.Attached{Problem: "there is no such file"}
		}
		data, _ := json.Marshal(a)
		return data
	})
}

func (f *fake) Parallel(key string, n int, do func(i int, f flow.Flow) error) error {
	if _, err := once(f, "parallel", key, func() bool { return true }); err != nil {
		return err
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = do(i, &fake{f.journal, f.prefix + flow.Branch(key, i)}) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (f *fake) Emit(key string, e event.Event) {
	f.journal.mu.Lock()
	defer f.journal.mu.Unlock()
	if !f.journal.keys[f.prefix+key] {
		f.journal.keys[f.prefix+key] = true
		f.journal.emitted = append(f.journal.emitted, e)
	}
}

// run runs a script and returns what came of it.
func (f *fake) run(t testing.TB, text string, args map[string]string) event.Event {
	t.Helper()
	return f.runFiles(t, Source{Name: "test.star", Text: text}, args)
}

func (f *fake) runFiles(t testing.TB, s Source, args map[string]string) event.Event {
	t.Helper()
	p, err := Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	set, err := prompts.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	j := f.journal
	j.asked, j.calls, j.emitted = nil, nil, nil
	delete(j.keys, "end")
	clear(j.used)
	c := Config{Program: p, Args: args, Prompts: set, Terms: flow.Terms{Rule: vote.Rule{Strategy: vote.FirstToK, K: 3, MaxSamples: 20}}}
	if err := Run(f, c); err != nil {
		t.Fatal(err)
	}
	return j.emitted[len(j.emitted)-1]
}

// steps are the numbers of the steps that were completed, in the order of the log.
func (j *journal) steps() (list []int) {
	for _, e := range j.emitted {
		if s, ok := e.(event.StepCompleted); ok {
			list = append(list, s.Step)
		}
	}
	return list
}

// echo answers every question with a word of it.
func echo(prompt string) string {
	_, rest, _ := strings.Cut(prompt, "say ")
	word, _, _ := strings.Cut(rest, "!")
	if word == "nothing" {
		return ""
	}
	if json.Valid([]byte(word)) {
		return word
	}
	data, _ := json.Marshal(word)
	return string(data)
}

func TestRun(t *testing.T) {
	tests := []struct {
		name, script string
		want         string // JSON
	}{
		{"a value", "def main():\n    return [1, 2.5, True, None, \"ä\", {\"b\": 1, \"a\": (1,)}]", `[1,2.5,true,null,"ä",{"a":[1],"b":1}]`},
		{"arguments", "def main(args):\n    return args.name + getattr(args, \"other\", \"!\")", `"Ann!"`},
		{"one question", "def main():\n    return ask(\"say yes!\", one_of = [\"yes\", \"no\"])", `"yes"`},
		{"a number is one", "def main():\n    return 1 + ask(\"say 41!\", number = True)", `42`},
		{"an object", "def main():\n    return ask('say {\"a\":1}!', schema = {\"a\": \"integer\", \"b\": \"prose\", \"c\": [\"x\", \"y\"], \"d\": {\"e\": \"list of strings\"}})[\"a\"]", `1`},
		{"a map", "def main():\n    return map([3, 1, 2], lambda n: ask(\"say %d!\" % n, number = True) * 10)", `[30,10,20]`},
		{"a map in a map", "def main():\n    return map(range(2), lambda i: map(range(2), lambda j: ask(\"say %d%d!\" % (i + 1, j), number = True)))", `[[10,11],[20,21]]`},
		{"an empty map", "def main():\n    return map([], lambda n: n)", `[]`},
		{"a chain", "def main():\n    return chain(0, lambda n: ask(\"say %d!\" % (n + 1), number = True), times = 5)", `5`},
		{"a chain until", "def main():\n    return chain([0], lambda s: s + [ask(\"say %d!\" % len(s), number = True)], until = lambda s: len(s) == 4)", `[0,1,2,3]`},
		{"a state is data", "def main():\n    return chain((1, 2), lambda s: (type(s), s), times = 2)", `["list",["list",[1,2]]]`},
		{"no turn", "def main():\n    return chain(7, lambda n: n, times = 0)", `7`},
		{"otherwise", "def main():\n    return ask(\"say nothing!\", otherwise = \"unclear\")", `"unclear"`},
		{"a file", "def main():\n    return read(\"a.txt\")", `"content"`},
		{"a table", "def main():\n    return [r[\"id\"] for r in rows(\"t.csv\")]", `["1","2"]`},
		{"a tool", "def main():\n    return call(\"Write\", file_path = \"x\", content = \"y\")", `"done"`},
		{"a tool that fails", "def main():\n    return [call(\"Broken\", x = 1, otherwise = None), call(\"Write\", x = 1, otherwise = 2)]", `[null,"done"]`},
		{"a person", "def main():\n    return human(\"Which?\", options = [\"a\"])", `"said Which?"`},
		{"an agent", "def main():\n    return act(\"say done!\", tools = [\"Read\"])", `"done"`},
		{"notes", "def main():\n    log(\"a\", 1)\n    print([2])", `null`},
		{"JSON", "def main():\n    return json.decode(json.encode({\"a\": [1]}))", `{"a":[1]}`},
		{"lists are extended in place", "def main():\n    a = [1]\n    b = a\n    b += [2]\n    d = {\"x\": [1], \"n\": 1}\n    c = d[\"x\"]\n    d[\"x\"] += [2]\n    d[\"n\"] += 1\n    d[\"n\"] *= 5\n    return [a, c, d]", `[[1,2],[1,2],{"n":10,"x":[1,2]}]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(echo)
			f.journal.files = map[string]string{"a.txt": "content", "t.csv": "id,b\n1,x\n2,y\n"}
			end := f.run(t, test.script, map[string]string{"name": "Ann"})
			done, ok := end.(event.TaskCompleted)
			if !ok {
				t.Fatalf("it ended with %+v", end)
			}
			if diff := cmp.Diff(test.want, string(done.Output.JSON)); diff != "" {
				t.Error(diff)
			}
			asked := len(f.journal.asked) + len(f.journal.calls)
			again := f.run(t, test.script, map[string]string{"name": "Ann"}).(event.TaskCompleted)
			if diff := cmp.Diff(test.want, string(again.Output.JSON)); diff != "" {
				t.Errorf("the second time: %s", diff)
			}
			if n := len(f.journal.asked) + len(f.journal.calls); n > 0 {
				t.Errorf("the second time %d of %d things were done again", n, asked)
			}
		})
	}
}

func TestSteps(t *testing.T) {
	f := newFake(echo)
	end := f.run(t, `
def item(n):
    ask("say a%d!" % n)
    return ask("say b%d!" % n)

def main():
    ask("say first!")
    map([1, 2], item)
    chain(0, lambda n: ask("say %d!" % (n + 1), number = True), times = 2)
    call("Write", file_path = "x")
`, nil).(event.TaskCompleted)
	got := f.journal.steps()
	if len(got) > 3 && got[1] > got[2] {
		got[1], got[2] = got[2], got[1] // items come in any order
	}
	if diff := cmp.Diff([]int{0, 1, 2, 3, 4, 5}, got); diff != "" || end.Steps != 6 {
		t.Errorf("%d steps: %s", end.Steps, diff)
	}
}

func TestFailures(t *testing.T) {
	tests := []struct {
		name, script string
		want         string // the beginning of the reason
		status       string
	}{
		{"fail", "def check(x):\n    fail(\"bad\", x)\n\ndef main():\n    check(3)", "test.star:2:9 in check: bad 3\n  called by test.star:5:10 in main", event.StatusFailed},
		{"undecided", "def main():\n    ask(\"say nothing!\")", "test.star:2:8 in main: nobody agrees", event.StatusUndecided},
		{"undecided in a map", "def main():\n    map([1, 2], lambda n: ask(\"say nothing!\" if n == 2 else \"say x!\"))", "test.star:2:30 in lambda: nobody agrees\n  called by test.star:2:8 in main (item 1)", event.StatusUndecided},
		{"undecided in a chain", "def main():\n    chain(0, lambda n: ask(\"say nothing!\"), times = 2)", "test.star:2:27 in lambda: nobody agrees", event.StatusUndecided},
		{"a tool", "def main():\n    call(\"Broken\", x = 1)", "test.star:2:9 in main: Broken: it broke", event.StatusFailed},
		{"a type", "def main():\n    return 1 + \"a\"", "test.star:2:14 in main: unknown binary op: int + string", event.StatusFailed},
		{"no file", "def main():\n    read(\"none\")", "test.star:2:9 in main: read: there is no such file", event.StatusFailed},
		{"a large file", "def main():\n    return len(rows(\"large\"))", "test.star:2:20 in main: rows: large has 33 MB, and a script reads at most 32: split it, or have `maker map` ask", event.StatusFailed},
		{"more votes than samples", "def main():\n    ask(\"say x!\", k = 21)", "test.star:2:8 in main: ask: k = 21 needs as many votes, and --max-samples is 20", event.StatusFailed},
		{"no argument", "def main(args):\n    return args.x", "test.star:2:16 in main: args has no x: start the script with --arg x=…", event.StatusFailed},
		{"a function is no data", "def main():\n    return main", "what main returns: this is not data", event.StatusFailed},
		{"what is shared is frozen", "def main():\n    seen = []\n    map([1], lambda n: seen.append(n))", "test.star:3:35 in lambda: append: cannot append to frozen list", event.StatusFailed},
		{"two ways to read", "def main():\n    ask(\"say x!\", number = True, bool = len(\"a\") == 1)", "test.star:2:8 in main: ask: number and bool: an answer is one of these", event.StatusFailed},
		{"no options", "def main():\n    ask(\"say x!\", one_of = list())", "test.star:2:8 in main: ask: one_of: ", event.StatusFailed},
		{"no type", "def main():\n    ask(\"say x!\", schema = dict(a = \"wat\"))", "test.star:2:8 in main: ask: schema: a: \"wat\" is no type", event.StatusFailed},
		{"outside of functions", "def f():\n    return ask(\"say x!\")\n\nX = f()\n\ndef main():\n    return X", "test.star:2:15 in f: this can be called by main", event.StatusFailed},
		{"a chain in a map", "def main():\n    f = lambda n: chain(0, lambda s: s, times = 1)\n    map([1], f)", "test.star:2:24 in lambda: chain: it can be called on the main line only", event.StatusFailed},
		{"a question in until", "def main():\n    over = lambda s: ask(\"say yes!\", bool = True)\n    chain(0, lambda s: s, until = over)", "test.star:2:25 in lambda: this can be called by main", event.StatusFailed},
		{"a state that is no data", "def main():\n    chain(main, lambda s: s, times = 1)", "test.star:2:10 in main: chain: its state: this is not data", event.StatusFailed},
		{"less than no turns", "def main():\n    chain(0, lambda s: s, times = 1 - 2)", "test.star:2:10 in main: chain: for parameter \"times\": got -1, want at least 0", event.StatusFailed},
		{"less than no turns, and an end", "def main():\n    chain(0, lambda s: s, times = 1 - 2, until = bool)", "test.star:2:10 in main: chain: for parameter \"times\": got -1, want at least 0", event.StatusFailed},
		{"no votes", "def main():\n    ask(\"say x!\", k = 1 - 1)", "test.star:2:8 in main: ask: for parameter \"k\": got 0, want at least 1", event.StatusFailed},
		{"fewer votes", "def main():\n    ask(\"say x!\", k = 1 - 2, number = True)", "test.star:2:8 in main: ask: for parameter \"k\": got -1, want at least 1", event.StatusFailed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(echo)
			f.journal.files["large"] = strings.Repeat("x", maxFile+1)
			failed, ok := f.run(t, test.script, nil).(event.TaskFailed)
			if !ok || failed.Status != test.status || !strings.HasPrefix(failed.Reason, test.want) {
				t.Errorf("got %+v, want %s: %s", failed, test.status, test.want)
			}
		})
	}
}

// TestCheck: what is seen without running anything.
func TestCheck(t *testing.T) {
	const body = "\n\ndef main():\n    return 1"
	tests := []struct {
		name  string
		text  string
		files map[string]string
		want  []string
	}{
		{"nothing", "def f(x = 1):\n    return ask(\"a\")\nX = sorted([3, 1])\nF = lambda t: ask(t)" + body, nil, nil},
		{"outside of functions", "X = map([1], str)\nY = [ask(q) for q in []]\nfail(\"a\")\nlog(1)" + body, nil, []string{"test.star:1:8: map: this can be called by main", "test.star:2:9: ask: this", "test.star:4:4: log: this"}},
		{"defaults are outside", "def f(x = [ask(\"a\")]):\n    def g(y = ask(\"b\")):\n        return y\n    return g()\nF = lambda x = read(\"a\"): x" + body, nil, []string{"test.star:1:15: ask: this", "test.star:5:20: read: this"}},
		{"an endless chain", "def main():\n    chain(1, str)\n    chain(1, str, 3)\n    chain(1, str, until = bool)\n    chain(*[1, str, 3])", nil, []string{"test.star:2:10: chain: say when it ends"}},
		{"a name of one's own", "def ask(x):\n    return x\nX = ask(1)" + body, nil, nil},
		{"it loads itself", "load(\"test.star\", y = \"x\")\nx = 1" + body, nil, []string{"test.star:1:6: test.star loads itself: test.star loads test.star"}},
		{"a circle", "load(\"a.star\", \"a\")" + body, map[string]string{"a.star": "load(\"b.star\", \"b\")\na = 1", "b.star": "load(\"c.star\", \"c\")\nload(\"a.star\", \"a\")\nb = 1", "c.star": "c = 1"}, []string{"b.star:2:6: a.star loads itself: a.star loads b.star loads a.star"}},
		{"twice is no circle", "load(\"a.star\", \"a\")\nload(\"b.star\", \"b\")" + body, map[string]string{"a.star": "load(\"b.star\", \"b\")\na = 1", "b.star": "b = 1"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Compile(Source{Name: "test.star", Text: test.text, Files: test.files})
			var got []string
			if err != nil {
				got = strings.Split(err.Error(), "\n")
			}
			if len(got) != len(test.want) {
				t.Fatalf("got %q, want %q", got, test.want)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("got %q, want %q", got[i], want)
				}
			}
		})
	}
}

// TestArgs: arguments that a script has no use for are found where it can be seen.
func TestArgs(t *testing.T) {
	tests := []struct{ script, want string }{
		{"def main():\n    return 1", "x: the script takes no arguments"},
		{"def main(args):\n    return 1", "x: the script takes no arguments"},
		{"def main(args):\n    return args.x", ""},
		{"def main(args):\n    return [args.b, args.a, args.b]", "x: the script has no use for it; it takes a, b"},
		{"def main(a):\n    return map([1], lambda n: a.y + getattr(a, \"z\", \"\"))", "x: the script has no use for it; it takes y, z"},
		{"def main(args):\n    return getattr(args, \"x\", 1)", ""},
		{"def main(args):\n    return getattr(args, \"a\" + args.y, 1)", ""},
		{"def f(a):\n    return a.x\n\ndef main(args):\n    return f(args)", ""},
		{"def f(args):\n    return args.x\n\ndef main(args):\n    return args.y", "x: the script has no use for it; it takes y"},
		{"def main(args):\n    args = 1\n    return args", ""},
	}
	for _, test := range tests {
		p, err := Compile(Source{Name: "test.star", Text: test.script})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := p.CheckArgs(map[string]string{"x": "1"}); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.script, got, test.want)
		}
	}
}

// TestReopened: what was undecided is asked again by a resume, and nothing else is.
func TestReopened(t *testing.T) {
	for _, script := range []string{
		"def main():\n    return [ask(\"say a!\"), ask(\"say nothing!\")]",
		"def main():\n    return map([\"a\", \"nothing\"], lambda w: ask(\"say %s!\" % w))",
		"def main():\n    return [ask(\"say a!\"), chain(\"nothing\", lambda w: ask(\"say %s!\" % w), times = 1)]",
	} {
		f := newFake(echo)
		failed := f.run(t, script, nil).(event.TaskFailed)
		if len(failed.Reopen) == 0 {
			t.Fatalf("%s: nothing is reopened: %+v", script, failed)
		}
		below := flow.Below(failed.Reopen)
		for key := range f.journal.known {
			if _, key, _ := strings.Cut(key, " "); below(key) {
				delete(f.journal.known, "decide "+key)
			}
		}
		for key := range f.journal.keys {
			if below(key) {
				delete(f.journal.keys, key)
			}
		}
		f.journal.answer = func(string) string { return `"later"` }
		if end := f.run(t, script, nil); len(f.journal.asked) != 1 {
			t.Errorf("%s: %d questions were asked again: %v; it ended with %+v", script, len(f.journal.asked), f.journal.asked, end)
		} else if _, ok := end.(event.TaskCompleted); !ok {
			t.Errorf("%s: it ended with %+v", script, end)
		}
	}
}

// TestEdits: what survives an edit of the script, as docs/scripts.md says.
func TestEdits(t *testing.T) {
	const before = `
def classify(text):
    return ask("say %s!" % text)

def main():
    texts = ["a", "b", "c"]
    one = [classify(t) for t in texts]
    call("Write", file_path = "x")
    return map(texts, classify)
`
	tests := []struct {
		name, after string
		asked       int
		calls       int
	}{
		{"nothing", before, 0, 0},
		{"comments and lines", strings.ReplaceAll(before, "    return", "\n    # a comment\n    unused = 1\n    return"), 0, 0},
		{"names of variables", strings.ReplaceAll(before, "texts", "words"), 0, 0},
		{"another question before", strings.Replace(before, "    texts =", "    ask(\"say new!\")\n    texts =", 1), 1, 0},
		{"an item at the end", strings.Replace(before, `"c"]`, `"c", "d"]`, 1), 2, 0},
		{"an item at the beginning", strings.Replace(before, `["a"`, `["z", "a"`, 1), 1 + 4, 0},
		{"another prompt", strings.Replace(before, `"say %s!"`, `"Please say %s!"`, 1), 6, 0},
		{"another function", strings.ReplaceAll(before, "classify", "sort_out"), 6, 0},
		{"another call", strings.Replace(before, `"x"`, `"y"`, 1), 0, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(echo)
			f.run(t, before, nil)
			end := f.run(t, test.after, nil)
			if _, ok := end.(event.TaskCompleted); !ok {
				t.Fatalf("it ended with %+v", end)
			}
			if len(f.journal.asked) != test.asked || len(f.journal.calls) != test.calls {
				t.Errorf("asked %v and called %v, want %d and %d", f.journal.asked, f.journal.calls, test.asked, test.calls)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	files := map[string]string{
		"helpers.star": "load(\"words.star\", \"WORD\")\n\ndef double(n):\n    return n * 2\n\ndef word():\n    return ask(\"say %s!\" % WORD)",
		"words.star":   "WORD = \"hi\"",
	}
	read := func(name string) (string, error) {
		text, ok := files[name]
		if !ok {
			return "", errors.New("no such file")
		}
		return text, nil
	}
	s, err := Load("test.star", "load(\"helpers.star\", \"double\", w = \"word\")\n\ndef main():\n    return [double(4), w()]", read)
	if err != nil {
		t.Fatal(err)
	}
	f := newFake(echo)
	if end := f.runFiles(t, s, nil).(event.TaskCompleted); string(end.Output.JSON) != `[8,"hi"]` {
		t.Errorf("got %s", end.Output.JSON)
	}
	for text, want := range map[string]string{
		"load(\"../x.star\", \"a\")":    "test.star:1:6: load(\"../x.star\"): want the name of a file beside the script",
		"load(\"/etc/x\", \"a\")":       "test.star:1:6: load(\"/etc/x\"): want",
		"load(\"nowhere.star\", \"a\")": "test.star:1:6: no such file",
	} {
		if _, err := Load("test.star", text, read); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestPlannersAreTold: whoever is to write a script is told of every function, and the example
// that they are shown is one.
func TestPlannersAreTold(t *testing.T) {
	text, err := prompts.Default().Render(prompts.WriterSystem{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		if !strings.Contains(text, name+"(") {
			t.Errorf("the prompt does not tell of %s", name)
		}
	}
	_, example, _ := strings.Cut(text, "```python\n")
	example, _, ok := strings.Cut(example, "```")
	if !ok {
		t.Fatal("the prompt shows no script")
	}
	p, err := Compile(Source{Name: "example.star", Text: example})
	if err != nil {
		t.Fatal(err)
	}
	tools, models := p.Uses()
	if diff := cmp.Diff([]string{"Write"}, tools); diff != "" || len(models) > 0 {
		t.Errorf("Uses() = %v, %v", tools, models)
	}
}

// TestUses: tools and models are found where they are written down.
func TestUses(t *testing.T) {
	p, err := Compile(Source{Name: "test.star", Text: `
def main(args):
    call("Write", file_path = "x")
    call(args.tool)
    act("Look.", ["Read", "Grep"])
    act("Look.", tools = ["Glob", "Read"], model = "m/act")
    ask("Say it.", model = "m/ask")
    ask("Say it.", model = args.model)
`})
	if err != nil {
		t.Fatal(err)
	}
	tools, models := p.Uses()
	if diff := cmp.Diff([]string{"Glob", "Grep", "Read", "Write"}, tools); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"m/act", "m/ask"}, models); diff != "" {
		t.Error(diff)
	}
}
