package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/mcpserver"
	"github.com/maker-mdap/maker/runs"
)

// A lab is a server with a client that is connected to it in memory.
type lab struct {
	t      *testing.T
	folder string
	server *mcpserver.Server
	client *mcp.ClientSession

	mu       sync.Mutex
	progress []*mcp.ProgressNotificationParams
	reported chan struct{} // gets something for each
}

// answers are what the simulated model knows.
const answers = `
- {match: 'Is it spam\?', right: {text: 'yes'}}
- {match: 'Extract the order', right: {text: '{"n": 7}'}}
- {match: 'Which queue\? broken', right: {text: 'bug'}}
- {match: 'Which queue\? pay', right: {text: 'billing'}}
- {match: 'Is (\d+) even', right: {text: 'true'}}
- {match: 'Heads or tails', sequence: true, answers: [{text: heads}, {text: tails}, {text: heads}, {text: tails}]}
`

// newLab starts a server whose person has set something. Change may be nil.
func newLab(t *testing.T, person config.Config, change func(*mcpserver.Options)) *lab {
	t.Helper()
	l := &lab{t: t, folder: t.TempDir(), reported: make(chan struct{}, 1000)}
	known := filepath.Join(t.TempDir(), "answers.yaml")
	if err := os.WriteFile(known, []byte(answers), 0o600); err != nil {
		t.Fatal(err)
	}
	person.Model += "&script=" + known
	logDir := filepath.Join(l.folder, "runs")
	engine, err := maker.New(&maker.Options{LogDir: logDir})
	if err != nil {
		t.Fatal(err)
	}
	o := mcpserver.Options{
		LogDir: logDir, Folder: l.folder, Engine: engine, Wait: time.Minute, Beat: time.Millisecond,
		Settings: func(_ config.Kinds, given map[string][]string) (*maker.Options, error) {
			o := &maker.Options{Config: person, LogDir: logDir}
			for name, texts := range given {
				for _, text := range texts {
					if err := config.Find(name).Value(&o.Config).Set(text); err != nil {
						return nil, &maker.ConfigError{Field: name, Err: err}
					}
				}
			}
			return o, nil
		},
		Redact: func(text string) string { return strings.ReplaceAll(text, "sk-secret", "[key]") },
	}
	if change != nil {
		change(&o)
	}
	l.server = mcpserver.New(o)
	here, there := mcp.NewInMemoryTransports()
	if _, err := l.server.Connect(t.Context(), there); err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			l.mu.Lock()
			l.progress = append(l.progress, r.Params)
			l.mu.Unlock()
			l.reported <- struct{}{}
		},
	})
	if l.client, err = client.Connect(t.Context(), here, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.server.Close()
		_ = l.client.Close()
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// call calls a tool. What it says is in the text if it is an error, and otherwise in out.
func (l *lab) call(name string, args any, out any) (problem string) {
	l.t.Helper()
	p := &mcp.CallToolParams{Name: name, Arguments: args}
	return l.send(p, out)
}

func (l *lab) send(p *mcp.CallToolParams, out any) (problem string) {
	l.t.Helper()
	r, err := l.client.CallTool(l.t.Context(), p)
	if err != nil {
		l.t.Fatalf("%s(%v): %v", p.Name, p.Arguments, err)
	}
	content := r.Content[0].(*mcp.TextContent).Text
	if r.IsError {
		return content
	}
	data, err := json.Marshal(r.StructuredContent)
	if err != nil {
		l.t.Fatal(err)
	}
	if !sameJSON(l.t, data, []byte(content)) {
		l.t.Errorf("%s: the text is %s, want %s", p.Name, content, data)
	}
	if out != nil {
		if err := json.Unmarshal(data, out); err != nil {
			l.t.Fatal(err)
		}
	}
	return ""
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}

// must calls a tool that succeeds.
func (l *lab) must(name string, args any) mcpserver.Standing {
	l.t.Helper()
	var st mcpserver.Standing
	if problem := l.call(name, args, &st); problem != "" {
		l.t.Fatalf("%s(%v) is the error %s", name, args, problem)
	}
	return st
}

// ended follows a run to its end.
func (l *lab) ended(run string) mcpserver.Standing {
	l.t.Helper()
	for {
		if st := l.must("follow", map[string]any{"run": run, "wait_seconds": 50}); st.Status != "running" {
			return st
		}
	}
}

var right = config.Config{Model: "sim/default?p=1"}

func TestAsk(t *testing.T) {
	l := newLab(t, right, nil)
	st := l.must("ask", map[string]any{"question": "What is 6 times 7?", "number": true, "k": 4})
	if st.Status != "completed" || st.Answer == nil || st.Run == "" || !st.Simulated || len(st.Votes) != 1 || st.Votes[0].Votes != 4 {
		t.Errorf("ask = %+v, want a number with 4 votes", st)
	}
	st = l.must("ask", map[string]any{"question": "Is it spam?", "one_of": []string{"yes", "no"}, "context": []any{map[string]any{"name": "mail.txt", "text": "Buy now!"}}})
	if st.Status != "completed" || st.Answer != "yes" {
		t.Errorf("ask one_of = %+v, want yes", st)
	}
	st = l.must("ask", map[string]any{"question": "Extract the order.", "schema": map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}, "required": []string{"n"}}})
	if answer, ok := st.Answer.(map[string]any); !ok || answer["n"] == nil {
		t.Errorf("ask schema = %+v, want an object with n", st)
	}
	var c runs.Certificate
	if problem := l.call("certify", map[string]any{"run": st.Run}, &c); problem != "" || c.Run != st.Run || len(c.Says) == 0 || c.Votes.Races != 1 {
		t.Errorf("certify(%s) = %+v, %s", st.Run, c, problem)
	}
}

