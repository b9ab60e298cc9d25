package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/reader"
	"github.com/maker-mdap/maker/vote"
)

// A served bank answers, in the format of OpenAI, with what real models once said: each
// question has the name of an item in it, whose samples it gets in turn.
type served struct {
	mu      sync.Mutex
	samples map[string][]*sample
	given   map[string]int
}

var itemName = regexp.MustCompile(`\[([a-z]+-[a-z0-9-]+)\]`)

func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	name := itemName.FindSubmatch(body)
	if err != nil || name == nil {
		http.Error(w, "which item?", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	list := s.samples[string(name[1])]
	n := s.given[string(name[1])]
	s.given[string(name[1])]++
	s.mu.Unlock()
	if len(list) == 0 {
		http.Error(w, "no such item", http.StatusBadRequest)
		return
	}
	a := list[n%len(list)]
	stop := "stop"
	if slices.Contains(ownKinds, a.Family) && a.Stop == "length" { // the others were cut after their first line on purpose
		stop = a.Stop
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "x", "object": "chat.completion", "model": a.Model,
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": stop, "message": map[string]any{"role": "assistant", "content": a.Text},
		}},
		"usage": map[string]int64{"prompt_tokens": a.In, "completion_tokens": a.Out, "total_tokens": a.In + a.Out},
	})
}

