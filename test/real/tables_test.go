package main

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what the tests expect")

// The folder testdata/bank has a small part of the bank: some items of two families,
// and some answers to our own prompts.
func TestTables(t *testing.T) {
	b, err := readBank("testdata/bank")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	writeTables(&got, b, committed(t))
	const golden = "testdata/tables.md"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("writeTables: -want +got; go test ./test/real -update writes it\n%s", diff)
	}
}

// What is published is what the bank says.
func TestResultsAreThoseOfTheBank(t *testing.T) {
	b, err := readBank("bank")
	if err != nil {
		t.Fatal(err)
	}
	var tables strings.Builder
	writeTables(&tables, b, committed(t))
	results, err := os.ReadFile("../../docs/results.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(results), tables.String()) {
		t.Error("docs/results.md does not have the tables that go run ./test/real tables test/real/bank prints")
	}
}

// Every answer in the bank belongs to a question that is there, and was asked as it
// would be asked today.
func TestBankFitsTheFamilies(t *testing.T) {
	b, err := readBank("bank")
	if err != nil {
		t.Fatal(err)
	}
	form := map[string]form{"gemma-3-270m-q4_k_m": text, "smollm2-135m-instruct-q4_1": chat}
	prompts := map[question]string{}
	for name, as := range form {
		for _, j := range jobs(name, committed(t), stages, workedItems) {
			prompts[j.question] = promptHash(j.family.request(as, j.item, j.Wording, j.Examples))
		}
	}
	for q, s := range b {
		if want, ok := prompts[q]; ok && s.Prompt != want {
			t.Errorf("%+v was asked with the prompt %s, and is %s now", q, s.Prompt, want)
		} else if !ok && !slices.Contains(ownKinds, q.Family) {
			t.Errorf("nobody asks %+v", q)
		}
	}
}

func TestShape(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "empty"}, {" \n", "empty"}, {"count: 9", "mapping"}, {"```yaml\ncount: 9\n```", "mapping"},
		{`Here it is: {"solution": "391"}`, "mapping"}, {`{"a": 1} is {"b": 2}`, "json"}, {"There are nine words.", "text"}, {`{"a": `, "text"}, {"- a\n- b", "text"},
	}
	for _, test := range tests {
		if got := shape(&sample{Text: test.text}); got != test.want {
			t.Errorf("shape(%q) = %s, want %s", test.text, got, test.want)
		}
	}
}
