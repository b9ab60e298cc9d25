package executor_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/executor"
	"github.com/maker-mdap/maker/internal/orchestrator/planner"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/test/flowtest"
	"github.com/maker-mdap/maker/vote"
)

// one is the rule of a run without voting.
var one = vote.Rule{Strategy: vote.None, N: 3, K: 2, MaxSamples: 10}

func config() executor.Config {
	first, others := 0.0, 0.1
	return executor.Config{
		Prompts: prompts.Default(),
		Terms:   flow.Terms{Rule: one, FirstTemperature: &first, Temperature: &others, MaxOutput: 1000, MaxFaults: 20}, Repair: flow.RepairLLM, Retries: 2, Parallel: 1,
	}
}

// A world is what a plan is carried out in: it answers the questions of steps as
// agents would, executes their calls, and remembers both.
type world struct {
	t *testing.T
	*flowtest.Flow

	// answers are the texts with which agents answer, by key, or for every key
	// without answers of its own by "*". A text "call TOOL INPUT" is a call,
	// "STATUS: REASON" another verdict, and anything else is read as the question
	// says.
	answers map[string]string

	tools []flow.ToolInfo // that there are
	rule  vote.Rule       // in force

	questions map[string]*flow.Question
	effects   []string
	result    func(e *flow.Effect) *flow.Result
	cost      float64
	faults    int // of each question
	onDecide  func(key string, q *flow.Question, v *flow.Verdict)
}

func newWorld(t *testing.T, answers map[string]string) *world {
	w := &world{t: t, answers: answers, questions: map[string]*flow.Question{}, cost: 0.25}
	w.result = func(e *flow.Effect) *flow.Result { return &flow.Result{Text: "done"} }
	w.Flow = flowtest.New(w.decide)
	w.OnPerform = func(key string, e *flow.Effect) (*flow.Result, error) {
		w.effects = append(w.effects, fmt.Sprintf("%s %s %s", key, e.Intent.Tool, e.Intent.Input))
		return w.result(e), nil
	}
	w.tools = []flow.ToolInfo{{Name: "AskUserQuestion", Human: true}, {Name: "Read", Safe: true}, {Name: "Grep", Safe: true}, {Name: "Write"}}
	w.OnObserve = func(key string, l flow.Look) (any, error) {
		switch l.Kind {
		case flow.LookTools:
			return w.tools, nil
		case flow.LookCatalogue:
			return "- Write (mutate): Writes a file.\n", nil
		case flow.LookUsable:
			return flow.Usability{Rule: w.rule}, nil
		}
		return nil, fmt.Errorf("nobody looks at %s for %s", l.Kind, key)
	}
	return w
}

func (w *world) decide(key string, q *flow.Question) (*flow.Verdict, error) {
	copied := *q
	w.questions[key] = &copied
	text, ok := w.answers[key]
	if !ok {
		text, ok = w.answers["*"]
	}
	if !ok {
		w.t.Errorf("the question %s was not expected:\n%s", key, q.Prompt)
		return nil, fmt.Errorf("no answer to %s", key)
	}
	v := w.verdict(q, text)
	cost := w.cost
	v.CostUSD, v.DurationMS, v.Voting.Faults = &cost, 10, w.faults
	if q.Rule.Strategy == vote.None {
		v.Voting.Samples = 1
	}
	if w.onDecide != nil {
		w.onDecide(key, q, v)
	}
	return v, nil
}

func (w *world) verdict(q *flow.Question, text string) *flow.Verdict {
	if call, ok := strings.CutPrefix(text, "call "); ok {
		tool, input, _ := strings.Cut(strings.TrimSpace(call), " ")
		v := flowtest.Decided(q, "null")
		v.Answer, v.Intent = nil, &event.Intent{Tool: tool, Input: json.RawMessage(input)}
		return v
	}
	for _, status := range []flow.Status{flow.Undecided, flow.FlaggedOut, flow.Failed} {
		if reason, ok := strings.CutPrefix(text, string(status)+": "); ok {
			v := &flow.Verdict{Status: status, Reason: reason, Voting: event.Voting{Strategy: q.Rule.Strategy, Samples: 1}}
			if status == flow.FlaggedOut {
				v.Voting.RedFlagged = 1
			}
			return v
		}
	}
	readers := executor.Readers()
	maps.Copy(readers, planner.Readers())
	reader, err := readers.New(q.Answer.Reader, q.Answer.Params)
	if err != nil {
		w.t.Fatal(err)
	}
	a, flag := reader.Read(text)
	if flag != nil {
		return &flow.Verdict{Status: flow.FlaggedOut, Reason: flag.Reason, Voting: event.Voting{Strategy: q.Rule.Strategy, Samples: 1, RedFlagged: 1}}
	}
	return flowtest.Decided(q, string(a.Value))
}

