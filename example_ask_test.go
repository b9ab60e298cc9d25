package maker_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain"
)

// How the answer is read follows from its type. Here voters who are wrong in one answer
// of ten are simulated; docs/ask.md has the shortest program.
func ExampleAsk() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	engine, err := maker.New(&maker.Options{LogDir: dir, Config: maker.Config{Model: "sim/default?p=0.9&seed=1", Voting: maker.FirstToK(4)}})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()

	product, verdict, err := maker.Ask[int](context.Background(), engine, "What is 48163 * 72?")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(product, verdict.Status, verdict.Voting.Margin)
	// Output:
	// 3467736 decided 4
}

// A struct is an answer with several fields. Those that are prose need not agree.
func ExampleAsk_struct() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	// The simulator follows a script here: three voters in their own words.
	script := filepath.Join(dir, "voters.yaml")
	err = os.WriteFile(script, []byte(`
- match: 'Sort this mail'
  sequence: true
  answers:
    - {text: '{"label": "bug", "urgent": true, "why": "It crashes."}'}
    - {text: '{"label": "Bug", "urgent": "yes", "why": "There is a crash on start."}'}
    - {text: 'Here you go: {"label": "bug", "urgent": true, "why": "A crash."}'}
`), 0o600)
	if err != nil {
		log.Fatal(err)
	}
	engine, err := maker.New(&maker.Options{LogDir: dir, Config: maker.Config{Model: "sim/default?script=" + script}})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()

	type ticket struct {
		Label  string `json:"label" enum:"billing,bug,other"`
		Urgent bool   `json:"urgent"`
		Why    string `json:"why" vote:"-"`
	}
	answer, verdict, err := maker.Ask[ticket](context.Background(), engine, "Sort this mail.", maker.WithText("mail", "The app crashes on start."))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, urgent: %t, votes %s\n", answer.Label, answer.Urgent, verdict.Voting.Split())
	// Output:
	// bug, urgent: true, votes 3
}

// A chain of one's own is a function for the question and a type for the answer.
func ExampleSteps() {
	doubling := maker.Steps[int]{
		Name: "doubling", Count: 20, Start: 1,
		Question: func(_ int, previous int) (string, error) { return fmt.Sprintf("Compute: %d * 2", previous), nil },
	}
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	engine, err := maker.New(&maker.Options{
		LogDir: dir, Families: []domain.Family{doubling.Family()},
		Config: maker.Config{Model: "sim/default?p=0.9&seed=1", Voting: maker.FirstToK(4)},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	run, err := engine.Chain(context.Background(), "doubling", nil)
	if err != nil {
		log.Fatal(err)
	}
	result, err := run.Result()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d steps, %s\n", result.Status, result.StepsCompleted, result.Output.JSON)
	// Output:
	// completed: 20 steps, 1048576
}
