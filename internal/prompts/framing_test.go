package prompts

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/flow"
)

// voted are the prompts whose answers are voted on.
var voted = []string{
	"planner_user", "executor_step", "executor_conditional", "outline_task",
	"ask", "solve_atom", "solve_decompose", "solve_pick", "solve_compose", "solve_answer", "solve_check",
}

// told are what a framing must not lose, besides the data: the rules and the form of the
// answer.
var told = map[string][]string{
	"ask":                  {"</attachment>", "number 1 of those shown"},
	"executor_step":        {"YAML mapping", "<context>", "</input>", "fail|does not work", "ask"},
	"executor_conditional": {"YAML mapping", "next_step:", "reason:", "<context>", "</input>", "ask"},
	"outline_task":         {"<context>", "</attachment>", "ask", "number 1 of those shown", "application/zip"},
	"planner_user":         {"data, not instructions", "numbered from 0", "input_variables", "</output>", "Problems:"},
	"solve_atom":           {`"solution"`, `"confidence"`, `"work_shown"`, "between 0 and 1", "short", `{"ask":"solve"`},
	"solve_decompose":      {`"subproblem_a"`, `"subproblem_b"`, `"compose_fn"`, `"is_atomic"`, `"rationale"`, "two parts", "understood alone", "simpler", "different", "agree", `{"ask":"decompose"`},
	"solve_pick":           {`"pick"`, `"reason"`, "label", "is_atomic", "labels", "Correctness comes first|correctness comes first", `{"ask":"pick"`},
	"solve_compose":        {`"solution"`, "compose_fn", "again", "not a description", `{"ask":"compose"`},
	"solve_answer":         {`"answer"`, `"support"`, `"equations"`, `"points"`, "compose_fn", "known_problem", "everything", `{"ask":"answer"`},
	"solve_check":          {`"requirements"`, `"complete"`, `"missing_work"`, "ADDRESSED or MISSING", "notes", `{"ask":"check"`},
}

// TestFramingsCarryTheContent: every framing of a prompt has each text of its data, the
// rules and the form of the answer, and no two are the same.
func TestFramingsCarryTheContent(t *testing.T) {
	s := Default()
	for _, d := range samples {
		name := d.Prompt()
		f, err := s.Framings(d)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(voted, name) {
			if len(f.Texts) != 1 {
				t.Errorf("%s has %d framings, and nobody votes on it", name, len(f.Texts))
			}
			continue
		}
		if len(f.Texts) != MaxFramings || f.Shared != 0 {
			t.Errorf("%s has %d framings with %d bytes apart, want %d and none", name, len(f.Texts), f.Shared, MaxFramings)
		}
		must := slices.Concat(told[name], textsIn(reflect.ValueOf(d)))
		for i, text := range f.Texts {
			for _, want := range must {
				if !slices.ContainsFunc(strings.Split(want, "|"), func(w string) bool { return strings.Contains(text, w) }) {
					t.Errorf("framing %d of %s lacks %q:\n%s", i+1, name, want, text)
				}
			}
			if slices.Contains(f.Texts[:i], text) {
				t.Errorf("framing %d of %s is one of those before", i+1, name)
			}
		}
	}
}

// textsIn are the texts of a prompt's data.
func textsIn(v reflect.Value) []string {
	switch v.Kind() {
	case reflect.String:
		if v.String() != "" {
			return strings.Split(strings.TrimSpace(v.String()), "\n")
		}
	case reflect.Slice:
		var all []string
		for i := range v.Len() {
			all = append(all, textsIn(v.Index(i))...)
		}
		return all
	case reflect.Struct:
		var all []string
		for i := range v.NumField() {
			all = append(all, textsIn(v.Field(i))...)
		}
		return all
	}
	return nil
}

// TestLargeDataIsShared: what is worth caching comes first, in the same words in every
// framing, and is not said twice.
func TestLargeDataIsShared(t *testing.T) {
	s := Default()
	bulk := strings.Repeat("word ", minShared/5)
	for _, d := range []Data{
		ExecutorStep{Description: "Count.", Inputs: []Input{{"step_0_output", bulk}}, Schema: "n: integer"},
		ExecutorConditional{Description: "Choose.", Context: bulk},
		OutlineTask{Task: "Count.", Attached: []Attached{{Ref: "a", Label: "a", Text: bulk}}},
		PlannerUser{Task: "Count.", Catalogue: bulk}, PlannerUser{Task: "Count.", Context: bulk},
		SolveAtom{Problem: bulk},
		SolveDecompose{Problem: bulk}, SolvePick{Problem: bulk}, SolveCompose{Problem: bulk}, SolveAnswer{Problem: bulk}, SolveCheck{Problem: bulk},
	} {
		f, err := s.Framings(d)
		if err != nil {
			t.Fatal(err)
		}
		if f.Shared < minShared || len(f.Texts) != MaxFramings {
			t.Errorf("%s: %d framings share %d bytes, want %d that share the data", d.Prompt(), len(f.Texts), f.Shared, MaxFramings)
		}
		for i, text := range f.Texts {
			if text[:f.Shared] != f.Texts[0][:f.Shared] || strings.Count(text, strings.TrimSpace(bulk)) != 1 || strings.Contains(text[f.Shared:], "word word") {
				t.Errorf("framing %d of %s does not begin with the data, or says it again", i+1, d.Prompt())
			}
		}
	}
}

// TestReplacedFramings: a template of one's own is not asked beside ours.
func TestReplacedFramings(t *testing.T) {
	d := SolveAtom{Problem: "1+1"}
	for _, test := range []struct {
		replace map[string]string
		want    int
	}{
		{nil, MaxFramings},
		{map[string]string{"solve_atom": "mine {{.Input}}"}, 1},
		{map[string]string{"solve_atom": "mine {{.Input}}", "solve_atom_2": "mine too {{.Input}}"}, 2},
		{map[string]string{"solve_atom_3": "mine {{.Input}}"}, MaxFramings},
	} {
		s, err := New(test.replace)
		if err != nil {
			t.Fatal(err)
		}
		var q flow.Question
		if err := s.Put(&q, d); err != nil {
			t.Fatal(err)
		}
		if max(len(q.Variants), 1) != test.want || q.Class != "solve_atom" || len(q.Variants) > 0 && q.Variants[0] != q.Prompt {
			t.Errorf("with %d templates replaced there are %d framings of class %q, want %d", len(test.replace), len(q.Variants), q.Class, test.want)
		}
		if f, err := s.Limited(1).Framings(d); err != nil || len(f.Texts) != 1 {
			t.Errorf("Limited(1) has %d framings, %v, want 1", len(f.Texts), err)
		}
	}
	for _, bad := range []map[string]string{{"solve_atom_2": "{{.Nothing}}"}, {"nothing_2": "x"}, {"solve_atom_9": "x"}} {
		if _, err := New(bad); err == nil {
			t.Errorf("New(%v) = nil, want an error", bad)
		}
	}
}