// execute has a plan carried out and returns the events that come out.
func (w *world) execute(c executor.Config, planText string) []event.Event {
	w.t.Helper()
	x := executor.New(c)
	var events []event.Event
	for e := range x.Process(w, event.ValidationPassed{Plan: event.TextValue(planText)}) {
		events = append(events, flow.Bare(e))
	}
	return events
}

// tell says in a few words what happened.
func tell(events []event.Event) string {
	var lines []string
	for _, e := range events {
		switch e := e.(type) {
		case event.StepStarted:
			lines = append(lines, fmt.Sprintf("start %d", e.Step))
		case event.StepCompleted:
			lines = append(lines, fmt.Sprintf("done %d %s", e.Step, e.Output.JSON))
		case event.StepFailed:
			lines = append(lines, fmt.Sprintf("failed %d %s: %s", e.Step, e.Status, e.Reason))
		case event.TaskCompleted:
			lines = append(lines, fmt.Sprintf("completed %d steps %s", e.Steps, e.Output.JSON))
		case event.TaskFailed:
			lines = append(lines, fmt.Sprintf("task %s at %d: %s", e.Status, e.Step, e.Reason))
		case event.ReplanRequested:
			lines = append(lines, fmt.Sprintf("replan %d after %d: %s; %s", e.Replan, e.Step, e.Reason, e.Outputs.JSON))
		case event.PlanCreated:
			lines = append(lines, fmt.Sprintf("plan created, attempt %d, replan %d", e.Attempt, e.Replan))
		case event.ValidationPassed:
			lines = append(lines, fmt.Sprintf("plan passed, attempt %d, replan %d", e.Attempt, e.Replan))
		case event.ValidationFailed:
			for _, c := range e.Checks {
				lines = append(lines, fmt.Sprintf("plan rejected, attempt %d, replan %d: %s", e.Attempt, e.Replan, c.Message))
			}
		default:
			lines = append(lines, string(e.Type()))
		}
	}
	return strings.Join(lines, "\n")
}

// A stepSpec is a step of a test plan, with what is left out filled in.
type stepSpec struct {
	conditional bool
	next        int // 0 means the next one, or the end after the last
	inputs      []string
	tools       []string
	schema      string
	extra       string // further fields
}

// makePlan writes a plan. Steps are titled s0, s1 and so on.
func makePlan(specs ...stepSpec) string {
	var b strings.Builder
	b.WriteString("reasoning: a test\nplan:\n")
	for i, s := range specs {
		kind, next := "action_step", s.next
		switch {
		case s.conditional:
			kind, next = "conditional_step", -2
		case next == 0 && i == len(specs)-1:
			next = -1
		case next == 0:
			next = i + 1
		}
		if s.schema == "" {
			s.schema = "value: anything"
		}
		list := func(names []string) string {
			data, _ := json.Marshal(append([]string{}, names...))
			return string(data)
		}
		fmt.Fprintf(&b, `  - step: %d
    task_type: %s
    title: s%d
    task_description: Do s%d.
    primary_tools: %s
    fallback_tools: []
    primary_tool_instructions: ""
    fallback_tool_instructions: ""
    input_variables: %s
    output_variable: step_%d_output
    output_schema: %q
    next_step_sequence_number: %d
`, i, kind, i, i, list(s.tools), list(s.inputs), i, s.schema, next)
		if s.extra != "" {
			for line := range strings.SplitSeq(s.extra, "\n") {
				fmt.Fprintf(&b, "    %s\n", line)
			}
		}
	}
	return b.String()
}
