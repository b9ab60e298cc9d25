package yamlclean

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A damaged is a plan as a model would write it, with a slip or two, and what it
// should say.
type damaged struct {
	text string
	want any
}

// A vandal writes a plan line by line, and damages it.
type vandal struct {
	*rand.Rand
	lines []string
	text  map[int]bool // lines that belong to a block
}

func (v *vandal) pick(from ...string) string { return from[v.IntN(len(from))] }

// scalar returns a text and how it is written, damaged if asked for.
func (v *vandal) scalar(damage, item bool) (text, written string) {
	if !damage {
		text = v.pick("Read the file", "Write it down", "run the tests twice", "it's here", "config.json")
		return text, text
	}
	switch kind := v.IntN(5); {
	case kind == 0 && !item: // an item with a colon is a mapping
		text = v.pick("Step 1: read", "Read: the file", "Use tool: Read on path: /tmp/x", "Do this:", "it's: fine", "issue: see #12")
		return text, text
	case kind <= 1:
		text = v.pick("@ann", "`ls -la`", "*.go", "[WIP] fix it", "{user}/files", "%5 more", "!important thing", "& more", "**bold** word", "[docs](http://x/y)", ">= 5", "{{ name }}")
		return text, text
	case kind == 2:
		text = v.pick(`the "best" one`, `say "hi"`, `from "a" to "b"`)
		return text, `"` + text + `"`
	case kind == 3:
		text = v.pick(`"Foo" and more`, `"Foo" or "bar"`, `'a' is not b`)
		return text, text
	default:
		text = v.pick(`\d+`, `C:\Documents\Git`, `a\.b`)
		return text, `"` + text + `"`
	}
}

func (v *vandal) put(format string, args ...any) {
	v.lines = append(v.lines, fmt.Sprintf(format, args...))
}

// paragraph writes a text of several lines, without its marker if damaged.
func (v *vandal) paragraph(margin, key string, damage bool) string {
	texts := []string{v.pick("Open the file.", "Look at it carefully.", "First read this"), v.pick("Then report: all of it.", "Use the tool: Read", "go on: now"), v.pick("Done.", "and that is all")}
	first := 0
	switch {
	case !damage:
		v.put("%s%s: |-", margin, key)
	case v.IntN(2) == 0:
		v.put("%s%s: %s", margin, key, texts[0])
		first = 1
	default:
		v.put("%s%s:", margin, key)
	}
	for _, t := range texts[first:] {
		v.text[len(v.lines)] = true
		v.put("%s  %s", margin, t)
	}
	return strings.Join(texts, "\n")
}

func damagePlan(r *rand.Rand) damaged {
	v := &vandal{Rand: r, text: map[int]bool{}}
	kind := v.IntN(5)
	reasoning, written := v.scalar(kind == 0 && v.IntN(2) == 0, false)
	v.put("reasoning: %s", written)
	v.put("plan:")
	margin := v.pick("", "  ")
	steps := []any{}
	for i := range 1 + v.IntN(3) {
		step := map[string]any{"step": i}
		v.put("%s- step: %d", margin, i)
		step["title"], written = v.scalar(kind == 0 && v.IntN(3) == 0, false)
		v.put("%s  title: %s", margin, written)
		step["text"] = v.paragraph(margin+"  ", "text", kind == 1 && v.IntN(2) == 0)
		if v.IntN(2) == 0 {
			v.put("%s  tools:", margin)
			tools := []any{}
			for range 1 + v.IntN(3) {
				tool, written := v.scalar(kind == 0 && v.IntN(4) == 0, true)
				v.put("%s    - %s", margin, written)
				tools = append(tools, tool)
			}
			step["tools"] = tools
		} else {
			v.put("%s  tools: [Read, Grep]", margin)
			step["tools"] = []any{"Read", "Grep"}
		}
		if v.IntN(2) == 0 {
			v.put("%s  args:", margin)
			v.put("%s    depth: %d", margin, i)
			v.put("%s    name: x", margin)
			step["args"] = map[string]any{"depth": i, "name": "x"}
		}
		v.put("%s  next: %d", margin, i+1)
		step["next"] = i + 1
		steps = append(steps, step)
	}
	v.put("done: true")
	v.damageLines(kind)
	return damaged{strings.Join(v.lines, "\n") + "\n", map[string]any{"reasoning": reasoning, "plan": steps, "done": true}}
}

// damageLines damages what is there.
func (v *vandal) damageLines(kind int) {
	i := 1 + v.IntN(len(v.lines)-1)
	t := v.lines[i]
	switch kind {
	case 2: // a space or two more or less
		switch by := v.IntN(4) - 2; {
		case by >= 0:
			v.lines[i] = strings.Repeat(" ", by+1) + t
		case strings.HasPrefix(t, strings.Repeat(" ", -by)):
			v.lines[i] = t[-by:]
		}
	case 3: // tabs for two spaces, here or everywhere
		everywhere := v.IntN(2) == 0
		for j, t := range v.lines {
			body := strings.TrimLeft(t, " ")
			if n := len(t) - len(body); everywhere || i == j {
				v.lines[j] = strings.Repeat("\t", n/2) + body
			}
		}
	case 4: // a character of the syntax is gone, or a text is not indented
		if v.text[i] {
			v.lines[i] = strings.TrimLeft(t, " ")
			return
		}
		if at := strings.IndexAny(t, `:-[],|`); at >= 0 {
			v.lines[i] = t[:at] + t[at+1:]
		}
	}
}

