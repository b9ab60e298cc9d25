package outline

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/outline"
	"github.com/maker-mdap/maker/test/flowtest"
	"github.com/maker-mdap/maker/vote"
)

var update = flag.Bool("update", false, "write the expected results anew; read the difference before it is committed")

// planned is the list of tasks in a text.
func planned(t testing.TB, text string) []outline.Task {
	t.Helper()
	tasks, err := outline.PlanTasks(text)
	if err != nil {
		t.Fatal(err)
	}
	return tasks
}

// one is the rule of a run without voting.
var one = vote.Rule{Strategy: vote.None, N: 3, K: 2, MaxSamples: 10}

func runConfig() Config {
	first, others := 0.0, 0.1
	return Config{
		Prompts: prompts.Default(),
		Terms:   flow.Terms{Rule: one, FirstTemperature: &first, Temperature: &others, MaxOutput: 1000, MaxFaults: 20},
		AskTool: "AskUserQuestion", ShellTool: "Bash", ReadAttachments: true,
		Planner: outline.PlannerConfig{ContextBudget: 4000}, RetryDelayMS: 500,
	}
}

// errAbsent is how a run ends that nobody answers.
var errAbsent = errors.New("waiting for a person")

// A world is what tasks are carried out in: it answers by key, and writes down all
// that happens in it.
//
// A question is answered by the file that has its key. The text "call TOOL INPUT" is a
// call, "STATUS: REASON" another verdict, and anything else is read as the question
// says. A person who has no answer is absent. Effects say "done" unless there is a file
// for them, in which "error: " and "unknown: " begin other outcomes.
type world struct {
	*flowtest.Flow
	t          *testing.T
	answers    map[string]string
	transcript strings.Builder
	quiet      bool // about prompts
	nobody     bool // can be asked
}

func newWorld(t *testing.T, answers map[string]string) *world {
	w := &world{t: t, answers: answers}
	w.Flow = flowtest.New(w.decide)
	w.OnPerform = w.perform
	w.OnAsk = w.ask
	w.OnObserve = w.look
	return w
}

// look has the answers of attachments: JSON, or "error: " and why there is nothing.
func (w *world) look(key string, l flow.Look) (any, error) {
	switch l.Kind {
	case flow.LookTools:
		tools := []flow.ToolInfo{{Name: "Write"}, {Name: "Gone", Unavailable: "it is gone"}}
		if !w.nobody {
			tools = append(tools, flow.ToolInfo{Name: "AskUserQuestion", Human: true})
		}
		return tools, nil
	case flow.LookAttachment:
		w.note("look %s: %s", key, l.Params)
		text, ok := w.answers[key]
		if problem, failed := strings.CutPrefix(strings.TrimSpace(text), "error: "); failed || !ok {
			return flow.Attached{Problem: problem}, nil
		}
		return json.RawMessage(strings.TrimSpace(text)), nil
	}
	return nil, fmt.Errorf("nobody looks at %s", l.Kind)
}

func (w *world) note(format string, args ...any) { fmt.Fprintf(&w.transcript, format+"\n", args...) }

func (w *world) decide(key string, q *flow.Question) (*flow.Verdict, error) {
	temperature, done, images := "provider's", 0, ""
	if q.FirstTemperature != nil {
		temperature = fmt.Sprint(*q.FirstTemperature)
	}
	if q.Work != nil {
		done = len(q.Work.Done)
	}
	for _, i := range q.Images {
		images += fmt.Sprintf(", %s of %d bytes", i.MediaType, len(i.Data))
	}
	w.note("decide %s: step %d, %s, temperature %s, after %d ms, %d moves done%s", key, q.Step, q.Rule.Strategy, temperature, q.DelayMS, done, images)
	if !w.quiet {
		w.note("\t%s", strings.ReplaceAll(q.Prompt, "\n", "\n\t"))
	}
	text, ok := w.answers[key]
	if !ok {
		return nil, fmt.Errorf("nobody answers %s", key)
	}
	v := w.verdict(q, strings.TrimSpace(text))
	cost := 0.25
	v.CostUSD, v.DurationMS = &cost, 10
	return v, nil
}

func (w *world) verdict(q *flow.Question, text string) *flow.Verdict {
	if call, ok := strings.CutPrefix(text, "call "); ok {
		tool, input, _ := strings.Cut(call, " ")
		v := flowtest.Decided(q, "null")
		v.Answer, v.Intent = nil, &event.Intent{Tool: tool, Input: json.RawMessage(input)}
		return v
	}
	for _, status := range []flow.Status{flow.Undecided, flow.FlaggedOut, flow.Failed} {
		if reason, ok := strings.CutPrefix(text, string(status)+":"); ok {
			return &flow.Verdict{Status: status, Reason: strings.TrimSpace(reason), Voting: event.Voting{Strategy: q.Rule.Strategy, Samples: 1}}
		}
	}
	reader, err := Readers().New(q.Answer.Reader, q.Answer.Params)
	if err != nil {
		w.t.Fatal(err)
	}
	a, flag := reader.Read(text)
	if flag != nil {
		w.note("flagged: %s", flag.Reason)
		return &flow.Verdict{Status: flow.FlaggedOut, Reason: flag.Reason, Voting: event.Voting{Strategy: q.Rule.Strategy, Samples: 1, RedFlagged: 1}}
	}
	return flowtest.Decided(q, string(a.Value))
}

