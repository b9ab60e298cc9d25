package screen

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/outline"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote/adaptive"
)

func noLoad(v event.Value) (event.Value, error) { return v, nil }

// newModel is a model of a run on a terminal of some size. What keys do is noted.
func newModel(width, height int) (*Model, *[]string) {
	done := &[]string{}
	note := func(what string) func() { return func() { *done = append(*done, what) } }
	m := &Model{
		width: width, height: height, keys: true, onPause: note("pause"), onCancel: note("cancel"), onGoOn: note("go on"),
		onIgnore: func(typed []byte) { *done = append(*done, fmt.Sprintf("ignored %q", typed)) },
	}
	return m, done
}

var busy = maker.Progress{
	Steps: 262_144, Total: 1_048_575, Session: 200_000, Samples: 610_000, Contested: 1234, RedFlagged: 20_000, Faults: 7,
	Spent: usage.Spent{USD: 12.5}, Elapsed: 90 * time.Second, Limits: runs.Limits{USD: 20},
	Deciding: 1,
	Open: []runs.OpenQuestion{{
		Step: 262_144, InFlight: 1, RedFlagged: 1, Retried: 2,
		Votes: []runs.OpenVotes{{Answer: `{"move":[1,0,1]}`, Votes: 1}, {Answer: `{"move":[1,0,2]}`, Votes: 2}},
	}},
	Servers: []runs.Server{
		{Provider: "openai", Models: []runs.ServerModel{{Name: "openai/gpt-4.1-mini", InFlight: 3}}, Limit: 16, InFlight: 3},
		{Provider: "compat", Models: []runs.ServerModel{{Name: "compat/a", InFlight: 2}, {Name: "compat/b", LastError: "503 overloaded"}}, Failing: true, LastError: "503 overloaded"},
	},
	Contests: []runs.Contest{
		{Step: 126, Status: "decided", Voting: event.Voting{Samples: 5, Votes: map[string]int{`"a"`: 4, `"b"`: 1}}, Output: event.TextValue("a")},
		{Step: 130, Status: "decided", Voting: event.Voting{Samples: 7, Votes: map[string]int{`"a"`: 5, `"b"`: 2}}, Output: event.TextValue("a")},
	},
}

// at60 is the model a minute after the run began.
func at60(m *Model, p maker.Progress) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	before := p
	before.Session = 0
	for s := range 60 {
		before.Session = p.Session / 60 * s
		m.set(start.Add(time.Duration(s)*time.Second), before)
	}
	m.set(start.Add(time.Minute), p)
}

