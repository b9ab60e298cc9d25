package maker_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/reader"
)

// saying is a simulator that answers in order, whatever it is asked.
func saying(t *testing.T, answers ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("- match: ''\n  sequence: true\n  answers:\n")
	for _, text := range answers {
		fmt.Fprintf(&b, "    - {text: %q}\n", text)
	}
	file := filepath.Join(t.TempDir(), "voters.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return "sim/default?script=" + file
}

func askEngine(t *testing.T, answers ...string) *maker.Engine {
	t.Helper()
	return newEngine(t, maker.Options{Config: maker.Config{Model: saying(t, answers...)}})
}

type colour string

func (colour) Options() []string { return []string{"red", "green"} }

func TestAsk(t *testing.T) {
	if got, v, err := maker.Ask[colour](t.Context(), askEngine(t, "Red.", "Answer: red", "blue", "red"), "Which?"); err != nil || got != "red" || v.Voting.RedFlagged != 1 || v.Status != flow.Decided || !v.Simulated {
		t.Errorf("Ask[colour] = %q, %+v, %v, want red", got, v, err)
	}
	if got, _, err := maker.Ask[float64](t.Context(), askEngine(t, "≈ 2.5"), "How much?"); err != nil || got != 2.5 {
		t.Errorf("Ask[float64] = %v, %v, want 2.5", got, err)
	}
	if got, _, err := maker.Ask[time.Time](t.Context(), askEngine(t, "March 4, 2025"), "When?"); err != nil || got.Format(time.RFC3339) != "2025-03-04T00:00:00Z" {
		t.Errorf("Ask[time.Time] = %v, %v, want 2025-03-04", got, err)
	}
	if got, _, err := maker.Ask[[]string](t.Context(), askEngine(t, "- a\n- b"), "Which?"); err != nil || !cmp.Equal(got, []string{"a", "b"}) {
		t.Errorf("Ask[[]string] = %q, %v, want a and b", got, err)
	}
	if got, _, err := maker.Ask[string](t.Context(), askEngine(t, "It is AB-12."), "Which?", maker.As(reader.Regexp{Pattern: `[A-Z]+-\d+`})); err != nil || got != "AB-12" {
		t.Errorf("Ask[string] as a regular expression = %q, %v, want AB-12", got, err)
	}
	// An answer that is too large for a line of the log.
	long := strings.Repeat("many words ", 3000)
	e := newEngine(t, maker.Options{Config: maker.Config{Model: saying(t, long), MaxOutput: 100_000}})
	if got, _, err := maker.Ask[string](t.Context(), e, "Tell me."); err != nil || got != strings.TrimSpace(long) {
		t.Errorf("Ask of a long text = %d bytes, %v, want %d", len(got), err, len(long)-1)
	}
}

func TestAskWithoutAnAnswer(t *testing.T) {
	e := newEngine(t, maker.Options{Config: maker.Config{Model: saying(t, "yes", "no"), Voting: maker.FirstToK(2)}})
	e2 := askEngine(t, "maybe")
	_, v, err := maker.Ask[bool](t.Context(), askEngine(t, "yes", "no", "no", "yes", "yes", "no", "no", "yes", "yes", "no", "no", "yes", "yes", "no", "no", "yes", "yes", "no", "no", "yes"), "Is it?")
	if none, ok := errors.AsType[*maker.NoAnswerError](err); !ok || none.Result.Status != event.StatusUndecided || v.Status != flow.Undecided || len(v.Candidates) != 2 {
		t.Errorf("Ask = %+v, %v, want two candidates and no answer", v, err)
	}
	if _, v, err := maker.Ask[bool](t.Context(), e2, "Is it?"); err == nil || v.Status != flow.FlaggedOut {
		t.Errorf("Ask = %+v, %v, want all flagged", v, err)
	}
	if got, v, err := maker.Ask[int8](t.Context(), askEngine(t, "300", "300", "300", "12", "12", "12"), "How many?"); got != 12 || err != nil || v.Voting.RedFlagged < 3 {
		t.Errorf("Ask[int8] = %d, %+v, %v, want 12, and what an int8 cannot hold discarded", got, v, err)
	}
	for name, ask := range map[string]func() error{
		"does not follow": func() error { _, _, err := maker.Ask[any](t.Context(), e, "x"); return err },
		"at least two": func() error {
			_, _, err := maker.Ask[string](t.Context(), e, "x", maker.As(reader.OneOf{}))
			return err
		},
		"is empty":        func() error { _, _, err := maker.Ask[bool](t.Context(), e, " "); return err },
		"not valid UTF-8": func() error { _, _, err := maker.Ask[bool](t.Context(), e, "\xff"); return err },
		"the answer \"a\"": func() error {
			_, _, err := maker.Ask[int](t.Context(), askEngine(t, "a"), "x", maker.As(reader.Text{}))
			return err
		},
	} {
		if err := ask(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Ask = %v, want an error with %q", err, name)
		}
	}
}

func TestSteps(t *testing.T) {
	wrong := errors.New("that is too much")
	chain := maker.Steps[int]{
		Name: "adding", Count: 3,
		Question: func(step, previous int) (string, error) {
			return fmt.Sprintf("Compute: %d + %d", previous, step+1), nil
		},
		Check: func(_, answer int) error {
			if answer > 5 {
				return wrong
			}
			return nil
		},
	}
	bounded := chain
	bounded.Name, bounded.Check = "bounded", nil
	bounded.Finish = func(last int) error {
		if last != 6 {
			return wrong
		}
		return nil
	}
	e := newEngine(t, maker.Options{Families: []domain.Family{
		chain.Family(), bounded.Family(), maker.Steps[int]{Name: "none"}.Family(), maker.Steps[any]{Name: "any", Count: 1}.Family(),
	}})
	for name, want := range map[string]string{"adding": event.StatusFailed, "bounded": event.StatusCompleted} {
		run, err := e.Chain(t.Context(), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := mustResult(t, run)
		if r.Status != want || string(r.Output.JSON) != "6" {
			t.Errorf("%s: %s (%s), %s, want %s with 6", name, r.Status, r.Reason, r.Output.JSON, want)
		}
		if replay, err := e.Replay(run.ID()); err != nil || len(replay.Differences) > 0 {
			t.Errorf("Replay(%s) = %+v, %v", name, replay, err)
		}
	}
	for _, name := range []string{"none", "any"} {
		if _, err := e.Chain(t.Context(), name, nil); err == nil {
			t.Errorf("Chain(%s) can be run", name)
		}
	}
	if _, err := maker.New(&maker.Options{Families: []domain.Family{maker.Steps[int]{Name: "ask"}.Family()}}); err == nil {
		t.Error("a family can be called ask")
	}
}

// TestShortestProgram keeps the program of the documentation short, and the one that is
// compiled.
func TestShortestProgram(t *testing.T) {
	program, err := os.ReadFile("examples/ask/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(program), "\n") // without the comment on the package
	lines := 0
	for line := range strings.Lines(code) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	if lines > 15 {
		t.Errorf("the shortest program has %d lines, want at most 15", lines)
	}
	docs, err := os.ReadFile("docs/ask.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(docs), "```go\n"+code+"```") {
		t.Error("docs/ask.md does not have the program of examples/ask")
	}
}
