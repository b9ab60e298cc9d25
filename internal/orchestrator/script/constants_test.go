package script

import (
	"strings"
	"testing"
)

// TestCheckConstants: arguments that are written down are read as a run reads them.
func TestCheckConstants(t *testing.T) {
	tests := []struct{ call, want string }{
		{`ask("x", k = "3")`, `ask: for parameter "k": got string, want int`},
		{`ask("x", k = 0)`, `ask: for parameter "k": got 0, want at least 1`},
		{`ask("x", k = -1)`, `ask: for parameter "k": got -1, want at least 1`},
		{`ask(n, k = 0)`, `ask: for parameter "k": got 0, want at least 1`},
		{`ask(3)`, `ask: for parameter "prompt": got int, want string`},
		{`ask(" ")`, `ask: the question is empty`},
		{`ask("x", one_of = "a,b")`, `ask: one_of: got string, want a list of strings`},
		{`ask("x", "a,b")`, `ask: one_of: got string, want a list of strings`},
		{`ask("x", one_of = ["a", 1])`, `ask: one_of: got a list with a int, want strings`},
		{`ask("x", one_of = [])`, `ask: one_of: `},
		{`ask("x", match = "[")`, `ask: match: `},
		{`ask("x", schema = {"a": "strin"})`, `ask: schema: a: "strin" is no type`},
		{`ask("x", schema = {"a": {"b": ("c", 1)}})`, `ask: schema: a: b: got a list with a int`},
		{`ask("x", bool = True, number = True)`, `ask: number and bool: an answer is one of these`},
		{`ask("x", bool = True, number = True, otherwise = n)`, `ask: number and bool: an answer is one of these`},
		{`ask("x", compare = "sense")`, `ask: compare = "sense", want "meaning" or "exact"`},
		{`ask("x", vote_on = ["a"])`, `ask: vote_on and ignore name fields of a JSON schema`},
		{`ask("x", within = [1])`, `ask: within: got list, want a number`},
		{`ask("x", date_order = "mdx")`, `ask: date: `},
		{`act("x", tools = "Read")`, `act: tools: got string, want a list of strings`},
		{`act("x", tools = n, match = "[")`, `act: match: `},
		{`act("x", ["Read"], max_moves = "3")`, `act: for parameter "max_moves": got string, want int`},
		{`rows(1)`, `rows: for parameter "path": got int, want string`},
		{`read("https://example.com/a")`, `read: https://example.com/a is an address, want a file`},
		{`human("x", options = "yes,no")`, `human: options: got string, want a list of strings`},
		{`call(3)`, `call: for parameter 1: got int, want string`},
		{`map(3, str)`, `map: for parameter "items": got int, want iterable`},
		{`map([1], 3)`, `map: for parameter "f": got int, want callable`},
		{`map(n, "str")`, `map: for parameter "f": got string, want callable`},
		{`map([1], lambda: 1)`, `map: f is called with one value: got 1 arguments, want at most 0`},
		{`map([1], lambda a, b: a)`, `map: f is called with one value: missing argument for b`},
		{`map([1], two)`, `map: f is called with one value: missing argument for b`},
		{`map(f = none, items = n)`, `map: f is called with one value: got 1 arguments, want at most 0`},
		{`chain(0, two, times = 3)`, `chain: step is called with one value: missing argument for b`},
		{`chain(0, str, until = lambda: True)`, `chain: until is called with one value: got 1 arguments`},
		{`chain(0, str, times = -1)`, `chain: for parameter "times": got -1, want at least 0`},
		{`chain(0, str, times = -1, until = bool)`, `chain: for parameter "times": got -1, want at least 0`},
		{`chain(0, str, until = lambda s: ask("x", bool = True))`, `ask: this can be called by main`},
		{`map([1], lambda x: chain(x, str, times = 1))`, `chain: it can be called on the main line only`},
		{`map([1], lambda x: map([x], lambda y: [chain(y, str, times = 1)]))`, `chain: it can be called on the main line only`},
		{`chain(0, lambda x: chain(x, str, times = 1), times = 2)`, `chain: it can be called on the main line only`},

		// What is computed is left alone, and what is right is.
		{`ask(n, k = n, one_of = n, match = n, schema = n, compare = n, within = n)`, ""},
		{`ask("x", one_of = ["a", n])`, ""},
		{`ask("x", one_of = None, schema = None)`, ""},
		{`ask("x", schema = n, vote_on = ["a"], ignore = ["b"])`, ""},
		{`ask("x", schema = {"type": "object", "properties": {"a": {"type": "string"}}}, vote_on = ["a"])`, ""},
		{`ask("x", schema = {"a": "prose", "b": ["c", "d"], "e": {"f": "list of numbers"}}, list = True)`, ""},
		{`ask("x", unit = "kg", within = -0.5 if n else 1)`, ""},
		{`ask("x", number = n, bool = True)`, ""},
		{`ask("x", k = 3, otherwise = None, framings = 1)`, ""},
		{`ask(k = 0, *n)`, ""},
		{`ask("x", k = 0, **n)`, ""},
		{`act(n, n, within = "1%")`, ""},
		{`rows(n)`, ""},
		{`human(n, n)`, ""},
		{`call("Wrte", k = 0, path = 3)`, ""},
		{`map(n, n)`, ""},
		{`map([1], lambda a, b = 1, *c, **d: a)`, ""},
		{`map([1], lambda *a: a)`, ""},
		{`map([1], one)`, ""},
		{`map([1], ask)`, ""},
		{`chain(n, n, n)`, ""},
		{`chain(n, n, until = n)`, ""},
		{`chain(0, str, times = 0)`, ""},
		{`chain(0, str, until = lambda s: fail("x"))`, ""},
	}
	const around = "def none():\n    return 0\ndef one(a, b = 1):\n    return a\ndef two(a, b):\n    return a\ndef main(n):\n    "
	for _, test := range tests {
		_, err := Compile(Source{Name: "test.star", Text: around + test.call})
		switch {
		case test.want == "" && err != nil:
			t.Errorf("Compile(%s) = %v, want no problem", test.call, err)
		case test.want != "" && err == nil:
			t.Errorf("Compile(%s) finds nothing, want %s", test.call, test.want)
		case test.want != "":
			place, problem, _ := strings.Cut(err.Error(), ": ")
			if !strings.HasPrefix(place, "test.star:8:") || !strings.HasPrefix(problem, test.want) || strings.Contains(problem, "\n") {
				t.Errorf("Compile(%s) = %v, want %s", test.call, err, test.want)
			}
		}
	}
}

// TestCheckRecursion: a function that calls itself cannot succeed. One that has itself called
// by a map can: items have calls of their own.
func TestCheckRecursion(t *testing.T) {
	tests := []struct{ text, want string }{
		{"def f(n):\n    return f(n)", "test.star:2:13: function f calls itself"},
		{"def f(n):\n    if n:\n        return [f(x) for x in n]\n    return 0", "test.star:3:18: function f calls itself"},
		{"def f(n):\n    return map(n, lambda x: f(x))", ""},
		{"def f(n):\n    return map(n, f)", ""},
		{"def f(n):\n    def g(x):\n        return f(x)\n    return map(n, g)", ""},
		{"def f(f):\n    return f(1)", ""},
		{"def f(n):\n    return n\ndef g(n):\n    return f(f(n))", ""},
	}
	for _, test := range tests {
		_, err := Compile(Source{Name: "test.star", Text: test.text + "\ndef main():\n    return 1"})
		if got := errorText(err); test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
			t.Errorf("Compile(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
