package yamlclean

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what comes out into testdata/clean")

// A sample is a text from testdata/clean. An archive has pairs of files: the
// text, and with ".want" after its name what comes out.
type sample struct {
	name, text, want string
}

func samples(t testing.TB) []sample {
	t.Helper()
	names, err := filepath.Glob("testdata/clean/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	var all []sample
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		group := strings.TrimSuffix(filepath.Base(name), ".txtar")
		want := map[string]string{}
		for _, f := range archive.Files {
			if base, ok := strings.CutSuffix(f.Name, ".want"); ok {
				want[base] = string(f.Data)
			}
		}
		for _, f := range archive.Files {
			if !strings.HasSuffix(f.Name, ".want") {
				all = append(all, sample{group + "/" + f.Name, string(f.Data), want[f.Name]})
			}
		}
	}
	return all
}

// describe writes a result as the samples do.
func describe(r Result, err error) string {
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	status := "read"
	if r.Repaired {
		status = "repaired: " + strings.Join(r.Fixes, ", ")
	}
	return status + "\n" + string(r.Data) + "\n"
}

func TestClean(t *testing.T) {
	all := samples(t)
	if len(all) < 120 {
		t.Errorf("there are %d samples, want 120 at least", len(all))
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			got := describe(Clean(s.text))
			if diff := cmp.Diff(s.want, got); diff != "" && !*update {
				t.Errorf("Clean(%q): -want +got\n%s", s.text, diff)
			}
		})
	}
	if *update {
		updateSamples(t, all)
	}
}

func updateSamples(t *testing.T, all []sample) {
	archives := map[string]*txtar.Archive{}
	for _, s := range all {
		group, name, _ := strings.Cut(s.name, "/")
		file := filepath.Join("testdata", "clean", group+".txtar")
		if archives[file] == nil {
			old, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			archives[file] = &txtar.Archive{Comment: old.Comment}
		}
		got := describe(Clean(s.text))
		archives[file].Files = append(archives[file].Files, txtar.File{Name: name, Data: []byte(s.text)}, txtar.File{Name: name + ".want", Data: []byte(got)})
	}
	for file, a := range archives {
		if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCleanWhatNoArchiveCanHold(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "error: line 1, column 1: there is nothing here but blank lines and comments; write a value\n"},
		{"blank", " \n\t\n", "error: line 1, column 1: there is nothing here but blank lines and comments; write a value\n"},
		{"windows lines", "a: 1\r\nb: |\r\n  x\r\n  y\r\n", "read\n{\"a\":1,\"b\":\"x\\ny\\n\"}\n"},
		{"windows lines in a fence", "Here:\r\n```yaml\r\na: b: c\r\n```\r\n", "repaired: unquoted_colon\n{\"a\":\"b: c\"}\n"},
		{"byte order mark", "\uFEFFa: 1\n", "read\n{\"a\":1}\n"},
		{"byte order mark before JSON", "\uFEFF{\"a\": 1}", "read\n{\"a\":1}\n"},
		{"no line break at the end", "a: x: y", "repaired: unquoted_colon\n{\"a\":\"x: y\"}\n"},
		{"NUL", "a: 1\nb: x\x00y\n", "error: line 2, column 5: a NUL character is not text; remove it\n"},
		{"not UTF-8", "a: 1\nb: é\xff\n", "error: line 2, column 5: this is not UTF-8; save the text as UTF-8\n"},
		{"bell", "a: \a\n", "error: line 1, column 4: the control character U+0007 is not text; remove it, or write it as an escape in double quotes\n"},
		{"line separator", "a: one\u2028two\n", "error: line 1, column 7: the character U+2028 may or may not end a line; write it as an escape in double quotes\n"},
		{"line separator in JSON", "{\"a\": \"one\u2028two\"}", "read\n{\"a\":\"one\\u2028two\"}\n"},
		{"half a character", `{"a": "\ud83d"}`, "error: line 1, column 7: a \\u escape in this string is half of a character; write both halves\n"},
		{"the place in a fence that is indented", "- x\n\n  ```yaml\n  a: 1\n  a: 2\n  ```\n", "error: line 5, column 3: the key \"a\" is already on line 4; remove one of them\n"},
	} {
		if got := describe(Clean(test.text)); got != test.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", test.name, test.text, got, test.want)
		}
	}
}

func TestTextIsWhatWasParsed(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"a: 1\r\n", "a: 1\r\n"},
		{"Sure.\n```yaml\na: 1\n\nb: 2\n```\n", "a: 1\n\nb: 2"},
		{"a: b: c # d\n", ""},
		{"a: b: c\nd: 'e' # f\n", "a: 'b: c'\nd: 'e' # f\n"},
	} {
		if got, _ := Clean(test.text); got.Text != test.want {
			t.Errorf("Clean(%q).Text = %q, want %q", test.text, got.Text, test.want)
		}
	}
}

