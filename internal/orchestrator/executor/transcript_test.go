package executor_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/executor"
	"github.com/maker-mdap/maker/internal/orchestrator/planner"
	"github.com/maker-mdap/maker/vote"
)

var update = flag.Bool("update", false, "write the transcripts in testdata")

// A stage is a world that writes down all that happens in it.
type stage struct {
	*world
	transcript strings.Builder
}

func (s *stage) note(format string, args ...any) { fmt.Fprintf(&s.transcript, format+"\n", args...) }

// Emit implements [flow.Flow].
func (s *stage) Emit(key string, e event.Event) {
	s.note("event %s", tell([]event.Event{e}))
	s.Flow.Emit(key, e)
}

func indent(text string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n\t")
}

// TestTranscripts puts tasks through the whole pipeline. A file of testdata has the
// settings in its comment, then each answer under the key of its question, and last
// the transcript.
func TestTranscripts(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) < 3 {
		t.Fatalf("there are %d transcripts (%v), want at least 3", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := perform(t, archive)
			last := &archive.Files[len(archive.Files)-1]
			if *update {
				last.Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(last.Data), got); diff != "" {
				t.Errorf("transcript: -want +got\n%s", diff)
			}
		})
	}
}

func perform(t *testing.T, archive *txtar.Archive) string {
	last := len(archive.Files) - 1
	if last < 0 || archive.Files[last].Name != "transcript" {
		t.Fatal("the last file is not called transcript")
	}
	answers := map[string]string{}
	for _, f := range archive.Files[:last] {
		answers[f.Name] = string(f.Data)
	}
	s := &stage{world: newWorld(t, answers)}
	s.world.onDecide = func(key string, q *flow.Question, v *flow.Verdict) {
		s.note("ask %s of %q by %s, tools %q, %d moves done", key, q.Model, q.Rule.Strategy, q.Work.Tools, len(q.Work.Done))
		s.note("%s", indent(q.Prompt))
	}
	s.world.result = func(e *flow.Effect) *flow.Result {
		s.note("effect %s %s", e.Intent.Tool, e.Intent.Input)
		return &flow.Result{Text: "done"}
	}
	c := config()
	task := ""
	for line := range strings.Lines(string(archive.Comment)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "task":
			task = value
		case "replans":
			c.MaxReplans = 1
		case "voting":
			c.Rule.Strategy = vote.Strategy(value)
		}
	}
	s.world.rule = c.Rule
	err := flow.Pipe(s, event.TaskSubmitted{Task: task},
		planner.New(planner.Config{Prompts: c.Prompts, Terms: flow.Terms{Rule: one}, Retries: 1}),
		planner.NewValidator(planner.ValidatorConfig{}),
		executor.New(c),
	)
	if err != nil {
		t.Fatal(err)
	}
	return s.transcript.String()
}
