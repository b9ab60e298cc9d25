package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/outline"
)

// TestOutlineExamples splits the examples of the documentation.
func TestOutlineExamples(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "outline.md"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	parts := strings.Split(string(data), "```markdown\n")
	for _, part := range parts[1:] {
		text, rest, ok := strings.Cut(part, "```\n")
		want, _, listed := strings.Cut(strings.TrimPrefix(rest, "\n```tasks\n"), "```\n")
		if !ok || !listed || !strings.HasPrefix(rest, "\n```tasks\n") {
			t.Errorf("the example %q is not followed by its tasks", text)
			continue
		}
		var out bytes.Buffer
		a := &app{Streams: Streams{Out: &out}}
		tasks, err := outline.PlanTasks(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.listTasks(tasks); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("the tasks of %q: -documented +split\n%s", text, diff)
		}
		checked++
	}
	if checked < 5 {
		t.Errorf("the documentation has %d examples, want at least 5", checked)
	}
}