// A repaired plan says what it should have said. One that cannot be repaired is
// an error, and never something else.
func TestRepairsAreRight(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	fixed, failed := 0, 0
	plans := 1500
	if raceDetector {
		plans = 300
	}
	for range plans {
		d := damagePlan(r)
		got, err := Clean(d.text)
		switch {
		case err != nil:
			failed++
			continue
		case !got.Repaired:
			continue
		}
		fixed++
		want, err := json.Marshal(d.want)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(exactly(t, want), exactly(t, got.Data)); diff != "" {
			t.Fatalf("Clean(%q) with the fixes %q: -want +got\n%s", d.text, got.Fixes, diff)
		}
	}
	if fixed < plans/3 || failed > plans/3 {
		t.Errorf("%d of %d plans were repaired and %d were not, want more of the first", fixed, plans, failed)
	}
}

// A jsonVandal writes values as somebody would who knows JSON by hearsay.
type jsonVandal struct {
	*rand.Rand
	strings.Builder
	slips int // how likely each of them is, in percent
}

func (v *jsonVandal) slip() bool { return v.IntN(100) < v.slips }

func (v *jsonVandal) string(s string) {
	switch {
	case v.slip():
		v.WriteString("'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(s) + "'")
	case v.slip():
		v.WriteString(`"` + s + `"`) // nothing is escaped
	case v.slip():
		v.WriteString("“" + s + "”")
	default:
		b, _ := json.Marshal(s)
		v.Write(b)
	}
}

func (v *jsonVandal) value(x any, depth int) {
	space := strings.Repeat("  ", depth)
	comma := func(last bool) {
		switch {
		case last && !v.slip() || !last && v.slip():
		case v.slip():
			v.WriteString(", // see: below")
		default:
			v.WriteString(",")
		}
		v.WriteString("\n")
	}
	switch x := x.(type) {
	case string:
		v.string(x)
	case []any:
		v.WriteString("[\n")
		for i, e := range x {
			v.WriteString(space + "  ")
			v.value(e, depth+1)
			comma(i == len(x)-1)
		}
		v.WriteString(space + "]")
	case map[string]any:
		v.WriteString("{\n")
		i := 0
		for _, k := range []string{"a", "b c", "d", "e"} {
			if e, ok := x[k]; ok {
				v.WriteString(space + "  ")
				v.string(k)
				v.WriteString(": ")
				v.value(e, depth+1)
				i++
				comma(i == len(x))
			}
		}
		v.WriteString(space + "}")
	case bool:
		if s := fmt.Sprint(x); v.slip() {
			v.WriteString(strings.ToUpper(s[:1]) + s[1:])
		} else {
			v.WriteString(s)
		}
	case nil:
		if v.slip() {
			v.WriteString("None")
		} else {
			v.WriteString("null")
		}
	default:
		fmt.Fprint(v, x)
	}
}

func randomPlain(r *rand.Rand, depth int) any {
	switch kind := r.IntN(8); {
	case kind == 0:
		return r.IntN(2) == 0
	case kind == 1:
		return nil
	case kind == 2:
		return r.IntN(1000)
	case kind < 6 || depth > 2:
		return []string{"", "x", "it's", `say "hi" now`, "a, b", "k: v", "[x]", "{y}", `\d+`, "two\nlines", "// no", "# no", `a "b", c`, `"q"`, "end.", "don't 'do' it"}[r.IntN(16)]
	case kind == 6:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, randomPlain(r, depth+1))
		}
		return list
	}
	m := map[string]any{}
	for _, k := range []string{"a", "b c", "d", "e"} {
		if r.IntN(2) == 0 {
			m[k] = randomPlain(r, depth+1)
		}
	}
	return m
}

func TestNearlyJSONIsRight(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	fixed := 0
	for range 4000 {
		want := map[string]any{"a": randomPlain(r, 0), "d": randomPlain(r, 0)}
		v := &jsonVandal{Rand: r, slips: 1 + r.IntN(10)}
		v.value(want, 0)
		got, err := Clean(v.String())
		if err != nil || !got.Repaired {
			continue
		}
		fixed++
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(exactly(t, data), exactly(t, got.Data)); diff != "" {
			t.Fatalf("Clean(%s) with the fixes %q: -want +got\n%s", v.String(), got.Fixes, diff)
		}
	}
	if fixed < 500 {
		t.Errorf("%d of 4000 texts were repaired, too few to test anything", fixed)
	}
}
