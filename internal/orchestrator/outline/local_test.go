package outline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/agent/native"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/internal/runtime/ballot"
	"github.com/maker-mdap/maker/internal/runtime/budget"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/local"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// An office is where the tasks of a run are done for real: agents with tools, a log,
// and a person.
type office struct {
	t   *testing.T
	dir string

	// reply is what a model says to a prompt, and after how many moves; sample
	// counts how often the same was asked.
	reply func(prompt string, moves, sample int) model.Response

	// answers are the person's, by the key of the question; without one nobody is
	// there.
	answers map[string]string

	mu      sync.Mutex
	asked   map[string]int // what the model was asked
	calls   int
	effects []string // that happened
	keys    []string // of the questions that the person saw
}

func newOffice(t *testing.T, reply func(prompt string, moves, sample int) model.Response) *office {
	return &office{t: t, dir: filepath.Join(t.TempDir(), "run"), reply: reply, asked: map[string]int{}, answers: map[string]string{}}
}

// Generate implements [model.Model].
func (o *office) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, &model.Error{Kind: model.Cancelled, Err: err}
	}
	moves := (len(req.Messages) - 1) / 2
	prompt := req.Messages[0].Text
	o.mu.Lock()
	defer o.mu.Unlock()
	// Framings of one task are the same question.
	task, _, _ := strings.Cut(taskOf(prompt), "\n")
	if task == "" {
		task = prompt
	}
	key := fmt.Sprint(moves, task, strings.Count(prompt, "Answer: "))
	sample := o.asked[key]
	o.asked[key]++
	o.calls++
	r := o.reply(prompt, moves, sample)
	if r.Stop == "" {
		r.Stop = model.StopEnd
	}
	return &r, nil
}

func says(text string) model.Response { return model.Response{Text: text} }

func callsTool(name, input string) model.Response {
	return model.Response{Stop: model.StopToolUse, ToolCalls: []model.ToolCall{{ID: "1", Name: name, Input: json.RawMessage(input)}}}
}

func (o *office) registry() *tool.Registry {
	type input struct {
		What string `json:"what"`
	}
	type command struct {
		Command string `json:"command"`
	}
	type question struct {
		Question string   `json:"question"`
		Options  []string `json:"options,omitempty"`
	}
	note := func(what string) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.effects = append(o.effects, what)
	}
	put, err := tool.New(tool.Tool{Name: "Put", Class: tool.Mutate}, func(_ context.Context, in input) (tool.Result, error) {
		note("put " + in.What)
		return tool.Result{Text: "put " + in.What}, nil
	})
	bash, err2 := tool.New(tool.Tool{Name: "Bash", Class: tool.Mutate}, func(_ context.Context, in command) (tool.Result, error) {
		note("ran " + in.Command)
		return tool.Result{Text: "ran " + in.Command}, nil
	})
	human, err3 := tool.New[question](tool.Tool{Name: "AskUserQuestion", Class: tool.Human}, nil)
	if err := errors.Join(err, err2, err3); err != nil {
		o.t.Fatal(err)
	}
	r := tool.NewRegistry()
	if err := r.Register(put, bash, human); err != nil {
		o.t.Fatal(err)
	}
	return r
}

