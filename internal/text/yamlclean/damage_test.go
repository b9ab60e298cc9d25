package yamlclean

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
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
func (v *vandal) scalar(damage bool) (text, written string) {
	if !damage {
		text = v.pick("Read the file", "Write it down", "run the tests twice", "it's here", "config.json")
		return text, text
	}
	text = v.pick("Step 1: read", "Read: the file", "Use tool: Read on path: /tmp/x", "Do this:", "it's: fine", "issue: see #12")
	return text, text
}

func (v *vandal) put(format string, args ...any) {
	v.lines = append(v.lines, fmt.Sprintf(format, args...))
}

// paragraph writes a text of several lines.
func (v *vandal) paragraph(margin, key string) string {
	texts := []string{v.pick("Open the file.", "Look at it carefully.", "First read this"), v.pick("Then report: all of it.", "Use the tool: Read", "go on: now"), v.pick("Done.", "and that is all")}
	v.put("%s%s: |-", margin, key)
	for _, t := range texts {
		v.text[len(v.lines)] = true
		v.put("%s  %s", margin, t)
	}
	return strings.Join(texts, "\n")
}

func damagePlan(r *rand.Rand) damaged {
	v := &vandal{Rand: r, text: map[int]bool{}}
	kind := v.IntN(6)
	reasoning, written := v.scalar(kind == 0 && v.IntN(2) == 0)
	v.put("reasoning: %s", written)
	v.put("plan:")
	margin := v.pick("", "  ")
	steps := []any{}
	for i := range 1 + v.IntN(3) {
		step := map[string]any{"step": i}
		v.put("%s- step: %d", margin, i)
		step["title"], written = v.scalar(kind == 0 && v.IntN(3) == 0)
		v.put("%s  title: %s", margin, written)
		step["text"] = v.paragraph(margin+"  ", "text")
		if v.IntN(2) == 0 {
			v.put("%s  tools:", margin)
			tools := []any{}
			for range 1 + v.IntN(3) {
				tool, written := v.scalar(false) // an item with a colon is a mapping
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
	case 1: // a space or two more or less
		switch by := v.IntN(4) - 2; {
		case by >= 0:
			v.lines[i] = strings.Repeat(" ", by+1) + t
		case strings.HasPrefix(t, strings.Repeat(" ", -by)):
			v.lines[i] = t[-by:]
		}
	case 2: // tabs for two spaces, here or everywhere
		everywhere := v.IntN(2) == 0
		for j, t := range v.lines {
			body := strings.TrimLeft(t, " ")
			if n := len(t) - len(body); everywhere || i == j {
				v.lines[j] = strings.Repeat("\t", n/2) + body
			}
		}
	case 4: // the markers of texts are gone, or the texts begin behind their keys
		behind := v.IntN(2) == 0
		for j := 0; j < len(v.lines); j++ {
			t, ok := strings.CutSuffix(v.lines[j], " |-")
			if !ok {
				continue
			}
			if v.lines[j] = t; behind {
				v.lines[j] += " " + strings.TrimSpace(v.lines[j+1])
				v.lines = slices.Delete(v.lines, j+1, j+2)
			}
		}
	case 5: // commas as in JSON
		for j, t := range v.lines {
			if !v.text[j] && strings.Contains(t, ": ") && !strings.HasSuffix(t, "|-") {
				v.lines[j] += ","
			}
		}
	case 3: // a character of the syntax is gone, or a text is not indented
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
	if fixed < plans/6 || failed > plans*3/4 { // of lines that are off, of tabs and of syntax that is gone, none is repaired
		t.Errorf("%d of %d plans were repaired and %d were not, want more of the first", fixed, plans, failed)
	}
}
