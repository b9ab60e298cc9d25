package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/server"
	"github.com/maker-mdap/maker/runs"
)

// onePlan writes a file.
const onePlan = `reasoning: One file.
plan:
- {step: 0, task_type: action_step, title: write, task_description: Write the greeting.,
   primary_tools: [Write], fallback_tools: [], primary_tool_instructions: "Once.", fallback_tool_instructions: "",
   input_variables: [], output_variable: step_0_output, output_schema: "done: boolean", next_step_sequence_number: 1}
- {step: 1, task_type: action_step, title: look, task_description: Look at it.,
   primary_tools: [Read], fallback_tools: [], primary_tool_instructions: "Once.", fallback_tool_instructions: "",
   input_variables: [step_0_output.done], output_variable: step_1_output, output_schema: "fine: boolean", next_step_sequence_number: -1}
`

// greets is a model that writes the file.
const greets = `- match: 'Write the greeting'
  after: 0
  answers: [{tool_calls: [{name: Write, input: {file_path: out.txt, content: "hello\nsk-secret\n"}}]}]
- match_result: 'not made'
  answers: [{text: 'done: false'}]
- match: 'Write the greeting'
  answers: [{text: 'done: true'}]
- match: 'Look at it'
  answers: [{text: 'fine: true'}]
`

// model writes the rules of a simulated model and returns its name.
func model(t *testing.T, rules string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	return "sim/default?script=" + file
}

type seenRun struct {
	Summary runs.Summary
	Waiting []server.Question
	Actions []string
}