// session runs an outline against the log of the office, as a new process would.
// wrap is put around the flow, if it is not nil.
func (o *office) session(text string, c Config, wrap func(flow.Flow) flow.Flow) error {
	t := o.t
	t.Helper()
	past := history.New(o.dir)
	log, _, err := runlog.Open(o.dir, nil, past.Visit)
	if err != nil {
		if log, err = runlog.Create(o.dir, "run", nil); err != nil {
			t.Fatal(err)
		}
		past = nil
		if err := log.Append(event.TaskSubmitted{Format: event.Format, Kind: "do"}); err != nil {
			t.Fatal(err)
		}
	} else {
		if err := past.Finish(); err != nil {
			t.Fatal(err)
		}
		if err := log.Append(event.RunResumed{}); err != nil {
			t.Fatal(err)
		}
	}
	tools := o.registry()
	b := ballot.New([]ballot.Voter{{Name: "m", Model: o, Agent: native.New(o)}}, Readers(), &ballot.Options{Tools: tools})
	r := local.New(local.Options{
		Log: log, Ballot: b, Ledger: budget.New(budget.Limits{}, usage.Spent{}), Past: past, Tools: tools,
		Approve: approval.Policy{Mode: approval.None},
		Looks: local.Looks{flow.LookTools: func(context.Context, json.RawMessage) (any, error) {
			return []flow.ToolInfo{{Name: "Put"}, {Name: "Bash"}, {Name: "AskUserQuestion", Human: true}}, nil
		}},
		Person: person.Func(func(_ context.Context, key string, q *flow.HumanQuestion) (*flow.Answer, error) {
			o.keys = append(o.keys, key)
			if text, ok := o.answers[key]; ok {
				text, err := person.Resolve(q, text)
				return &flow.Answer{Text: text, By: "test"}, err
			}
			return nil, person.ErrAbsent
		}),
	})
	f := r.Flow(t.Context())
	if wrap != nil {
		f = wrap(f)
	}
	err = Run(f, planned(o.t, text), c)
	b.Close()
	if waiting, ok := errors.AsType[*person.WaitingError](err); ok { // as the engine ends a session
		r.Flow(t.Context()).Emit("end", event.TaskFailed{Status: event.StatusStopped, Stop: event.StopWaiting, Step: waiting.Question.Step})
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return err
}

func officeConfig() Config {
	c := runConfig()
	c.ReadAttachments, c.RetryDelayMS = false, 0
	c.Rule = vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 6}
	return c
}

// story counts what the log says, but for samples.
func (o *office) story() map[string]int {
	o.t.Helper()
	out := map[string]int{}
	for line, err := range runlog.Read(o.dir) {
		if err != nil {
			o.t.Fatal(err)
		}
		rec, err := line.Decode()
		if err != nil {
			o.t.Fatal(err)
		}
		switch e := rec.Event.(type) {
		case event.SampleCompleted, event.SampleRedFlagged, event.TaskSubmitted, event.RunResumed, event.VoteResumed:
		case event.VoteCompleted:
			out[fmt.Sprintf("vote %s: %s", e.Question, e.Status)]++
		case event.StepCompleted:
			out[fmt.Sprintf("done %d: %s", e.Step, e.Output.Text())]++
		case event.StepFailed:
			out[fmt.Sprintf("failed %d: %s", e.Step, e.Reason)]++
		case event.EffectClaimed:
			out["claimed "+e.Effect]++
		case event.EffectDone:
			out["performed "+e.Effect]++
		case event.ClarificationRequested:
			out[fmt.Sprintf("asked %s: %s", e.Question, e.Text)]++
		case event.ClarificationProvided:
			out[fmt.Sprintf("answered %s: %s", e.Question, e.Answer)]++
		case event.TaskCompleted:
			out[fmt.Sprintf("completed %d: %s", e.Steps, e.Output.Text())]++
		case event.TaskFailed:
			out[fmt.Sprintf("ended %s %s: %s", e.Status, e.Stop, e.Reason)]++
		default:
			out[string(e.Type())]++
		}
	}
	return out
}

// errand has one of everything: a call, a failed attempt after a call, two questions
// in one task, a literal command, a question of the person's own text, results that
// have to be summarised.
const errand = `
- Collect the items.
- Paint the wall.
- Run ` + "`make paint`" + `
- Store A-100 and B-200.
- What shall it be called?
`

// taskOf is the task in a prompt and what stands after it, whichever framing it is;
// empty if there is none.
func taskOf(prompt string) string {
	for _, mark := range []string{"# Task\n\n", "# What to do now\n\n", "# The task\n\n", "# Your task\n\n", "Please do this one thing:\n\n"} {
		if _, task, ok := strings.Cut(prompt, mark); ok {
			return task
		}
	}
	return ""
}

