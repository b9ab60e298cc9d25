package outline

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
	for _, t := range tasks {
		fmt.Fprintf(&b, "%d %s %s\n", t.ID, t.Kind, shown(t.Text))
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