// TestApproval: a run waits for a person while it goes on; the person sees what a call would
// do, and the run goes on with the answer. A server that is shut down meanwhile asks again.
func TestApproval(t *testing.T) {
	dir, ws := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(ws, "out.txt"), []byte("good day\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir, nil)
	run := s.start("exec", onePlan, nil, object{"model": model(t, greets), "workspace": ws, "voting": "first_to_k", "ahead_by": 2})
	s.summary(run, state("waiting"))
	s.stop()

	s = serve(t, dir, nil)
	s.summary(run, state("paused"))
	if resumed, err := s.server.Resume(t.Context()); err != nil || len(resumed) != 1 {
		t.Fatalf("Resume() = %q, %v", resumed, err)
	}
	sum := s.summary(run, state("waiting"))
	var got seenRun
	s.must("GET", "/api/runs/"+run, nil, &got)
	if sum.PID == 0 || len(got.Waiting) != 1 || !cmp.Equal(got.Actions, []string{"answer", "pause", "cancel"}) {
		t.Fatalf("GET run = %+v, want one question of a run that goes on", got)
	}
	q := got.Waiting[0]
	if q.Kind != event.ClarifyApproval || q.Change == nil || q.Change.Path != "out.txt" || q.Change.Diff != "- good day\n+ hello\n+ [key]" || q.Rule != "Write(out.txt)" || q.Voting == nil || q.Voting.Margin != 2 {
		t.Errorf("the question is %+v, its change %+v", q, q.Change)
	}
	answers := "/api/runs/" + run + "/answers"
	for _, test := range []struct {
		body  object
		want  int
		field string
	}{
		{object{"question": q.Key, "answer": "perhaps"}, http.StatusBadRequest, "answer"},
		{object{"question": q.Key, "answer": "always"}, http.StatusBadRequest, "answer"}, // nobody remembers rules here
		{object{"question": "another", "answer": "yes"}, http.StatusConflict, ""},
		{object{"question": q.Key, "answer": "no, " + strings.Repeat("<", runs.MaxAnswer)}, http.StatusRequestEntityTooLarge, "answer"},
	} {
		status, data := s.ask("POST", answers, test.body)
		var p server.Problem
		if err := json.Unmarshal(data, &p); err != nil || status != test.want || p.Field != test.field {
			t.Errorf("POST answers %.100v = %d %s, want %d", test.body, status, data, test.want)
		}
	}
	s.must("POST", answers, object{"question": q.Key, "answer": "yes"}, nil)
	if sum := s.ended(run); sum.State != "completed" {
		t.Fatalf("it ended as %+v", sum)
	}
	if status, data := s.ask("POST", answers, object{"question": q.Key, "answer": "no"}); status != http.StatusConflict || !strings.Contains(string(data), "person (maker serve)") {
		t.Errorf("POST another answer = %d %s", status, data)
	}
	var effects struct{ Effects []runs.EffectResult }
	s.must("GET", "/api/runs/"+run+"/effects", nil, &effects)
	var asked struct{ Questions []server.Question }
	s.must("GET", "/api/runs/"+run+"/questions", nil, &asked)
	if len(effects.Effects) != 1 || effects.Effects[0].Status != runs.EffectDone || len(asked.Questions) != 1 || asked.Questions[0].Answer != "yes" {
		t.Errorf("effects %+v, questions %+v", effects, asked)
	}
	var shape struct{ Nodes []server.Node }
	s.must("GET", "/api/runs/"+run+"/shape", nil, &shape)
	if len(shape.Nodes) != 2 || shape.Nodes[1].State != "completed" || shape.Nodes[1].Title != "look" || !cmp.Equal(shape.Nodes[1].Needs, []string{"0"}) || !cmp.Equal(shape.Nodes[0].Next, []string{"1"}) {
		t.Errorf("GET shape = %+v", shape)
	}
	var detail runs.StepDetail
	s.must("GET", "/api/runs/"+run+"/steps/0", nil, &detail)
	if len(detail.Effects) != 1 || len(detail.Samples) == 0 {
		t.Errorf("GET step 0 = %+v", detail)
	}
}

// TestAnsweredMeanwhile: a question that was open when the server was shut down is answered
// while nobody is there, and the next server goes on with that.
func TestAnsweredMeanwhile(t *testing.T) {
	dir, ws := t.TempDir(), t.TempDir()
	s := serve(t, dir, nil)
	run := s.start("exec", onePlan, nil, object{"model": model(t, greets), "workspace": ws})
	s.summary(run, state("waiting"))
	s.stop()
	stored, err := runs.Open(filepath.Join(dir, run))
	if err != nil {
		t.Fatal(err)
	}
	open, err := stored.Waiting()
	if err != nil || len(open) != 1 {
		t.Fatalf("Waiting() = %+v, %v", open, err)
	}
	if err := stored.Answer(open[0].Key, "yes", "maker answer"); err != nil {
		t.Fatal(err)
	}
	s = serve(t, dir, nil)
	s.summary(run, state("answered"))
	if resumed, err := s.server.Resume(t.Context()); err != nil || len(resumed) != 1 {
		t.Fatalf("Resume() = %q, %v", resumed, err)
	}
	if sum := s.ended(run); sum.State != "completed" {
		t.Errorf("it ended as %+v", sum)
	}
}

// TestRefusal: a reason why not is something that the agents read.
func TestRefusal(t *testing.T) {
	ws := t.TempDir()
	s := serve(t, t.TempDir(), nil)
	run := s.start("exec", onePlan, nil, object{"model": model(t, greets), "workspace": ws})
	s.summary(run, state("waiting"))
	s.must("POST", "/api/runs/"+run+"/answers", object{"answer": "not on a Sunday"}, nil) // the only question
	s.ended(run)
	var effects struct{ Effects []runs.EffectResult }
	s.must("GET", "/api/runs/"+run+"/effects", nil, &effects)
	if len(effects.Effects) != 1 || effects.Effects[0].Status != runs.EffectRefused {
		t.Errorf("effects %+v, want a refused one", effects)
	}
	if _, err := os.Stat(filepath.Join(ws, "out.txt")); err == nil {
		t.Error("the file was written")
	}
}

// TestKinds: a run of every kind can be started, and its command is shown.
func TestKinds(t *testing.T) {
	s := serve(t, t.TempDir(), nil)
	var all struct{ Kinds []server.KindInfo }
	s.must("GET", "/api/kinds", nil, &all)
	tried := map[string]bool{}
	yes := `- {match: 'bug', answers: [{text: 'yes'}]}
- {match: '', answers: [{text: 'no'}]}
`
	sums := "sim/default?p=1"
	for _, test := range []struct {
		kind, task string
		params     object
		model      string
		command    string
		state      string
	}{
		{"hanoi", "", object{"disks": 2, "verify": true}, sums, "maker hanoi --disks 2 --verify", "completed"},
		{"ask", "Is this a bug?", object{"answer": object{"one_of": []string{"yes", "no, never"}}, "show": []object{{"name": "a.txt", "text": "It's broken"}}}, model(t, yes), `maker ask 'Is this a bug?' --one-of yes --one-of '"no, never"' -f a.txt`, "completed"},
		{"map", "", object{"records": []object{{"text": "a bug", "n": 1}, {"text": "tea", "n": 2}}, "questions": []object{{"prompt": "What is {{.text}}?"}}, "answer": object{"one_of": []string{"yes", "no"}}}, model(t, yes),
			"maker map - --prompt 'What is {{.text}}?' --one-of yes --one-of no --yes", "completed"},
		{"script", "def main(args):\n  return ask(\"Is this a bug? \" + args.a, one_of=[\"yes\", \"no\"])\n", object{"name": "x.star", "args": object{"a": "1 2"}}, model(t, yes), "maker script x.star --arg 'a=1 2'", ""},
		{"exec", onePlan, nil, model(t, greets), "maker exec -", "waiting"},
		{"validate", onePlan, nil, model(t, greets), "maker validate -", "completed"},
		{"plan", "Write a greeting", nil, sums, "maker plan 'Write a greeting'", ""},
		{"run", "Write a greeting", object{"confirm": true}, sums, "maker run 'Write a greeting'", ""},
		{"do", "- Say 'hello'.", nil, sums, "maker do -", ""},
		{"solve", "What is 12 * 12?", nil, sums, "maker solve 'What is 12 * 12?'", ""},
		{"calibrate", "", object{"items": []object{{"question": "Is this a bug?", "answer": "yes"}, {"question": "Is tea a bug?", "answer": "yes"}}, "answer": object{"one_of": []string{"yes", "no"}}}, model(t, yes), "maker calibrate --items - --one-of yes --one-of no", "completed"},
		{"calibrate", "", nil, sums, "maker calibrate", ""},
	} {
		settings := object{"model": test.model}
		order := object{"kind": test.kind, "task": test.task, "params": test.params, "settings": settings}
		tried[test.kind] = true
		var preview struct{ Command string }
		s.must("POST", "/api/preview", order, &preview)
		line, _, _ := strings.Cut(preview.Command, " --model ")
		if line != test.command {
			t.Errorf("%s: the command is %s, want %s", test.kind, preview.Command, test.command)
		}
		run := s.start(test.kind, test.task, test.params, settings)
		if test.state == "waiting" {
			s.summary(run, state("waiting"))
			s.must("POST", "/api/runs/"+run+"/cancel", nil, nil)
		} else if sum := s.summary(run, func(one runs.Summary) bool { return one.Status != "running" || one.State == "waiting" }); test.state != "" && sum.State != test.state {
			t.Errorf("%s ended as %+v", test.kind, sum)
		}
		for _, part := range []string{"", "/strip", "/steps", "/shape", "/effects", "/questions", "/certificate", "/result", "/replay"} {
			if status, data := s.ask("GET", "/api/runs/"+run+part, nil); status != http.StatusOK {
				t.Errorf("GET %s of %s = %d %s", part, test.kind, status, data)
			}
		}
		if test.kind == "map" {
			s.checkRecords(run)
		}
	}
	for _, k := range all.Kinds {
		if !tried[k.Name] {
			t.Errorf("the kind %s was not tried", k.Name)
		}
		if len(k.Settings) == 0 || k.Title == "" {
			t.Errorf("GET /api/kinds says of %s: %+v", k.Name, k)
		}
	}
}

func (s *served) checkRecords(run string) {
	s.t.Helper()
	var got struct {
		Columns []string
		Counts  map[string]int
		Records []server.Record
		Total   int
	}
	for query, want := range map[string]string{"": "[yes no]", "?q=tea": "[no]", "?status=decided&from=1": "[no]", "?status=undecided": "[]", "?limit=1": "[yes]"} {
		s.must("GET", "/api/runs/"+run+"/records"+query, nil, &got)
		answers := []string{}
		for _, r := range got.Records {
			answers = append(answers, r.Output.Text())
		}
		if fmt.Sprint(answers) != want || got.Counts["decided"] != 2 || !cmp.Equal(got.Columns, []string{"n", "text"}) {
			s.t.Errorf("GET records%s = %+v, want %s", query, got, want)
		}
	}
}