func clerk(prompt string, moves, sample int) model.Response {
	task := taskOf(prompt)
	switch {
	case task == "": // a summary
		return says("A-100 and B-200 are items.")
	case strings.HasPrefix(task, "Collect"):
		if moves == 0 {
			return callsTool("Put", `{"what":"basket"}`)
		}
		return says("result: two\ndetails: A-100 and B-200. " + strings.Repeat("They were where they always are. ", 20))
	case strings.HasPrefix(task, "Paint") && !strings.Contains(task, "Answer:"):
		if moves == 0 {
			return callsTool("Put", `{"what":"ladder"}`)
		}
		if sample%2 == 0 {
			return callsTool("AskUserQuestion", `{"question":"Which colour?","options":["red","blue"]}`)
		}
		return says("needs_clarification: What colour?")
	case strings.HasPrefix(task, "Paint") && !strings.Contains(task, "Which wall"):
		if moves == 1 {
			return callsTool("Put", `{"what":"brush"}`)
		}
		return says("needs_clarification: Which wall?")
	case strings.HasPrefix(task, "Paint"):
		return says("result: painted\ndetails: in blue. " + strings.Repeat("It looks as it should look. ", 20))
	case strings.HasPrefix(task, "Store"):
		if moves == 0 {
			return callsTool("Put", `{"what":"shelf"}`)
		}
		// The voters of the first attempt never agree.
		return says(fmt.Sprintf("result: %d", min(sample, 5)))
	default:
		return says("result: named")
	}
}

var errandAnswers = map[string]string{
	"task/2/round/0/attempt/1/question": "2",
	"task/2/round/1/attempt/1/question": "the left one",
	"task/5/round/0/attempt/0/question": "Home",
}

func TestErrand(t *testing.T) {
	o := newOffice(t, clerk)
	o.answers = errandAnswers
	c := officeConfig()
	c.Planner.ContextBudget = 400
	if err := o.session(errand, c, nil); err != nil {
		t.Fatal(err)
	}
	want := []string{"put basket", "put ladder", "put brush", "ran make paint", "put shelf"}
	if diff := cmp.Diff(want, o.effects); diff != "" {
		t.Errorf("what happened: -want +got\n%s", diff)
	}
	story := o.story()
	for _, line := range []string{
		"vote task/2/round/0/attempt/1/move/1: decided", // though some asked by a call and some by an answer
		"answered task/2/round/0/attempt/1/question: blue",
		"vote task/4/round/0/attempt/1/move/1: undecided",
		"vote task/4/round/0/attempt/2/move/0: decided",
		"done 3: 5", "done 4: named",
	} {
		if story[line] != 1 {
			t.Errorf("the log says %q %d times, want once; it says\n%s", line, story[line], told(story))
		}
	}
	if story["context_compacted"] == 0 {
		t.Error("the context was never compacted: the test shows less than it could")
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(errandAnswers)), slices.Sorted(slices.Values(o.keys))); diff != "" {
		t.Errorf("what the person was asked: -want +got\n%s", diff)
	}
}

func told(story map[string]int) string {
	var b strings.Builder
	for _, line := range slices.Sorted(maps.Keys(story)) {
		fmt.Fprintf(&b, "%d %s\n", story[line], line)
	}
	return b.String()
}

var errCrash = errors.New("crash")

// fragile breaks after a number of calls.
type fragile struct {
	flow.Flow
	left *int
}

func (f fragile) breaks() bool { *f.left--; return *f.left < 0 }

func (f fragile) Decide(key string, q *flow.Question) (*flow.Verdict, error) {
	if f.breaks() {
		return nil, errCrash
	}
	return f.Flow.Decide(key, q)
}

func (f fragile) Perform(key string, e *flow.Effect) (*flow.Result, error) {
	if f.breaks() {
		return nil, errCrash
	}
	return f.Flow.Perform(key, e)
}

func (f fragile) Ask(key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	if f.breaks() {
		return nil, errCrash
	}
	return f.Flow.Ask(key, q)
}