func TestReadRepairsNothing(t *testing.T) {
	for _, s := range samples(t) {
		r, err := Read(s.text)
		if r.Repaired || r.Fixes != nil {
			t.Errorf("Read(%q) repaired it: %q", s.text, r.Fixes)
		}
		got := describe(r, err)
		switch {
		case strings.HasPrefix(s.want, "repaired"):
			fixes, _, _ := strings.Cut(strings.TrimPrefix(s.want, "repaired: "), "\n")
			if err == nil && (got == s.want || !saysOtherwise(strings.Split(fixes, ", "))) {
				t.Errorf("Read(%q) = %q, want an error", s.text, got)
			}
		case got != s.want:
			t.Errorf("Read(%q) = %q, want %q", s.text, got, s.want)
		}
	}
}

func TestCleanWith(t *testing.T) {
	const broken = "a: [1, 2\nb: 3\n"
	outage := errors.New("outage")
	for _, test := range []struct {
		name, text, fixed string
		err               error
		want              string
		calls             int
	}{
		{"not needed", "a: b: c", "x: 1", nil, "repaired: unquoted_colon\n{\"a\":\"b: c\"}\n", 0},
		{"good", broken, "a: [1, 2]\nb: 3\n", nil, "repaired: model\n{\"a\":[1,2],\"b\":3}\n", 1},
		{"in a fence, with a slip", broken, "Here it is:\n```yaml\na: [1, 2]\nb: c: d\n```", nil, "repaired: model, unquoted_colon\n{\"a\":[1,2],\"b\":\"c: d\"}\n", 1},
		{"still broken", broken, "a: {", nil, "error: line 1: ", 1},
		{"an excuse", broken, "I cannot do that.", nil, "error: line 1: ", 1},
		{"outage", broken, "", outage, "error: line 1: ", 1},
	} {
		calls := 0
		r, err := CleanWith(test.text, func(text string, problem error) (string, error) {
			calls++
			var p *ParseError
			if text != test.text || !errors.As(problem, &p) || p.Line != 1 {
				t.Errorf("%s: the model is given %q and %v", test.name, text, problem)
			}
			return test.fixed, test.err
		})
		if got := describe(r, err); !strings.HasPrefix(got, test.want) || calls != test.calls {
			t.Errorf("%s: CleanWith(%q) = %q after %d calls, want %q after %d", test.name, test.text, got, calls, test.want, test.calls)
		}
		var p *ParseError
		if err != nil && !errors.As(err, &p) {
			t.Errorf("%s: the error is %v, want a ParseError", test.name, err)
		}
		if test.err != nil && !errors.Is(err, test.err) {
			t.Errorf("%s: the error is %v, want it to wrap %v", test.name, err, test.err)
		}
	}
	if _, err := CleanWith(broken, nil); err == nil {
		t.Errorf("CleanWith(%q, nil) = nil, want the error", broken)
	}
}

// samplePlan is a plan with this many steps of a kilobyte each.
func samplePlan(steps int) string {
	var b strings.Builder
	b.WriteString("reasoning: |\n  Because it has to be done.\nplan:\n")
	for i := range steps {
		fmt.Fprintf(&b, "  - step: %d\n    task_type: action_step\n    title: Do thing %d\n    task_description: |\n      %s\n      and return it.\n    primary_tools: [Read, Grep]\n    input_variables:\n      - step_0_output.user_id\n    output_variable: step_%d_output\n    next_step_sequence_number: %d\n", i, i, strings.Repeat("Read the file docs/a.md and ", 27), i, i+1)
	}
	return b.String()
}

func TestLargePlan(t *testing.T) {
	text := samplePlan(500)
	if len(text) < 500<<10 {
		t.Fatalf("the plan has %d bytes", len(text))
	}
	if r, err := Clean(text); err != nil || r.Repaired {
		t.Errorf("Clean(a plan of 500 steps) = %v, repaired: %v", err, r.Repaired)
	}
}

func BenchmarkJSON(b *testing.B) {
	text := samplePlan(200)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := JSON(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkClean(b *testing.B) {
	text := samplePlan(200)
	for _, bench := range []struct{ name, text string }{
		{"good", text},
		{"fenced", "Here is the plan:\n\n```yaml\n" + text + "```\n"},
		{"colons", strings.ReplaceAll(text, "title: Do", "title: Do: the")},
		{"unrepairable", text + "a: [1\n"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.text)))
			for b.Loop() {
				_, _ = Clean(bench.text)
			}
		})
	}
}
