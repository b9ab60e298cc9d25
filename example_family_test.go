package maker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/redflag"
)

// doubling is a task of one's own: a number is doubled again and again, and each
// doubling is a step that is voted on.
type doubling struct {
	Times int `json:"times"`
}

// Steps says how long the chain is.
func (d doubling) Steps() int { return d.Times }

// Question asks for one step. It may use nothing but the output of the step
// before, so that a run can be resumed at any step.
func (d doubling) Question(step int, previous json.RawMessage) (*flow.Question, error) {
	if step == 0 {
		previous = json.RawMessage("1")
	}
	return &flow.Question{
		System: "You are a careful calculator. End with a line: answer = <number>",
		Prompt: fmt.Sprintf("Compute: %s * 2", previous),
		Answer: flow.Format{Reader: "number"},
	}, nil
}

// Check has no second opinion on a step. A chain that knows better says so here.
func (d doubling) Check(int, json.RawMessage) error { return nil }

// Finish has no goal to check.
func (d doubling) Finish(json.RawMessage) error { return nil }

// number reads an answer: it becomes a vote, or a red flag.
type number struct{}

func (number) Read(text string) (domain.Answer, *redflag.Flag) {
	_, digits, ok := strings.Cut(text, "answer = ")
	digits = strings.TrimSpace(digits)
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "there is no number in %q", text)
	}
	return domain.Answer{Value: json.RawMessage(digits), Key: digits}, nil
}

// A family of tasks of one's own needs a chain that asks and a reader that turns
// an answer into a vote. Voting, budgets, the log and resuming come with the
// engine.
func Example_ownFamily() {
	family := domain.Family{
		Name: "doubling",
		Readers: domain.Readers{"number": func(json.RawMessage) (domain.Reader, error) {
			return number{}, nil
		}},
		NewChain: func(params json.RawMessage) (domain.Chain, string, error) {
			var d doubling
			if err := json.Unmarshal(params, &d); err != nil {
				return nil, "", err
			}
			return d, fmt.Sprintf("Double 1, %d times", d.Times), nil
		},
	}
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	engine, err := maker.New(&maker.Options{
		LogDir: dir, Families: []domain.Family{family},
		Config: maker.Config{Model: "sim/default?p=0.9&seed=1", Voting: maker.FirstToK(4)},
	})
	if err != nil {
		log.Fatal(err)
	}
	run, err := engine.Chain(context.Background(), "doubling", doubling{Times: 100})
	if err != nil {
		log.Fatal(err)
	}
	result, err := run.Result()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %s, %s\n", result.Task, result.Status, result.Output.JSON)
	// Output:
	// Double 1, 100 times: completed, 1267650600228229401496703205376
}