func TestView(t *testing.T) {
	for width, want := range map[int]string{
		120: `
 Towers of Hanoi with 20 disks
██████░░░░░░░░░░░░░░░░░░  25.0 %  262,144 of 1,048,575 steps  3,333/s  ETA 3m56s  1m30s so far
$12.50 of $20.00 ($7.50 left)  3.05 samples a step  1,234 contested  20,000 flagged  7 faults (both since the resume)
first to lead by 3
step 262,144  votes 2-1  1 in flight  1 flagged  2 retried
  ●● {"move":[1,0,2]}
  ● {"move":[1,0,1]}
openai/gpt-4.1-mini  3 of 16 in flight
compat  open circuit, next try in 0s: 503 overloaded
  compat/a  2 in flight
  compat/b  failing: 503 overloaded
contested lately: step 130 5-2, step 126 4-1
p pause  q cancel  ↑↓ enter show a step`,
		80: `
 Towers of Hanoi with 20 disks
██████░░░░░░░░░░░░░░░░░░  25.0 %  262,144 of 1,048,575 steps  3,333/s
ETA 3m56s  1m30s so far
$12.50 of $20.00 ($7.50 left)  3.05 samples a step  1,234 contested
20,000 flagged  7 faults (both since the resume)  first to lead by 3
step 262,144  votes 2-1  1 in flight  1 flagged  2 retried
  ●● {"move":[1,0,2]}
  ● {"move":[1,0,1]}
openai/gpt-4.1-mini  3 of 16 in flight
compat  open circuit, next try in 0s: 503 overloaded
  compat/a  2 in flight
  compat/b  failing: 503 overloaded
contested lately: step 130 5-2, step 126 4-1
p pause  q cancel  ↑↓ enter show a step`,
		40: `
 Towers of Hanoi with 20 disks
██████░░░░░░░░░░░░░░░░░░  25.0 %
262,144 of 1,048,575 steps  3,333/s
ETA 3m56s  1m30s so far
$12.50 of $20.00 ($7.50 left)
3.05 samples a step  1,234 contested
20,000 flagged
7 faults (both since the resume)
first to lead by 3
step 262,144  votes 2-1  1 in flight
1 flagged  2 retried
  ●● {"move":[1,0,2]}
  ● {"move":[1,0,1]}
openai/gpt-4.1-mini  3 of 16 in flight
compat  open circuit, next try in 0s: …
  compat/a  2 in flight
  compat/b  failing: 503 overloaded
contested lately: step 130 5-2, step 1…
p pause  q cancel  ↑↓ enter show a step`,
	} {
		m, _ := newModel(width, 40)
		m.head = Head{Task: "Towers of Hanoi with 20 disks", Form: event.FormChain, Rule: "first to lead by 3"}
		at60(m, busy)
		if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), m.View().Content); diff != "" {
			t.Errorf("on %d columns: -want +got\n%s", width, diff)
		}
	}
}

// TestViewOfAMeasurement: its samples are its progress, and it has neither steps nor votes.
func TestViewOfAMeasurement(t *testing.T) {
	m, _ := newModel(120, 40)
	m.head = Head{Task: "Measure the voters with 400 items of mails.csv", Form: event.FormMeasurement}
	at60(m, maker.Progress{
		Steps: 600, Total: 1200, Session: 600, Samples: 598, Faults: 2, Elapsed: time.Minute, Deciding: 63, Open: []runs.OpenQuestion{{Key: "calibrate/items/7/greedy", InFlight: 1}},
	})
	want := ` Measure the voters with 400 items of mails.csv
████████████░░░░░░░░░░░░  50.0 %  600 of 1,200 samples  10/s  ETA 1m0s  1m0s so far
$0.00  0 flagged  2 faults
p pause  q cancel`
	if diff := cmp.Diff(want, m.View().Content); diff != "" {
		t.Errorf("a measurement: -want +got\n%s", diff)
	}
}

// TestViewOfRecords: what their answers are, and how many of the known ones are right.
func TestViewOfRecords(t *testing.T) {
	p := maker.Progress{
		Steps: 600, Total: 1200, Session: 600, Samples: 1800, Contested: 12, Known: 90, Right: 83, Elapsed: time.Minute,
		Answers: map[string]int{`"bug"`: 400, `"billing"`: 100}, OtherAnswers: 100,
	}
	for width, want := range map[int]string{
		120: ` tickets.csv
████████████░░░░░░░░░░░░  50.0 %  600 of 1,200 records  10/s  ETA 1m0s  1m0s so far
$0.00  3.00 samples a step  12 contested  known: 83 of 90 right  0 flagged  0 faults
answers: bug 67 %, billing 17 %, others 17 %
p pause  q cancel`,
		40: ` tickets.csv
████████████░░░░░░░░░░░░  50.0 %
600 of 1,200 records  10/s  ETA 1m0s
1m0s so far
$0.00  3.00 samples a step
12 contested  known: 83 of 90 right
0 flagged  0 faults
answers: bug 67 %, billing 17 %, other…
p pause  q cancel`,
	} {
		m, _ := newModel(width, 40)
		m.head = Head{Task: "tickets.csv", Form: event.FormRecords}
		at60(m, p)
		if diff := cmp.Diff(want, m.View().Content); diff != "" {
			t.Errorf("records on %d columns: -want +got\n%s", width, diff)
		}
	}
}

