package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/model"
)

func committed(t testing.TB) []*family {
	t.Helper()
	families, err := readFamilies("families")
	if err != nil {
		t.Fatal(err)
	}
	return families
}

func TestFamilies(t *testing.T) {
	var names []string
	for _, f := range committed(t) {
		names = append(names, f.Name)
		items, wordings := 100, framings
		if f.Marker != "" {
			items, wordings = workedItems, 1
		}
		if len(f.Items) != items || len(f.Wordings) != wordings || len(f.ExampleSets) != framings {
			t.Errorf("%s has %d items, %d wordings and %d example sets, want %d, %d and %d",
				f.Name, len(f.Items), len(f.Wordings), len(f.ExampleSets), items, wordings, framings)
		}
	}
	if diff := cmp.Diff([]string{"addup", "animals", "capitals", "dictsum", "sentiment", "sums", "together"}, names); diff != "" {
		t.Errorf("readFamilies: -want +got\n%s", diff)
	}
}

func TestMadeFamiliesAreAsCommitted(t *testing.T) {
	is := map[string]*family{}
	for _, f := range committed(t) {
		is[f.Name] = f
	}
	for _, made := range madeFamilies() {
		if diff := cmp.Diff(made, is[made.Name]); diff != "" {
			t.Errorf("%s: -generated +committed; go run ./test/real make writes it\n%s", made.Name, diff)
		}
	}
	if cmp.Equal(dictSum(1), dictSum(2)) {
		t.Error("dictSum(1) = dictSum(2), want another chain for another seed")
	}
}

// The work of an example has no slip, and leads to the sum of its numbers.
func TestWork(t *testing.T) {
	if got, want := (triple{7, 8, 3}).work(), "7 + 8 = 15, 15 + 3 = 18. Answer: 18"; got != want {
		t.Errorf("work() = %q, want %q", got, want)
	}
	tried := map[string][]triple{"addup": addUpTried, "together": togetherTried}
	for _, f := range []*family{addUp(), together()} {
		for _, i := range f.Items {
			var n triple
			for k, field := range []string{"a", "b", "c"} {
				n[k], _ = strconv.Atoi(i.Fields[field])
			}
			if key, ok := f.read(n.work()); !ok || !f.right(&i, key) {
				t.Errorf("%s: the work %q is not right", i.ID, n.work())
			}
			if slices.Contains(tried[f.Name], n) {
				t.Errorf("%s was tried before", i.ID)
			}
		}
	}
}

func TestRead(t *testing.T) {
	tests := []struct {
		family family
		answer string
		key    string
		ok     bool
	}{
		{family{Reader: "number"}, " 13", "13", true},
		{family{Reader: "number"}, "The sum is 1,024.", "1024", true},
		{family{Reader: "number"}, "-4\n7", "-4", true},
		{family{Reader: "number"}, "thirteen", "", false},
		{family{Reader: "number", Marker: "Answer:"}, " 5 + 9 = 14, 14 + 6 = 20. Answer: 20", "20", true},
		{family{Reader: "number", Marker: "Answer:"}, " 5 + 9 = 14, 14 + 6 = 20", "", false},
		{family{Reader: "number", Marker: "Answer:"}, " 5 + 9 = 14\nAnswer: 20", "", false},
		{family{Reader: "number", Marker: "Answer:"}, " 5 + 9 = 14. Answer:", "", false},
		{family{Reader: "name"}, " Madrid", "madrid", true},
		{family{Reader: "name"}, "Kuala  Lumpur.", "kuala lumpur", true},
		{family{Reader: "name"}, "Washington, D.C.", "washington", true},
		{family{Reader: "name"}, "Sana'a", "sana a", true},
		{family{Reader: "name"}, "Paris (France)", "paris", true},
		{family{Reader: "name"}, "", "", false},
		{family{Reader: "name"}, "the city that all of us have known and loved for years", "", false},
		{family{Reader: "choice", Choices: []string{"yes", "no"}}, " Yes, it is", "yes", true},
		{family{Reader: "choice", Choices: []string{"yes", "no"}}, "I think no", "no", true},
		{family{Reader: "choice", Choices: []string{"yes", "no"}}, "nothing", "", false},
		{family{Reader: "unknown"}, "yes", "", false},
	}
	for _, test := range tests {
		if key, ok := test.family.read(test.answer); key != test.key || ok != test.ok {
			t.Errorf("read(%q) as %s = %q, %t, want %q, %t", test.answer, test.family.Reader, key, ok, test.key, test.ok)
		}
	}
}

func small() *family {
	return &family{
		Name: "small", Reader: "number", Instruction: "Only the number.", Preamble: "Sums.\n\n",
		Wordings:    []string{"{a} + 1 =", "After {a} comes"},
		ExampleSets: [][]example{{{map[string]string{"a": "1"}, "2"}}, {{map[string]string{"a": "2"}, "3"}}},
		Items:       []item{{"small-1", map[string]string{"a": "5"}, []string{"6"}}},
	}
}

func TestRequest(t *testing.T) {
	f := small()
	tests := []struct {
		form              form
		wording, examples int
		want              *model.Request
	}{
		{text, 0, 0, &model.Request{MaxOutput: oneLineTokens, Messages: []model.Message{{Role: model.User, Text: "Sums.\n\n1 + 1 = 2\n\n5 + 1 ="}}}},
		{text, 1, 1, &model.Request{MaxOutput: oneLineTokens, Messages: []model.Message{{Role: model.User, Text: "Sums.\n\nAfter 2 comes 3\n\nAfter 5 comes"}}}},
		{chat, 0, 1, &model.Request{MaxOutput: oneLineTokens, System: "Sums.\n\nOnly the number.", Messages: []model.Message{
			{Role: model.User, Text: "2 + 1 ="}, {Role: model.Assistant, Text: "3"}, {Role: model.User, Text: "5 + 1 ="},
		}}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, f.request(test.form, &f.Items[0], test.wording, test.examples)); diff != "" {
			t.Errorf("request(%s, %d, %d): -want +got\n%s", test.form, test.wording, test.examples, diff)
		}
	}
}

func TestCheckFindsWhatSpoilsAMeasurement(t *testing.T) {
	tests := []struct {
		want  string // part of the error
		spoil func(f *family)
	}{
		{"", func(f *family) {}},
		{"shown already", func(f *family) { f.ExampleSets[1] = f.ExampleSets[0] }},
		{"is none", func(f *family) { f.ExampleSets[0][0].Answer = "two" }},
		{"is an example too", func(f *family) { f.Items[0].Fields["a"] = "2" }},
		{"has no answer", func(f *family) { f.Items[0].Answers = nil }},
		{"is none", func(f *family) { f.Items[0].Answers = []string{"six"} }},
		{"no field {b}", func(f *family) { f.Wordings[1] = "{a} and {b}" }},
		{"two items", func(f *family) {
			f.Items = append(f.Items, item{"small-1", map[string]string{"a": "7"}, []string{"8"}})
		}},
		{"it has no items", func(f *family) { f.Items = nil }},
	}
	for _, test := range tests {
		f := small()
		test.spoil(f)
		err := f.check()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("check() = %v, want %q", err, test.want)
		}
	}
}

func TestTasks(t *testing.T) {
	tasks, err := readTasks("own/tasks.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, task := range tasks {
		count[task.Kind]++
	}
	if diff := cmp.Diff(map[string]int{"plan": 20, "step": 20, "solve": 20, "do": 20}, count); diff != "" {
		t.Errorf("readTasks: -want +got\n%s", diff)
	}
}
