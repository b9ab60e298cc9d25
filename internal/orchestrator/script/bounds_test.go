package script

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/maker-mdap/maker/event"
)

// deep makes a list in a list, many times.
const deep = "    x = []\n    for i in range(1000000):\n        x = [x]\n"

// TestHostile: a script that would take all memory, all time or all of the stack ends with a
// word.
func TestHostile(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"an endless loop", "    for i in range(10000000):\n        for j in range(10000000):\n            pass\n", "more than 200000000 steps of execution"},
		{"an endless item", "    map(range(1000), endless)\n", "the items of a map take more than 200000000 steps of execution"},
		{"a gigabyte", "    return len(\"x\" * (1 << 30))\n", "would take more than 64 MB"},
		{"a list of a billion", "    return len([0] * (1 << 30))\n", "would take more than 64 MB"},
		{"doubling", "    s = \"x\"\n    for i in range(60):\n        s = s + s\n", "would take more than 64 MB"},
		{"doubling in place", "    s = \"x\"\n    for i in range(60):\n        s += s\n", "would take more than 64 MB"},
		{"a list that grows by itself", "    s = [1]\n    for i in range(60):\n        s += s\n", "would take more than 64 MB"},
		{"an element that grows by itself", "    d = {\"a\": [1]}\n    for i in range(60):\n        d[\"a\"] += d[\"a\"]\n", "would take more than 64 MB"},
		{"extend", "    s = [1]\n    for i in range(60):\n        s.extend(s)\n", "would take more than 64 MB"},
		{"join", "    s = \"x\" * 1000000\n    \",\".join([s] * 1000000)\n", "would take more than 64 MB"},
		{"getattr", "    s = \"x\" * 1000000\n    getattr(\",\", \"join\")([s] * 1000000)\n", "would take more than 64 MB"},
		{"replace", "    s = \"x\" * 1000000\n    s.replace(\"x\", s)\n", "would take more than 64 MB"},
		{"replace nothing", "    s = \"x\" * 1000000\n    s.replace(\"\", s)\n", "would take more than 64 MB"},
		{"format", "    s = \"x\" * 10000000\n    (\"{0}\" * 1000).format(s)\n", "would take more than 64 MB"},
		{"%", "    s = \"x\" * 10000000\n    \"%s%s%s%s%s%s%s\" % (s, s, s, s, s, s, s)\n", "would take more than 64 MB"},
		{"% of a mapping", "    s = \"x\" * 10000000\n    (\"%(a)s\" * 1000) % {\"a\": s}\n", "would take more than 64 MB"},
		{"letters", "    s = \"x\" * (60 << 20)\n    list(s.codepoints())\n", "would take more than 64 MB"},
		{"indenting what is deep", deep + "    json.encode_indent(x)\n", "nested more than 100 deep"},
		{"a huge number", "    x = 7\n    for i in range(60):\n        x = x * x\n", "more than 1048576 bits"},
		{"a huge range", "    return len(list(range(1 << 40)))\n", "a range may have 10000000"},
		{"a product of ranges", "    r = range(10000000)\n    zip(*([r] * 1000))\n", "would take more than 64 MB"},
		{"recursion", "    return [main][0]()\n", "function main called recursively"},
		{"recursion by map", "    return nested(0)\n", "more than 8 in each other"},
		{"printing what is deep", deep + "    str(x)\n", "nested more than 100 deep"},
		{"formatting what is deep", deep + "    \"%s\" % x\n", "nested more than 100 deep"},
		{"noting what is deep", deep + "    log(x)\n", "nested more than 100 deep"},
		{"failing with what is deep", deep + "    fail(x)\n", "nested more than 100 deep"},
		{"asking about what is deep", deep + "    ask(\"say x!\", schema = {\"a\": x})\n", "nested more than 100 deep"},
		{"returning what is deep", deep + "    return x\n", "nested more than 100 deep"},
		{"sharing what is deep", deep + "    map([1], lambda n: len(x))\n", "nested more than 10000 deep"},
		{"comparing what is deep", deep + "    return x == [x]\n", "maximum recursion depth"},
		{"encoding what is deep", deep + "    json.encode(x)\n", "nested more than 100 deep"},
		{"what prints endlessly", "    x = [1]\n    for i in range(40):\n        x = [x, x, x]\n    str(x)\n", "longer than 64 MB"},
		{"a chain of code alone", "    chain(0, lambda s: s + 1, until = lambda s: False)\n", "the last 100000 turns of this chain asked for nothing"},
		{"comparing what is large", "    d = {i: i for i in range(1000000)}\n    e = dict(d)\n    for i in range(1000000):\n        if d == e:\n            pass\n", "more than 200000000 steps of execution"},
		{"copying what is large", "    d = {i: i for i in range(1000000)}\n    for i in range(1000000):\n        d = dict(d)\n", "more than 200000000 steps of execution"},
		{"looking for what is not there", "    l = list(range(500000))\n    n = 0\n    for i in range(10000000):\n        if -1 in l:\n            n += 1\n", "more than 200000000 steps of execution"},
		{"sorting long texts", "    a = [\"a\" * 1000000 + str(i) for i in range(60)]\n    for i in range(1000000):\n        a = sorted(a)\n", "more than 200000000 steps of execution"},
		{"searching a long text", "    s = \"a\" * 30000000 + \"b\"\n    for i in range(1000000):\n        s.count(\"aab\")\n", "more than 200000000 steps of execution"},
		{"reading a huge number", "    return int(\"9\" * 20000000) % 7\n", "more than a whole number may have"},
		{"too many items", "    return len(map(range(2000000), lambda x: x))\n", "there may be 1000000"},
		{"a question without end", "    return ask(\"x\" * 60000000)\n", "the question has 60000000 bytes, and may have"},
		{"a deep key", "    x = ()\n    for i in range(1000000):\n        x = (x,)\n    return {\"a\": {x: 1}}\n", "nested more than 100 deep"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text := "def endless(n):\n    for i in range(10000000):\n        for j in range(10000000):\n            pass\n\n" +
				"def nested(n):\n    return map([n, n], nested)\n\ndef main():\n" + test.body
			failed, ok := newFake(echo).run(t, text, nil).(event.TaskFailed)
			if !ok || !strings.Contains(failed.Reason, test.want) {
				t.Errorf("got %q, want %q", failed.Reason, test.want)
			}
		})
	}
}