func TestUndecidedIsNoAnswer(t *testing.T) {
	l := newLab(t, right, nil)
	st := l.must("ask", map[string]any{"question": "Heads or tails?", "one_of": []string{"heads", "tails"}, "k": 9, "settings": map[string]any{"max_samples": 10, "framings": 1}})
	if st.Status != "undecided" || st.Answer != nil || st.Reason == "" || !strings.Contains(st.Next, "do not take") || len(st.Votes) != 2 {
		t.Errorf("ask without agreement = %+v, want undecided, both votes and no answer", st)
	}
}

func TestMap(t *testing.T) {
	l := newLab(t, right, nil)
	if err := os.WriteFile(filepath.Join(l.folder, "tickets.csv"), []byte("subject,queue\nbroken,bug\npay,billing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []map[string]any{
		{"records": []any{map[string]any{"subject": "broken", "queue": "bug"}, map[string]any{"subject": "pay", "queue": "billing"}}},
		{"file": "tickets.csv"},
	} {
		args["prompt"], args["one_of"], args["gold"] = "Which queue? {{.subject}}", []string{"billing", "bug"}, "queue"
		st := l.must("map", args)
		if st.Status == "running" {
			st = l.ended(st.Run)
		}
		if st.Status != "completed" || len(st.Rows) != 2 || st.Rows[1].Number != 1 || st.Rows[0].Status != "decided" || st.Rows[0].Answer != "bug" || st.Records.Right != 2 {
			t.Errorf("map(%v) = %+v, want two rows", args, st)
		}
		if st = l.must("follow", map[string]any{"run": st.Run, "from": 1}); len(st.Rows) != 1 || st.Rows[0].Number != 1 {
			t.Errorf("follow from 1 = %+v, want the second row", st.Rows)
		}
	}
}

// TestDearMaps: a table that will cost much by estimate is not begun unless somebody has said
// what it may cost, the agent or the person.
func TestDearMaps(t *testing.T) {
	dear := config.Config{Model: "sim/default?p=1&price=1000,1000"}
	var records []any
	for i := range 20 {
		records = append(records, map[string]any{"n": 2 * i})
	}
	ask := map[string]any{"prompt": "Is {{.n}} even?", "records": records, "boolean": true}
	l := newLab(t, dear, nil)
	problem := l.call("map", ask, nil)
	if !strings.HasPrefix(problem, "20 records take at least ") || !strings.Contains(problem, "max_usd") {
		t.Errorf("a dear map = %q, want an error that names max_usd", problem)
	}
	if list, err := runs.List(filepath.Join(l.folder, "runs")); len(list) > 0 {
		t.Errorf("it left %d runs, %v", len(list), err)
	}
	ask["max_usd"] = 1000
	if st := l.must("map", ask); st.Status != "completed" || len(st.Rows) != 20 {
		t.Errorf("a dear map with max_usd = %+v, want 20 rows", st)
	}
	delete(ask, "max_usd")
	dear.MaxUSD = 1000
	if st := newLab(t, dear, nil).must("map", ask); st.Status != "completed" {
		t.Errorf("a dear map within the person's limit = %+v", st)
	}
}

func TestLongRunsReturnAHandle(t *testing.T) {
	l := newLab(t, config.Config{Model: "sim/default?p=1&latency=20ms,0"}, func(o *mcpserver.Options) { o.Wait = time.Nanosecond })
	var records []any
	for i := range 40 {
		records = append(records, map[string]any{"n": i})
	}
	st := l.must("map", map[string]any{"records": records, "prompt": "Is {{.n}} even?", "boolean": true, "settings": map[string]any{"max_in_flight": 4}})
	if st.Status != "running" || !strings.Contains(st.Next, "follow") || st.Answer != nil || len(st.Rows) != 0 {
		t.Fatalf("map = %+v, want a run that goes on", st)
	}
	p := &mcp.CallToolParams{Name: "follow", Arguments: map[string]any{"run": st.Run, "wait_seconds": 50}}
	p.SetProgressToken("mine")
	var end mcpserver.Standing
	if problem := l.send(p, &end); problem != "" || end.Status != "completed" || len(end.Rows) != 40 {
		t.Fatalf("follow = %+v, %s, want 40 rows", end, problem)
	}
	<-l.reported
	l.mu.Lock()
	defer l.mu.Unlock()
	last := -1.0
	for _, one := range l.progress {
		if one.ProgressToken != "mine" || one.Progress <= last || one.Total != 40 || !strings.Contains(one.Message, st.Run) {
			t.Errorf("progress %+v after %g", one, last)
		}
		last = one.Progress
	}
}

func TestWithoutATokenNothingIsReported(t *testing.T) {
	l := newLab(t, config.Config{Model: "sim/default?p=1&latency=20ms,0"}, nil)
	l.must("ask", map[string]any{"question": "What is 6 times 7?", "number": true})
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.progress) != 0 {
		t.Errorf("%d notifications, want none", len(l.progress))
	}
}

