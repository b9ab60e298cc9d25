package tasks

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the expected results anew; read the difference before it is committed")

// describe writes tasks so that one can read at a glance what was made of a text.
func describe(tasks []Task) string {
	var b strings.Builder
	for i, t := range tasks {
		fmt.Fprintf(&b, "%d %s %s\n", i+1, t.Kind, shown(t.Text))
		if t.Command != "" {
			fmt.Fprintf(&b, "\tcommand %q\n", t.Command)
		}
		for _, c := range t.Context {
			fmt.Fprintf(&b, "\tbelow %s\n", shown(c))
		}
		for _, a := range t.Attachments {
			fmt.Fprintf(&b, "\t%s\n", describeAttachment(a))
		}
		if t.Done {
			b.WriteString("\tdone\n")
		}
	}
	return b.String()
}

func describeAttachment(a Attachment) string {
	s := fmt.Sprintf("%s %s", a.Kind, a.Ref)
	if a.Label != lastPart(a.Ref) {
		s += fmt.Sprintf(" (%s)", a.Label)
	}
	if a.Output {
		s += " to be made"
	}
	return s
}

// shown quotes a text only if it would not be readable otherwise.
func shown(s string) string {
	if strings.ContainsAny(s, "\n\t\r") {
		return fmt.Sprintf("%q", s)
	}
	return s
}

// TestSplit compares texts with the tasks they give. Each part of a file is a
// text, a line of percent signs, and its tasks.
func TestSplit(t *testing.T) {
	files, err := filepath.Glob("testdata/split/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob = %v, %v, want files", files, err)
	}
	cases := 0
	for _, name := range files {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range archive.Files {
			f := &archive.Files[i]
			text, want, ok := strings.Cut(string(f.Data), "%%%%%\n")
			if !ok && !*update {
				t.Errorf("%s: %s: no line %%%%%%%%%%", name, f.Name)
				continue
			}
			cases++
			got := describe(Split(text))
			if *update {
				f.Data = []byte(text + "%%%%%\n" + got)
				continue
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: Split(%s): -want +got\n%s", name, f.Name, diff)
			}
		}
		if *update {
			writeIfChanged(t, name, txtar.Format(archive))
		}
	}
	if cases < 100 {
		t.Errorf("%d cases, want at least 100", cases)
	}
}

func writeIfChanged(t *testing.T, name string, data []byte) {
	t.Helper()
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, data) {
		return
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestLongNumberedList: a list may have more than 999 items, and a year begins none.
func TestLongNumberedList(t *testing.T) {
	var text strings.Builder
	for i := 1; i <= 1200; i++ {
		fmt.Fprintf(&text, "%d. Do part %d.\n", i, i)
	}
	tasks := Split(text.String())
	if n := len(tasks); n != 1200 || tasks[1199].Text != "Do part 1200." {
		t.Errorf("Split(1,200 numbered lines) gives %d tasks, the last is %q, want 1200", n, tasks[n-1].Text)
	}
	for in, want := range map[string]int{
		"1. Look up the year\n1998. Then the next.":   1,
		"999. Look it up.\n1001. Leave it.":           1,
		"Step 999: Look it up.\nStep 1000: Leave it.": 2,
	} {
		if got := len(Split(in)); got != want {
			t.Errorf("Split(%q) gives %d tasks, want %d: %+v", in, got, want, Split(in))
		}
	}
}