func (w *world) perform(key string, e *flow.Effect) (*flow.Result, error) {
	w.note("perform %s: step %d, %s %s", key, e.Step, e.Intent.Tool, e.Intent.Input)
	text, ok := w.answers[key]
	if !ok {
		text = "done"
	}
	text = strings.TrimRight(text, "\n")
	if why, ok := strings.CutPrefix(text, "error: "); ok {
		return &flow.Result{Text: why, IsError: true}, nil
	}
	if why, ok := strings.CutPrefix(text, "unknown: "); ok {
		return &flow.Result{Text: why, IsError: true, Unknown: true}, nil
	}
	return &flow.Result{Text: text}, nil
}

func (w *world) ask(key string, q *flow.HumanQuestion) (*flow.Answer, error) {
	w.note("ask %s: step %d, %s", key, q.Step, q.Text)
	for i, o := range q.Options {
		w.note("\t%d) %s", i+1, o)
	}
	text, ok := w.answers[key]
	if !ok {
		return nil, errAbsent
	}
	return &flow.Answer{Text: strings.TrimSpace(text), By: "terminal"}, nil
}

// Emit implements [flow.Flow].
func (w *world) Emit(key string, e event.Event) {
	text := func(v event.Value) string {
		return strings.TrimRight("\n\t"+strings.ReplaceAll(v.Text(), "\n", "\n\t"), "\t\n ")
	}
	cost := func(usd *float64) string {
		if usd == nil {
			return "unknown"
		}
		return fmt.Sprint(*usd)
	}
	switch e := e.(type) {
	case event.OutlineCreated:
		var tasks []outline.Task
		if err := json.Unmarshal(e.Tasks.JSON, &tasks); err != nil {
			w.t.Errorf("the tasks of %s: %v", e.Type(), err)
		}
		w.note("%s: %d tasks", e.Type(), len(tasks))
	case event.StepStarted:
		w.note("%s %d: %s", e.Type(), e.Step, e.Title)
	case event.StepCompleted:
		w.note("%s %d: %s; %d samples, $%s, %d ms%s", e.Type(), e.Step, e.Title, e.Voting.Samples, cost(e.CostUSD), e.DurationMS, text(e.Output))
	case event.StepFailed:
		w.note("%s %d: %s, %d samples: %s", e.Type(), e.Step, e.Status, e.Voting.Samples, e.Reason)
	case event.ContextCompacted:
		w.note("%s %d: within %t%s", e.Type(), e.Step, e.After < e.Before, text(e.Summary))
	case event.TaskCompleted:
		w.note("%s: %d steps%s", e.Type(), e.Steps, text(e.Output))
	case event.TaskFailed:
		w.note("%s: %s at %d: %s%s", e.Type(), e.Status, e.Step, e.Reason, text(e.Output))
	default:
		w.note("%s", e.Type())
	}
	w.Flow.Emit(key, e)
}

// TestRunTranscripts carries out outlines in a scripted world. A file of testdata has
// the settings in its comment, the outline, each answer under the key of its
// question, and last the transcript.
func TestRunTranscripts(t *testing.T) {
	names, err := filepath.Glob("testdata/run/*.txtar")
	if err != nil || len(names) < 5 {
		t.Fatalf("there are %d transcripts (%v), want at least 5", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := perform(t, archive)
			last := &archive.Files[len(archive.Files)-1]
			if *update {
				last.Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(last.Data), got); diff != "" {
				t.Errorf("transcript: -want +got\n%s", diff)
			}
		})
	}
}

func perform(t *testing.T, archive *txtar.Archive) string {
	last := len(archive.Files) - 1
	if last < 1 || archive.Files[0].Name != "outline" || archive.Files[last].Name != "transcript" {
		t.Fatal("the first file is not called outline, or the last not transcript")
	}
	answers := map[string]string{}
	for _, f := range archive.Files[1:last] {
		answers[f.Name] = string(f.Data)
	}
	w := newWorld(t, answers)
	c := runConfig()
	for line := range strings.Lines(string(archive.Comment)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		number, _ := strconv.Atoi(value)
		switch name {
		case "voting":
			c.Rule.Strategy = vote.Strategy(value)
		case "on failure":
			c.Planner.OnFailure = outline.Policy(value)
		case "retries":
			c.Planner.Retries = number
		case "questions":
			c.Planner.MaxQuestions = number
		case "moves":
			c.MaxMoves = number
		case "budget":
			c.Planner.ContextBudget = number
		case "no ask tool":
			w.nobody = true
		case "without prompts":
			w.quiet = true
		}
	}
	if err := Run(w, planned(t, string(archive.Files[0].Data)), c); err != nil {
		w.note("the run ends: %v", err)
	}
	for key := range answers {
		if !strings.Contains(w.transcript.String(), key+":") {
			t.Errorf("nobody needed the answer to %s", key)
		}
	}
	return w.transcript.String()
}