// serve serves the samples of a bank that pick chooses, and returns an engine that asks
// them one by one, so that the order is that of the bank.
func serve(t *testing.T, b bank, pick func(q question) bool) *maker.Engine {
	t.Helper()
	s := &served{samples: map[string][]*sample{}, given: map[string]int{}}
	for q, a := range b {
		if pick(q) {
			s.samples[q.Item] = append(s.samples[q.Item], a)
		}
	}
	for _, list := range s.samples {
		slices.SortFunc(list, func(a, b *sample) int {
			return cmp.Or(cmp.Compare(a.Temperature, b.Temperature), a.Wording-b.Wording, a.Examples-b.Examples, a.Sample-b.Sample)
		})
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	e, err := maker.New(&maker.Options{
		LogDir: t.TempDir(), Env: func(string) string { return "" },
		Config: maker.Config{
			Model: "compat/real", BaseURL: server.URL, BatchSize: 1, RetryAttempts: 1, RetryDelay: time.Millisecond, StructuredMode: "none",
			Voting: vote.Rule{Strategy: vote.FirstToK, K: 2, MaxSamples: 5}, MaxOutput: ownTokens,
			Plan:  maker.PlanConfig{Repair: "off", StepMaxRetries: -1},
			Tools: maker.ToolConfig{Approve: "none", Workspace: t.TempDir(), Builtin: []string{"Read"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// committedBank is the bank that is a part of the project.
func committedBank(t *testing.T) bank {
	t.Helper()
	b, err := readBank("bank")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRealAnswersToQuestions asks the questions of the families with maker ask: of the
// answers of a real model, which were not written for our readers, it has to read and
// decide so many. What is decided is what the family's own reader would have decided.
func TestRealAnswersToQuestions(t *testing.T) {
	b := committedBank(t)
	families, err := readFamilies("families")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		model, family string
		as            reader.Reader
		decided       int // of 40 items, at least
		right         int // of those, at least
	}{
		{"gemma-3-270m-q4_k_m", "sums", reader.Number{}, 40, 31},
		{"gemma-3-270m-q4_k_m", "capitals", reader.Text{}, 40, 36},
		{"gemma-3-270m-q4_k_m", "sentiment", reader.OneOf{Options: []string{"positive", "negative"}}, 40, 40},
		{"gemma-3-270m-q4_k_m", "animals", reader.OneOf{Options: []string{"yes", "no"}}, 40, 14}, // it says yes to nearly everything
		{"smollm2-135m-instruct-q4_1", "sums", reader.Number{}, 34, 8},
		{"smollm2-135m-instruct-q4_1", "sentiment", reader.OneOf{Options: []string{"positive", "negative"}}, 40, 23},
	} {
		f := families[slices.IndexFunc(families, func(f *family) bool { return f.Name == test.family })]
		e := serve(t, b, func(q question) bool {
			return q.Model == test.model && q.Family == test.family && q.Wording == 0 && q.Examples == 0
		})
		decided, right := 0, 0
		for i := range f.Items[:40] {
			it := &f.Items[i]
			answer, v, err := maker.Ask[json.RawMessage](t.Context(), e, fmt.Sprintf("%s [%s]", f.render(f.Wordings[0], it.Fields), it.ID), maker.As(test.as))
			if v == nil || v.Status != "decided" {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			decided++
			var text any
			if err := json.Unmarshal(answer, &text); err != nil {
				t.Fatal(err)
			}
			if key, ok := f.read(fmt.Sprint(text)); ok && f.right(it, key) {
				right++
			}
		}
		t.Logf("%s, %s: %d of 40 decided, %d right", test.model, test.family, decided, right)
		if decided < test.decided || right < test.right {
			t.Errorf("%s, %s: %d of 40 questions are decided and %d of them right, want at least %d and %d", test.model, test.family, decided, right, test.decided, test.right)
		}
	}
}

// TestRealAnswersToOurPrompts gives plans, steps, problems and tasks what a model of 135
// million parameters says to our own prompts: prose, prose around JSON, loops, answers
// that are cut off. Nothing of it may break a run, no more than so much may be taken for
// an answer, and what is discarded says why.
func TestRealAnswersToOurPrompts(t *testing.T) {
	b := committedBank(t)
	tasks, err := readTasks("own/tasks.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]string{}
	for _, task := range tasks {
		schemas[task.ID] = task.Schema
	}
	const plan = "reasoning: One step.\nplan:\n- {step: 0, task_type: action_step, title: one, task_description: '%s', primary_tools: [], fallback_tools: [], primary_tool_instructions: \"\", fallback_tool_instructions: \"\", input_variables: [], output_variable: step_0_output, output_schema: '%s', next_step_sequence_number: -1}\n"
	for _, test := range []struct {
		kind  string
		begin func(e *maker.Engine, item string) (*maker.Run, error)
		least int // completed runs, of all
		most  int
	}{
		{"step", func(e *maker.Engine, item string) (*maker.Run, error) {
			return e.Exec(t.Context(), fmt.Sprintf(plan, "Do ["+item+"].", schemas[item]))
		}, 0, 3},
		{"do", func(e *maker.Engine, item string) (*maker.Run, error) { return e.Do(t.Context(), "Do ["+item+"].") }, 0, 3},
		// What is well-formed, agreed on and wrong is seen by no reader.
		{"solve", func(e *maker.Engine, item string) (*maker.Run, error) {
			return e.Solve(t.Context(), "Solve ["+item+"].")
		}, 0, 8},
		{"plan", func(e *maker.Engine, item string) (*maker.Run, error) { return e.Plan(t.Context(), "Plan ["+item+"].") }, 0, 0},
	} {
		items := map[string]bool{}
		e := serve(t, b, func(q question) bool {
			if q.Family == test.kind {
				items[q.Item] = true
			}
			return q.Family == test.kind
		})
		completed := 0
		for item := range items {
			run, err := test.begin(e, item)
			if err != nil {
				t.Fatal(err)
			}
			r, err := run.Result()
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case r.Status == event.StatusCompleted:
				completed++
				t.Logf("%s: taken for an answer: %.200s", item, r.Output.JSON)
			case strings.TrimSpace(r.Reason) == "":
				t.Errorf("%s: %s without a reason", item, r.Status)
			}
		}
		t.Logf("%s: %d of %d completed", test.kind, completed, len(items))
		if completed < test.least || completed > test.most || len(items) < 5 {
			t.Errorf("%s: %d of %d runs completed, want %d to %d", test.kind, completed, len(items), test.least, test.most)
		}
	}
}