// TestRoom: a script ends when memory is short, whatever takes it.
func TestRoom(t *testing.T) {
	for _, script := range []string{
		"def main():\n    l = []\n    for i in range(100):\n        l.append(\"x\" * (10 << 20))",
		"def main():\n    l = []\n    for i in range(10000000):\n        l.append(i)",
	} {
		p, err := Compile(Source{Name: "test.star", Text: script})
		if err != nil {
			t.Fatal(err)
		}
		f := newFake(echo)
		if err := Run(f, Config{Program: p, Room: func() error { return errors.New("memory is short") }}); err != nil {
			t.Fatal(err)
		}
		if failed, ok := f.journal.emitted[0].(event.TaskFailed); !ok || !strings.Contains(failed.Reason, "memory is short") {
			t.Errorf("it ended with %+v", f.journal.emitted[0])
		}
	}
}

// TestGuard: what is looked at first comes to the same as without.
func TestGuard(t *testing.T) {
	for _, expr := range []string{
		`1 + 2`, `1 + x`, `"a" + "b"`, `[1] + [2]`, `(1,) + (2,)`, `1.5 + 2`, `"a" + 1`, `[1] + (2,)`, `None + 1`,
		`3 * 4`, `"ab" * 3`, `3 * "ab"`, `"ab" * -1`, `-2 * "ab"`, `[1, 2] * 2`, `2 * (1, 2)`, `"a" * "b"`, `x * x`, `1.5 * 2`, `(1 << 70) * (1 << 70)`, `True * 2`, `b"ab" * 2`,
		`7 % 3`, `-7 % 3`, `7.5 % 2`, `"%d and %s" % (1, "x")`, `"%s" % [1, 2]`, `"%(a)s" % {"a": 1}`, `"%d" % "x"`, `"%s %s" % (1,)`, `"100%%" % ()`,
		`", ".join(["a", "b"])`, `", ".join([1])`, `"aaa".replace("a", "bc")`, `"aaa".replace("a", "bc", 1)`, `"{} {}".format(1, "x")`, `"{a}".format(a = [1])`, `"{0}{0}".format(1)`,
		`"a b".split()`, `"a,b".split(",")`, `"a\nb".splitlines()`, `"abc".partition("b")`, `list(range(3))`, `list(range(10, 0, -3))`, `range(5)[2]`, `str([1, "a"])`, `repr("x")`,
		`sorted([3, 1, 2], reverse = True)`, `sorted(["b", "A"], key = lambda s: s.lower())`, `zip([1, 2], "ab".elems())`, `enumerate(["a"], 5)`, `dict([(1, 2)], a = 3)`, `reversed([1, 2])`, `tuple([1])`,
		`[i + j for i in range(3) for j in range(i) if i % 2 == 0]`, `{k: v + "!" for k, v in {"a": "b"}.items()}`, `(lambda a, b = 2 + 3, *c, **d: [a + b, c, d])(1, 2, 3, e = 4)`,
		`getattr("a", "upper")()`, `getattr("a", "nope", 7)`, `getattr("a", "nope")`, `"a".nope`, `"x" if 1 + 1 == 2 else "y"`, `[1, 2, 3][1 + 0:]`, `{"a" + "b": 1 + 1}`, `not (1 + 1)`, `-(2 * 3)`,
		`max([1, 2] + [3])`, `"".join([c.upper() for c in "abc".elems()])`, `[x + 1 for x in [1, 2]]`, `hash("a")`,
	} {
		t.Run(expr, func(t *testing.T) {
			text := "x = 5\nresult = " + expr + "\n"
			got, want := evaluate(t, text, true), evaluate(t, text, false)
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	for _, body := range []string{
		"x += 1", "x = 'a'; x += 'b'", "x = [1]; y = x; x += [2]; x = [x, y]", "x = [1]; x += (2,)", "x = [1]; x += 2", "x *= 3", "x = 7; x %= 4", "x = '%d'; x %= 3",
		"x = {'a': 1}; x['a'] += 2", "x = {}; x['a'] += 2", "x = [1, 2]; x[-1] += 5", "x = [1]; x[3] += 1", "x = (1,); x[0] += 1", "x = 5; x -= 1", "x = 6; x //= 4", "x = 'a'; x += 1",
		"x = [[1]]; x[0] += [2]", "x = {'a': {'b': 'c'}}; x['a']['b'] *= 3", "(x) += 1",
	} {
		t.Run(body, func(t *testing.T) {
			text := "def f():\n    x = 1\n    " + strings.ReplaceAll(body, "; ", "\n    ") + "\n    return x\n\nresult = f()\n"
			got, want := evaluate(t, text, true), evaluate(t, text, false)
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// evaluate is what a script makes of the name result, with or without guards.
func evaluate(t *testing.T, text string, guards bool) string {
	t.Helper()
	f, err := options.Parse("test.star", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := predeclare()
	if guards {
		guard(f)
	} else {
		names = starlark.StringDict{}
	}
	p, err := starlark.FileProgram(f, names.Has)
	if err != nil {
		return "error: " + err.Error()
	}
	globals, err := p.Init(newThread("test", 1<<20, nil), names)
	if err != nil {
		return "error: " + cause(err).Error()
	}
	v := globals["result"]
	return v.Type() + " " + v.String()
}

func TestNesting(t *testing.T) {
	inside := strings.Repeat("(", 1000)
	for text, ok := range map[string]bool{
		"def main():\n    return \"" + inside + "\"":                          true,
		"def main():\n    # " + inside + "\n    return 1":                     true,
		"def main():\n    return '''" + inside + "\n'''":                      true,
		"def main():\n    return r\"\\" + "\"" + inside + "\"":                true,
		"def main():\n    return " + inside + "1" + strings.Repeat(")", 1000): false,
		"def main():\n    return " + strings.Repeat("-", 100_000) + "1":       false,
		"def main():\n    return " + strings.Repeat("not ", 50_000) + "1":     false,
		"def main():\n    return " + strings.Repeat("1+", 100_000) + "1":      true,
		strings.Repeat("#", maxSource+1):                                      false,
	} {
		_, err := Compile(Source{Name: "test.star", Text: text})
		if (err == nil) != ok {
			t.Errorf("%.60q: %v", text, err)
		}
	}
}

func FuzzCompile(f *testing.F) {
	f.Add("def main():\n    return ask(\"x\" + 1, one_of = [\"a\"])")
	f.Add("load(\"a.star\", \"b\")\nX = [i * 2 for i in range(3)]\ndef main(args):\n    d = {}\n    d[1] += 2\n    return lambda x = 1 % 2, *y, **z: x.join(y)")
	f.Add("def f(a, b = 1, *, c, **d):\n    pass\ndef main():\n    f(1, c = 2)\n    chain(0, f, times = 1)")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Compile(Source{Name: "test.star", Text: text})
		if err != nil {
			return
		}
		if _, _, err := p.init(nil); err != nil {
			_ = Describe(err)
		}
	})
}

// BenchmarkOperators is what looking first costs.
func BenchmarkOperators(b *testing.B) {
	for _, guards := range []bool{false, true} {
		b.Run(fmt.Sprint(guards), func(b *testing.B) {
			f, err := options.Parse("test.star", "def f():\n    s = ''\n    for i in range(100000):\n        s = 'a' + 'b'\n    return s\n", syntax.Mode(0))
			if err != nil {
				b.Fatal(err)
			}
			names := predeclare()
			if guards {
				guard(f)
			}
			p, err := starlark.FileProgram(f, names.Has)
			if err != nil {
				b.Fatal(err)
			}
			globals, err := p.Init(new(starlark.Thread), names)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := starlark.Call(new(starlark.Thread), globals["f"], nil, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