func TestShares(t *testing.T) {
	many := map[string]int{}
	for i := range 12 {
		many[fmt.Sprint(i)] = 12 - i
	}
	for _, test := range []struct {
		answers map[string]int
		others  int
		want    string
	}{
		{nil, 0, ""},
		{map[string]int{`"bug"`: 1, `"other"`: 2, "7": 1}, 0, "other 50 %, bug 25 %, 7 25 %"},
		{many, 22, "0 12 %, 1 11 %, 2 10 %, 3 9 %, 4 8 %, 5 7 %, 6 6 %, 7 5 %, others 32 %"},
		{map[string]int{"\"\x1b[2J" + strings.Repeat("x", 100) + `"`: 3}, 1, `\x1b[2J` + strings.Repeat("x", 32) + "… 75 %, others 25 %"},
		{map[string]int{}, 5, "too different or too long to tell how often each came"},
	} {
		if got := Shares(maker.Progress{Answers: test.answers, OtherAnswers: test.others}); got != test.want {
			t.Errorf("Shares(%v, %d others) = %q, want %q", test.answers, test.others, got, test.want)
		}
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestOutlook: how likely it is that all is right, what that will cost, and that more votes
// are of no use.
func TestOutlook(t *testing.T) {
	m, _ := newModel(160, 40)
	m.head = Head{Task: "Hanoi", Form: event.FormChain}
	p := maker.Progress{Steps: 600, Total: 1200, Session: 600, Samples: 1200, Elapsed: time.Minute}
	p.Outlook = &adaptive.Outlook{Bound: .991, Forecast: .964, ExpectedWrong: .006, VotesToCome: 5000, USDToCome: new(0.85), Dearest: "hanoi"}
	at60(m, p)
	outlook := "P(all likeliest) 99.1 % so far  96.4 % at the end  0.006 expected wrong  about 5,000 votes to come for $0.85  most votes: hanoi"
	if got := m.View().Content; !strings.Contains(got, outlook) || strings.Contains(got, "near ties") {
		t.Errorf("the view is\n%s\nwant %q and nothing of near ties", got, outlook)
	}
	p.Outlook.USDToCome, p.Futile = nil, &adaptive.Futility{Races: 60, NearTies: 11.8, Share: .1, Steps: 1200, Chance: .001}
	m.p = p
	want := "more votes will not make it right: about 12 of 60 questions are near ties"
	if got := m.View().Content; !strings.Contains(got, want) || !strings.Contains(got, "5,000 votes to come  most") {
		t.Errorf("the view is\n%s\nwant %q and no cost to come", got, want)
	}
}

// TestViewFits: whatever the size of the terminal is and whatever others write, no line
// reaches the last column and all of them fit on the screen.
func TestViewFits(t *testing.T) {
	wide := busy
	wide.Outlook = &adaptive.Outlook{Bound: .991, Forecast: .964, ExpectedWrong: .006, VotesToCome: 5000, USDToCome: new(12.5), Dearest: "写测试在这里越多越好"}
	wide.Futile = &adaptive.Futility{Races: 6000, NearTies: 1180, Share: .1, Steps: 12000, Chance: .001}
	wide.Open = []runs.OpenQuestion{{Votes: []runs.OpenVotes{{Answer: "rm\u00a0-rf" + strings.Repeat("写测试👍é\u0301", 40) + "\x1b[2J\u202e", Votes: 12}}, InFlight: 3}}
	wide.Servers = append(wide.Servers, runs.Server{Models: []runs.ServerModel{{Name: strings.Repeat("模型", 40)}}, LastError: "down\nfor \x1b[2Jmaintenance\r\a"})
	wide.Answers = map[string]int{`"是"`: 3, `"no"`: 1}
	for _, color := range []bool{false, true} {
		for _, width := range []int{10, 11, 17, 30, 40, 41, 63, 80, 99, 120} {
			for _, height := range []int{2, 3, 5, 8, 12, 24, 50} {
				m, _ := newModel(width, height)
				m.color, m.head = color, Head{Task: "写测试 \x1b[2J在这里，越多越好。" + strings.Repeat(" on and on", 20), Form: event.FormTasks}
				m.take(outlineOf(t, "- 写测试在这里，越多越好。\n- e\u0301t\u0301e\u0301 and a 👍 and so on and on and on.\n- c\n- d\n- e\n- f\n- g\n- h"), noLoad)
				at60(m, wide)
				for _, key := range []string{"", "j", "j", "\n", "q"} {
					m.Update(typed(key))
					content := m.View().Content
					lines := strings.Split(content, "\n")
					if len(lines) > max(1, height-1) {
						t.Fatalf("on %d x %d there are %d lines:\n%s", width, height, len(lines), content)
					}
					for _, line := range lines {
						if w := lipgloss.Width(line); w >= width && width > 10 {
							t.Fatalf("on %d columns a line has %d: %q", width, w, line)
						}
						plain := line
						if color {
							plain = escapes.ReplaceAllString(line, "")
						}
						if strings.ContainsAny(plain, "\x1b\r\a\u202e\u00a0") {
							t.Fatalf("the terminal gets %q", line)
						}
					}
				}
			}
		}
	}
}

func outlineOf(t testing.TB, text string) event.OutlineCreated {
	t.Helper()
	list, err := outline.PlanTasks(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := outline.NewPlanner(list, nil)
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := json.Marshal(p.State.Tasks)
	if err != nil {
		t.Fatal(err)
	}
	return event.OutlineCreated{Tasks: event.JSONValue(tasks)}
}

// TestList follows an outline on the screen, and looks into one of its tasks.
func TestList(t *testing.T) {
	m, _ := newModel(60, 30)
	m.head = Head{Task: "five tasks", Form: event.FormTasks}
	m.take(outlineOf(t, "- [x] Old.\n- Look.\n- Ask.\n- Fail.\n- Rest."), noLoad)
	votes := event.Voting{Samples: 4, Votes: map[string]int{`"x"`: 3, `"y"`: 1}}
	for _, e := range []event.Event{
		event.StepStarted{Step: 1}, event.SampleCompleted{Sample: event.Sample{Step: 1, Model: "m"}, Vote: `"x"`},
		event.SampleRedFlagged{Sample: event.Sample{Step: 1, Model: "m"}, Flag: "too_long", Reason: "it is too long"},
		event.VoteCompleted{Step: 1, Status: "decided", Answer: event.TextValue("x"), Voting: votes},
		event.EffectClaimed{Step: 1, Tool: "Bash", Input: event.JSONValue([]byte(`{"command":"ls"}`)), Approved: "rule: allow Bash"},
		event.StepCompleted{Step: 1, Voting: votes, Output: event.TextValue("x")},
		event.StepStarted{Step: 3}, event.StepFailed{Step: 3, Reason: "no luck"},
		event.StepStarted{Step: 4}, event.ClarificationRequested{Step: 4, Text: "Which?"},
		event.StepStarted{Step: 2}, event.ClarificationRequested{Step: 2, Text: "Which?"}, event.ClarificationProvided{Step: 2, Answer: "this"},
	} {
		shown := m.take(e, noLoad)
		_, started := e.(event.StepStarted)
		_, completed := e.(event.StepCompleted)
		if shown != (started || completed) {
			t.Errorf("take(%s) = %t: is it in the list?", e.Type(), shown)
		}
	}
	m.set(time.Now(), maker.Progress{})
	has := func(when string, want ...string) {
		t.Helper()
		content := m.View().Content
		for _, line := range want {
			if !strings.Contains("\n"+content+"\n", "\n"+line+"\n") {
				t.Errorf("%s: %q is not on the screen:\n%s", when, line, content)
			}
		}
	}
	has("the list", "[x] 1. Old.", "[x] 2. Look.  3-1", "[>] 3. Ask.", "[!] 4. Fail.", "[?] 5. Rest.")
	if !strings.Contains(m.View().Content, "3 of 5 tasks") {
		t.Errorf("the tasks that are over are not counted:\n%s", m.View().Content)
	}
	m.Update(typed("\x1b[A"))
	has("chosen", "> [>] 3. Ask.")
	m.Update(typed("\x1b[A"))
	m.Update(typed("\n"))
	has("opened", "> [x] 2. Look.  3-1", `    vote m, "x"`, "    discarded, m: it is too long (too_long)", `    votes 3-1: "x"`,
		`    call   Bash $ ls (rule: allow Bash)`, `    came to "x"`, "      dissent: 1 vote for \"y\" instead of \"x\"")
	m.Update(typed("\x1b"))
	m.Update(typed("\x1b"))
	has("closed", "[x] 2. Look.  3-1")

	m.leave(handed)
	has("before a question", "[>] 3. Ask.", "")
	m.keepLast = true
	m.leave(over)
	has("at the end", "[x] 2. Look.  3-1", "[!] 4. Fail.", "")
}

// TestListOfAPlan: steps that are planned anew are numbered on.
func TestListOfAPlan(t *testing.T) {
	step := func(n, next int, title string) string {
		return fmt.Sprintf(`- {step: %d, task_type: action_step, title: %s, task_description: d, primary_tools: [], fallback_tools: [], primary_tool_instructions: "", fallback_tool_instructions: "", input_variables: [], output_variable: step_%d_output, output_schema: "x: string", next_step_sequence_number: %d}`+"\n", n, title, n, next)
	}
	valid := func(replan int, steps string) event.ValidationPassed {
		return event.ValidationPassed{Replan: replan, Plan: event.TextValue("reasoning: r\nplan:\n" + steps)}
	}
	m, _ := newModel(60, 30)
	m.take(valid(0, step(0, 1, "zero")+step(1, 2, "one")+step(2, -1, "two")), noLoad)
	for _, e := range []event.Event{
		event.StepStarted{Step: 0}, event.StepCompleted{Step: 0}, event.StepStarted{Step: 1}, event.StepFailed{Step: 1},
		valid(1, step(0, 1, "other")+step(1, -1, "last")), event.StepStarted{Step: 2, Title: "other"}, event.StepStarted{Step: 9, Title: "repeated"},
	} {
		m.take(e, noLoad)
	}
	var got []string
	for _, i := range m.list.items {
		got = append(got, Mark(i.status)+" "+i.name+" "+i.title)
	}
	if diff := cmp.Diff([]string{"[x] 0 zero", "[!] 1 one", "[>] 2 other", "[ ] 3 last", "[>] 9 repeated"}, got); diff != "" {
		t.Errorf("the list: -want +got\n%s", diff)
	}
}

func TestListWithoutTasks(t *testing.T) {
	m, _ := newModel(40, 20)
	for _, e := range []event.Event{
		event.StepStarted{Step: 0}, event.OutlineCreated{Tasks: event.TextValue("no list")}, event.ValidationPassed{Plan: event.TextValue("no plan")},
	} {
		m.take(e, noLoad)
	}
	lost := func(event.Value) (event.Value, error) { return event.Value{}, errors.New("lost") }
	m.take(outlineOf(t, "- a"), lost)
	if shown := m.take(event.StepStarted{}, noLoad); shown || len(m.list.items) != 0 {
		t.Errorf("the list has %d items, want none, and every event its line", len(m.list.items))
	}
	m.leave(handed)
	if got := m.View().Content; strings.TrimSpace(got) != "" {
		t.Errorf("before a question there is %q, want nothing", got)
	}
}

// TestListWindow: of many tasks those around the current one are shown, and the rest is
// counted.
func TestListWindow(t *testing.T) {
	m, _ := newModel(60, 16)
	for i := range 100 {
		m.list.items = append(m.list.items, item{step: i, name: fmt.Sprintf("%d.", i+1), title: "x", status: outline.StatusPlanned})
	}
	for i := range 50 {
		m.list.set(i, outline.StatusCompleted)
	}
	m.list.set(3, outline.StatusFailed)
	m.list.set(50, outline.StatusRunning)
	want := []string{"  … 47 done, 1 failed", "[x] 49. x", "[x] 50. x", "[>] 51. x", "[ ] 52. x", "[ ] 53. x", "[ ] 54. x", "  … 46 to do"}
	if diff := cmp.Diff(want, m.shown(8)); diff != "" {
		t.Errorf("shown(8): -want +got\n%s", diff)
	}
}

func TestKeys(t *testing.T) {
	for _, test := range []struct {
		name  string
		phase phase
		keys  []string
		want  []string
	}{
		{"pause", running, []string{"p"}, []string{"pause"}},
		{"pause once", running, []string{"p", "p"}, []string{"pause"}},
		{"cancel is asked about", running, []string{"q"}, nil},
		{"and can be declined", running, []string{"q", "n", "y"}, []string{`ignored "y"`}},
		{"or confirmed", running, []string{"q", "y"}, []string{"cancel"}},
		{"go on", paused, []string{"p"}, []string{"go on"}},
		{"leave it paused", paused, []string{"q"}, []string{"cancel"}},
		{"typed before a question", running, []string{"yes\n", "qy", "x"}, []string{`ignored "yes\n"`, `ignored "qy"`, `ignored "x"`}},
		{"nothing to choose", running, []string{"j", "\n", "\x1b"}, nil},
		{"cancelling already", cancelling, []string{"p", "q", "y"}, []string{`ignored "y"`}},
	} {
		m, done := newModel(80, 24)
		m.phase = test.phase
		for _, key := range test.keys {
			m.Update(typed(key))
		}
		if diff := cmp.Diff(test.want, *done, cmp.Transformer("", func(s []string) string { return strings.Join(s, ",") })); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
}

// TestContests: where steps are not listed, the contested ones can be looked into.
func TestContests(t *testing.T) {
	m, _ := newModel(80, 24)
	at60(m, busy)
	m.Update(typed("j"))
	m.Update(typed("k"))
	m.Update(typed("\n"))
	for _, want := range []string{"> [x] step 126 contested  4-1", "    5 samples, 0 flagged, 0 faults", `    won: "a"`, `    1 vote for "b" instead of "a"`} {
		if !strings.Contains(m.View().Content, want) {
			t.Errorf("%q is not on the screen:\n%s", want, m.View().Content)
		}
	}
}

// TestContestsOfScripts: they say who asks.
func TestContestsOfScripts(t *testing.T) {
	m, _ := newModel(80, 24)
	m.head.Form = event.FormScript
	p := busy
	p.Contests = []runs.Contest{
		{Question: "main/map/0/12/queue/ask/3f2a9c01/0", Step: 12, Status: "decided", Voting: event.Voting{Votes: map[string]int{"a": 4, "b": 1}}},
		{Question: "main/chain/0/turn/7/act/3f2a9c01/0/move/1", Step: 40, Status: "undecided", Voting: event.Voting{Votes: map[string]int{"a": 1, "b": 1}}},
	}
	at60(m, p)
	m.Update(typed("j"))
	for _, want := range []string{"step 12 contested main/map/0/12/queue  4-1", "step 40 undecided main/chain/0/turn/7  1-1"} {
		if !strings.Contains(m.View().Content, want) {
			t.Errorf("%q is not on the screen:\n%s", want, m.View().Content)
		}
	}
}

func TestServerState(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		server runs.Server
		want   string
		look   look
	}{
		{runs.Server{Limit: 16, InFlight: 3}, "3 of 16 in flight", dim},
		{runs.Server{Limit: 16, InFlight: 16, Waiting: 1200}, "limited to 16 at once, 1,200 waiting", yellow},
		{runs.Server{Limit: 4, InFlight: 1, LastError: "500"}, "failing, 1 of 4 in flight: 500", yellow},
		{runs.Server{Limit: 4, Until: now.Add(5 * time.Second), LastError: "429"}, "limited, next call in 5s: 429", yellow},
		{runs.Server{Failing: true, Until: now.Add(1500 * time.Millisecond), LastError: "503"}, "open circuit, next try in 1.5s: 503", red},
	} {
		if got, look := serverState(test.server, now); got != test.want || look != test.look {
			t.Errorf("serverState(%+v) = %q, %d, want %q, %d", test.server, got, look, test.want, test.look)
		}
	}
}

func TestHelp(t *testing.T) {
	for want, set := range map[string]func(*Model){
		"p pause  q cancel":  func(*Model) {},
		"Ctrl-C cancels":     func(m *Model) { m.keys = false },
		"cancel the run?":    func(m *Model) { m.asking = true },
		"pausing":            func(m *Model) { m.phase = pausing },
		"paused: p goes on":  func(m *Model) { m.phase = paused },
		"cancelling; Ctrl-C": func(m *Model) { m.phase = cancelling },
	} {
		m, _ := newModel(120, 24)
		set(m)
		if got := m.help(); !strings.HasPrefix(got, want) {
			t.Errorf("help() = %q, want %q", got, want)
		}
	}
}

// TestChosenEntry: choosing a step hides nothing of it but what there is no room for.
func TestChosenEntry(t *testing.T) {
	m, _ := newModel(40, 24)
	e := item{name: "14.", title: "Work on 日本語テキスト number fourteen", status: outline.StatusCompleted, votes: "5-2"}
	for chosen, want := range map[bool]string{
		false: "[x] 14. Work on 日本語テキスト nu…  5-2",
		true:  "> [x] 14. Work on 日本語テキスト …  5-2",
	} {
		if got := m.entry(e, chosen); got != want {
			t.Errorf("entry(chosen %t) = %q, want %q", chosen, got, want)
		}
	}
}

// TestViewOfOne: one is not many, and records are called so.
func TestViewOfOne(t *testing.T) {
	m, _ := newModel(120, 24)
	m.head.Form = event.FormRecords
	m.set(time.Now(), maker.Progress{Total: 1, Samples: 1, Deciding: 1, Open: []runs.OpenQuestion{{Step: 0, InFlight: 1}}})
	view := m.View().Content
	for _, want := range []string{"0 of 1 record ", "  1 sample ", "\nrecord 1  1 in flight\n"} {
		if !strings.Contains(view, want) {
			t.Errorf("%q is not shown:\n%s", want, view)
		}
	}
	m.width, m.opened, m.choosing = 40, true, true
	if got := m.help(); !strings.HasSuffix(got, "enter close") {
		t.Errorf("help(an open step, 40 columns) = %q, want all of it", got)
	}
}

// TestCursor: the cursor rests where the drawing begins, and looks as it did.
func TestCursor(t *testing.T) {
	m, _ := newModel(80, 24)
	m.Update(tea.WindowSizeMsg{Width: 50, Height: 10})
	v := m.View()
	if m.width != 50 || m.height != 10 || v.Cursor == nil || v.Cursor.X != 0 || v.Cursor.Y != 0 || v.AltScreen {
		t.Errorf("View() has the cursor %+v on %d x %d, want it at the beginning", v.Cursor, m.width, m.height)
	}
}

func TestWrap(t *testing.T) {
	got := Wrap("Asked once for each step, 日本語 and incomprehensibilities.", 20)
	want := []string{"Asked once for each", "step, 日本語 and", "incomprehensibilitie", "s."}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Wrap() -want +got\n%s", diff)
	}
}
