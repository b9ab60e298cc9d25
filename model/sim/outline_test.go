package sim

import (
	"strings"
	"testing"

	"github.com/maker-mdap/maker/internal/outline"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/model"
)

// TestOutline renders the real prompts of maker do and has the real readers read the
// answers.
func TestOutline(t *testing.T) {
	set := prompts.Default()
	render := func(d prompts.Data) string {
		text, err := set.Render(d)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	ask := func(prompt string) string {
		settings, err := Parse("sim/default?p=1")
		if err != nil {
			t.Fatal(err)
		}
		m, err := New(settings)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := m.Generate(t.Context(), &model.Request{Messages: []model.Message{{Role: model.User, Text: prompt}}})
		if err != nil {
			t.Fatal(err)
		}
		return resp.Text
	}
	reader, err := outline.Readers().New(outline.ResultReader, []byte(`{"ask":"AskUserQuestion"}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, task := range map[string]prompts.OutlineTask{
		"plain":    {Task: "Compute: 3 * 4", AskTool: "AskUserQuestion"},
		"context":  {Task: "Compute: 3 * 4", Context: "Results:\nTask 1: x\ny", Headings: []string{"Sums"}},
		"attached": {Task: "Compute: 3 * 4", Attached: []prompts.Attached{{Ref: "a", Label: "a", Text: "# Step"}}, AskTool: "AskUserQuestion"},
	} {
		answer, flag := reader.Read(ask(render(task)))
		if flag != nil || !strings.Contains(string(answer.Value), "12") {
			t.Errorf("%s: the answer reads as %s, %+v, want 12", name, answer.Value, flag)
		}
	}
	if got := ask(render(prompts.OutlineSummary{Text: "Task 1: count\n3 words in notes.txt", Must: []string{"notes.txt", "42"}, MaxWords: 50})); !strings.Contains(got, "notes.txt") || !strings.Contains(got, "42") {
		t.Errorf("the summary is %q, want what must be in it", got)
	}
}