// TestCrashes ends the process before each thing that the run does, and again a few
// things later. What comes of it is the same as without.
func TestCrashes(t *testing.T) {
	c := officeConfig()
	c.Planner.ContextBudget = 400
	undisturbed := newOffice(t, clerk)
	undisturbed.answers = errandAnswers
	if err := undisturbed.session(errand, c, nil); err != nil {
		t.Fatal(err)
	}
	want := undisturbed.story()
	crashes := 0
	for at := 0; ; at++ {
		o := newOffice(t, clerk)
		o.answers = errandAnswers
		left := at
		err := o.session(errand, c, func(f flow.Flow) flow.Flow { return fragile{f, &left} })
		if err == nil {
			break
		}
		crashes++
		left = at + 2
		err = o.session(errand, c, func(f flow.Flow) flow.Flow { return fragile{f, &left} })
		if errors.Is(err, errCrash) {
			err = o.session(errand, c, nil)
		}
		if err != nil {
			t.Fatalf("crash at %d: %v", at, err)
		}
		if diff := cmp.Diff(want, o.story()); diff != "" {
			t.Errorf("crash at %d: -undisturbed +resumed\n%s", at, diff)
		}
		if diff := cmp.Diff(undisturbed.effects, o.effects); diff != "" {
			t.Errorf("crash at %d: what happened: -undisturbed +resumed\n%s", at, diff)
		}
	}
	if crashes < 15 {
		t.Errorf("there were %d crashes, want one before each of some twenty things", crashes)
	}
}

// TestWaiting: a run that waits uses no calls, however often it is resumed, and goes
// on where it was when the answer is there.
func TestWaiting(t *testing.T) {
	o := newOffice(t, clerk)
	waits := func() *person.WaitingError {
		t.Helper()
		err := o.session(errand, officeConfig(), nil)
		w, ok := errors.AsType[*person.WaitingError](err)
		if !ok {
			t.Fatalf("Run() = %v, want that it waits", err)
		}
		return w
	}
	first := waits()
	if first.Question.Text != "Which colour?" || !slices.Equal(first.Question.Options, []string{"red", "blue"}) || first.Question.Step != 1 {
		t.Errorf("it asks %+v, want for the colour", first.Question)
	}
	calls := o.calls
	for range 2 {
		if again := waits(); again.Key != first.Key || o.calls != calls {
			t.Errorf("resumed without an answer it waits for %s after %d calls, want %s after none", again.Key, o.calls-calls, first.Key)
		}
	}
	o.answers = map[string]string{first.Key: "red"}
	second := waits()
	if second.Question.Text != "Which wall?" || second.Question.Step != 1 {
		t.Errorf("then it asks %+v, want for the wall", second.Question)
	}
	o.answers[second.Key] = "all of them"
	o.answers["task/5/round/0/attempt/0/question"] = "Home"
	if err := o.session(errand, officeConfig(), nil); err != nil {
		t.Fatal(err)
	}
	story := o.story()
	if story["asked task/2/round/0/attempt/1/question: Which colour?"] != 1 || story["answered task/2/round/1/attempt/1/question: all of them"] != 1 {
		t.Errorf("the log says\n%s, want each question and each answer once", told(story))
	}
	if want := []string{"put basket", "put ladder", "put brush", "ran make paint", "put shelf"}; !slices.Equal(o.effects, want) {
		t.Errorf("what happened is %q, want %q", o.effects, want)
	}
}

// TestAnswersBelongToTheirQuestions: after a failure, what was not agreed on is asked
// again, and may then lead to another question. The answer to the first one is not
// for it.
func TestAnswersBelongToTheirQuestions(t *testing.T) {
	session := 1
	o := newOffice(t, func(_ string, _, sample int) model.Response {
		switch {
		case session == 1 && sample < 5: // nobody agrees in the first attempt
			return says(fmt.Sprint("result: ", sample))
		case session == 1:
			return says("needs_clarification: Which colour?")
		default:
			return says("needs_clarification: How many?")
		}
	})
	const text = "- Paint it."
	if err := o.session(text, officeConfig(), nil); err == nil {
		t.Fatal("Run() = nil, want that it waits")
	}
	first := "task/1/round/0/attempt/2/question"
	if !slices.Equal(o.keys, []string{first}) {
		t.Fatalf("the person was asked %q, want %q", o.keys, first)
	}
	session, o.answers = 2, map[string]string{first: "blue"}
	_ = o.session(text, officeConfig(), nil) // it may wait again
	for prompt := range o.asked {
		if strings.Contains(prompt, "Question: How many?\nAnswer: blue") {
			t.Errorf("the answer to the colour was taken for another question:\n%s", prompt)
		}
	}
}