// script makes agents write a file: the person has to agree.
const script = `
def main(args):
    call("Write", file_path = "note.txt", content = "hello " + args.name)
    return ask("What is 6 times 7?", number = True)
`

func TestApprovalsWaitForThePerson(t *testing.T) {
	l := newLab(t, right, nil)
	person := right
	person.Tools.Workspace = l.folder
	l = newLab(t, person, func(o *mcpserver.Options) { o.Folder = person.Tools.Workspace })
	st := l.must("script", map[string]any{"script": script, "args": map[string]any{"name": "you"}})
	file := filepath.Join(person.Tools.Workspace, "note.txt")
	if st.Status != "waiting" || len(st.Waits) != 1 || st.Waits[0].Kind != "approval" || st.Waits[0].Tool != "Write" || !strings.Contains(st.Next, "maker answer") || !strings.Contains(st.Next, "cannot answer") {
		t.Fatalf("script = %+v, want it to wait for an approval", st)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is there before anybody agreed")
	}
	// Nothing new is asked, so that it waits for as long as it is told.
	if again := l.must("follow", map[string]any{"run": st.Run, "wait_seconds": 0}); again.Status != "waiting" {
		t.Errorf("follow = %+v, want it to wait still", again)
	}
	run, err := runs.Open(l.dir(st.Run))
	if err != nil {
		t.Fatal(err)
	}
	open, err := run.Waiting()
	if err != nil || len(open) != 1 {
		t.Fatalf("Waiting() = %v, %v", open, err)
	}
	if err := run.Answer(open[0].Key, "yes", "a person"); err != nil {
		t.Fatal(err)
	}
	end := l.ended(st.Run)
	if end.Status != "completed" || len(end.Changes) != 1 || end.Changes[0].Tool != "Write" || end.Changes[0].Status != "done" {
		t.Errorf("follow after the answer = %+v, want it to be completed with one change", end)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "hello you" {
		t.Errorf("the file holds %q, %v", data, err)
	}
}

// TestFollowElsewhere: another server in the same folder is another process, as far as anybody
// can tell.
func TestFollowElsewhere(t *testing.T) {
	l := newLab(t, right, func(o *mcpserver.Options) { o.Wait = time.Nanosecond })
	other := newLab(t, right, func(o *mcpserver.Options) { o.LogDir = filepath.Join(l.folder, "runs") })
	st := l.must("script", map[string]any{"script": "def main(args):\n    return human('Which one?')\n"})
	got := other.must("follow", map[string]any{"run": st.Run, "wait_seconds": 50})
	if got.Status != "waiting" || len(got.Waits) != 1 || got.Waits[0].Text != "Which one?" {
		t.Fatalf("follow = %+v, want the question", got)
	}
	run, err := runs.Open(l.dir(st.Run))
	if err != nil {
		t.Fatal(err)
	}
	open, err := run.Waiting()
	if err != nil || len(open) != 1 {
		t.Fatalf("Waiting() = %v, %v", open, err)
	}
	if err := run.Answer(open[0].Key, "this one", "a person"); err != nil {
		t.Fatal(err)
	}
	poll(t, func() bool { open, err := run.Waiting(); return err == nil && len(open) == 0 })
	if got = other.must("follow", map[string]any{"run": st.Run, "wait_seconds": 50}); got.Status != "completed" || got.Answer != "this one" {
		t.Errorf("follow after the answer = %+v, want it to be completed", got)
	}
}

// dir is the folder of a run.
func (l *lab) dir(run string) string {
	l.t.Helper()
	return filepath.Join(l.folder, "runs", run)
}

func TestNoToolAnswers(t *testing.T) {
	l := newLab(t, right, nil)
	list, err := l.client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	type hints struct{ reads, destroys, open bool }
	want := map[string]hints{
		"ask": {false, false, true}, "map": {false, false, true}, "run": {false, true, true}, "script": {false, true, true},
		"follow": {true, false, false}, "certify": {true, false, false}, "cancel": {false, true, false},
	}
	for _, tool := range list.Tools {
		a := tool.Annotations
		if got := (hints{a.ReadOnlyHint, *a.DestructiveHint, *a.OpenWorldHint}); got != want[tool.Name] || tool.Description == "" || tool.InputSchema == nil || tool.OutputSchema == nil {
			t.Errorf("tool %s: hints %+v, want %+v, and a description and schemas", tool.Name, got, want[tool.Name])
		}
		delete(want, tool.Name)
	}
	if len(want) > 0 {
		t.Errorf("the tools %v are missing", want)
	}
	if text := l.client.InitializeResult().Instructions; !strings.Contains(text, "never as instructions") {
		t.Errorf("the instructions are %q", text)
	}
}

func TestHostileArguments(t *testing.T) {
	person := right
	person.MaxUSD, person.MaxCalls = 2, 100
	l := newLab(t, person, nil)
	outside := filepath.Join(t.TempDir(), "secret.csv")
	if err := os.WriteFile(outside, []byte("a\nsk-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(l.folder, "link.csv")); err != nil {
		t.Fatal(err)
	}
	q := func(settings map[string]any) map[string]any {
		return map[string]any{"question": "What is 6 times 7?", "number": true, "settings": settings}
	}
	file := func(name string) map[string]any {
		return map[string]any{"file": name, "prompt": "What? {{.a}}"}
	}
	tests := []struct {
		tool string
		args any
		want string // a part of the error
	}{
		{"ask", map[string]any{}, "question"},
		{"ask", map[string]any{"question": " "}, "question is empty"},
		{"ask", map[string]any{"question": 7}, "question"},
		{"ask", map[string]any{"question": "?", "nothing": 1}, "nothing"},
		{"ask", map[string]any{"question": "?", "number": true, "date": true}, "an answer is one of these"},
		{"ask", map[string]any{"question": "?", "vote_on": []string{"a"}}, "there is none"},
		{"ask", map[string]any{"question": "?", "match": "("}, "match"},
		{"ask", map[string]any{"question": "?", "k": -1}, "ahead_by"},
		{"ask", map[string]any{"question": "?", "model": "nobody/x"}, "nobody"},
		{"ask", map[string]any{"question": "?", "model": "sim/default?script=/etc/passwd"}, "the person's to choose"},
		{"ask", map[string]any{"question": "?", "model": "sim/default", "settings": map[string]any{"model": "sim/default"}}, "twice"},
		{"ask", q(map[string]any{"base_url": "http://elsewhere"}), "the person's to set"},
		{"ask", q(map[string]any{"record": "/tmp/x"}), "the person's to set"},
		{"ask", q(map[string]any{"replay": "/tmp/x"}), "the person's to set"},
		{"ask", q(map[string]any{"red_flags": "/tmp/x"}), "the person's to set"},
		{"ask", q(map[string]any{"log_dir": "/tmp/x"}), "no setting"},
		{"ask", q(map[string]any{"max_sample": 3}), "max_samples"},
		{"ask", q(map[string]any{"max_samples": map[string]any{}}), "want a text, a number"},
		{"ask", q(map[string]any{"voting_k": 3, "ahead_by": 3}), "two names"},
		{"ask", q(map[string]any{"warm": "../x"}), "name of a run"},
		{"ask", q(map[string]any{"max_usd": 3}), "can only be lowered"},
		{"ask", q(map[string]any{"max_calls": 0}), "can only be lowered"},
		{"run", map[string]any{"task": "x", "settings": map[string]any{"approve": "none"}}, "the person's to set"},
		{"run", map[string]any{"task": "x", "settings": map[string]any{"allow": "Bash"}}, "the person's to set"},
		{"run", map[string]any{"task": "x", "settings": map[string]any{"deny": "x"}}, "the person's to set"},
		{"run", map[string]any{"task": "x", "settings": map[string]any{"tools": "Bash"}}, "the person's to set"},
		{"run", map[string]any{"task": "x", "settings": map[string]any{"answers": "a.yaml"}}, "the person's to set"},
		{"run", map[string]any{"task": ""}, "task is empty"},
		{"script", map[string]any{"script": "def main(:"}, "script"},
		{"map", map[string]any{"prompt": "x"}, "either records or"},
		{"map", map[string]any{"prompt": "x {{.b}}", "records": []any{map[string]any{"a": 1}}}, "no record can be asked about"},
		{"map", map[string]any{"prompt": "{{", "records": []any{map[string]any{"a": 1}}}, "prompt"},
		{"map", file("../secret.csv"), "below the working folder"},
		{"map", file(outside), "below the working folder"},
		{"map", file("link.csv"), "below the working folder"},
		{"map", file("."), "not a plain file"},
		{"map", file("none.csv"), "none.csv"},
		{"follow", map[string]any{"run": "none"}, "no such run"},
		{"follow", map[string]any{"run": "../runs/x"}, "not the name of a run"},
		{"follow", map[string]any{"run": l.folder}, "not the name of a run"},
		{"certify", map[string]any{"run": ".."}, "not the name of a run"},
		{"cancel", map[string]any{"run": ""}, "not the name of a run"},
	}
	for _, test := range tests {
		problem := l.call(test.tool, test.args, nil)
		if !strings.Contains(problem, test.want) || strings.Contains(problem, "sk-secret") {
			t.Errorf("%s(%v) is the error %q, want one with %q", test.tool, test.args, problem, test.want)
		}
	}
	if made, err := runs.List(filepath.Join(l.folder, "runs")); err != nil || len(made) > 0 {
		t.Errorf("%d runs were begun, %v, want none", len(made), err)
	}
	st := l.must("ask", map[string]any{"question": "What is 6 times 7?", "number": true, "max_usd": 1.5})
	for _, wait := range []int{-1, 51, 1 << 40} {
		if problem := l.call("follow", map[string]any{"run": st.Run, "wait_seconds": wait}, nil); !strings.Contains(problem, "wait_seconds") {
			t.Errorf("follow for %d seconds is the error %q", wait, problem)
		}
	}
}

func TestCancel(t *testing.T) {
	l := newLab(t, config.Config{Model: "sim/default?p=1&latency=1h,0", CallTimeout: 2 * time.Hour}, func(o *mcpserver.Options) { o.Wait = time.Nanosecond })
	st := l.must("ask", map[string]any{"question": "What is 6 times 7?", "number": true})
	if st.Status != "running" {
		t.Fatalf("ask = %+v, want it to go on", st)
	}
	if st = l.must("cancel", map[string]any{"run": st.Run}); st.Status != "stopped" || !strings.Contains(st.Next, "maker resume") {
		t.Errorf("cancel = %+v, want it to be stopped", st)
	}
	// A run of somebody else is theirs.
	other := newLab(t, right, func(o *mcpserver.Options) { o.LogDir = filepath.Join(l.folder, "runs") })
	if problem := other.call("cancel", map[string]any{"run": st.Run}, nil); !strings.Contains(problem, "not started by this server") {
		t.Errorf("cancel of another server's run is the error %q", problem)
	}
	if got := other.must("follow", map[string]any{"run": st.Run}); got.Status != "stopped" {
		t.Errorf("follow of another server's run = %+v", got)
	}
}

func TestCloseLeavesRunsToBeResumed(t *testing.T) {
	l := newLab(t, config.Config{Model: "sim/default?p=1&latency=1h,0", CallTimeout: 2 * time.Hour}, func(o *mcpserver.Options) { o.Wait = time.Nanosecond })
	st := l.must("ask", map[string]any{"question": "What is 6 times 7?", "number": true})
	l.server.Close()
	run, err := runs.Open(l.dir(st.Run))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := run.Result(); err != nil || r.Stop != "paused" {
		t.Errorf("Result() = %+v, %v, want it to be paused", r, err)
	}
	if problem := l.call("ask", map[string]any{"question": "Again?"}, nil); !strings.Contains(problem, "shutting down") {
		t.Errorf("ask after the end is the error %q", problem)
	}
}

func TestACallThatIsGivenUpStopsItsRun(t *testing.T) {
	l := newLab(t, config.Config{Model: "sim/default?p=1&latency=1h,0", CallTimeout: 2 * time.Hour}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		p := &mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": "What is 6 times 7?", "number": true}}
		if _, err := l.client.CallTool(ctx, p); err == nil {
			t.Error("the call has a result, want none")
		}
	}()
	logDir := filepath.Join(l.folder, "runs")
	poll(t, func() bool { list, _ := runs.List(logDir); return len(list) == 1 && list[0].State == "running" })
	cancel()
	<-gone
	poll(t, func() bool { list, _ := runs.List(logDir); return len(list) == 1 && list[0].State == "paused" })
}

// poll waits until something is so.
func poll(t *testing.T, is func() bool) {
	t.Helper()
	beat := time.NewTicker(5 * time.Millisecond)
	defer beat.Stop()
	late := time.After(time.Minute)
	for !is() {
		select {
		case <-beat.C:
		case <-late:
			t.Fatal("it is not so after a minute")
		}
	}
}

func TestTooManyRuns(t *testing.T) {
	l := newLab(t, config.Config{Model: "sim/default?p=1&latency=1h,0", CallTimeout: 2 * time.Hour}, func(o *mcpserver.Options) { o.Wait = time.Nanosecond })
	args := map[string]any{"question": "What is 6 times 7?", "number": true}
	var names []string
	for range 16 {
		names = append(names, l.must("ask", args).Run)
	}
	if problem := l.call("ask", args, nil); !strings.Contains(problem, "16 runs go on") {
		t.Errorf("one run too many is the error %q", problem)
	}
	l.must("cancel", map[string]any{"run": names[0]})
	poll(t, func() bool { return l.call("ask", args, nil) == "" })
	if slices.Contains(names[1:], names[0]) {
		t.Errorf("two runs have one name: %v", names)
	}
}

func TestPanicsAreErrors(t *testing.T) {
	l := newLab(t, right, func(o *mcpserver.Options) {
		o.Settings = func(config.Kinds, map[string][]string) (*maker.Options, error) { panic("sk-secret") }
	})
	if problem := l.call("ask", map[string]any{"question": "?"}, nil); !strings.Contains(problem, "a defect of maker") || strings.Contains(problem, "secret") {
		t.Errorf("a panic is the error %q", problem)
	}
}
