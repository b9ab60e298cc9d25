package maker_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/runs"
)

// colours is a domain of one's own: solutions are names of colours, in any letter
// case, and what is no colour is known to be wrong.
type colours struct{}

func (colours) Equivalent(a, b string) bool { return strings.EqualFold(a, b) }

func (colours) Verify(_, solution string) error {
	switch strings.ToLower(solution) {
	case "red", "orange", "yellow", "green", "blue":
		return nil
	}
	return errors.New("that is no colour")
}

// A domain says which solutions are the same and which cannot be right. With these
// two methods the engine can solve problems of one's own.
func ExampleEngine_Solve() {
	dir, err := os.MkdirTemp("", "maker-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	// The simulator answers by a script here; any model does.
	script := filepath.Join(dir, "voters.yaml")
	err = os.WriteFile(script, []byte(`
- match: '"ask":"solve","problem":"Mix red'
  sequence: true
  answers:
    - {text: '{"solution": "a nice one", "confidence": 0.9, "work_shown": "counted"}'}
    - {text: '{"solution": "Orange", "confidence": 0.9, "work_shown": "warm colours"}'}
    - {text: '{"solution": "orange", "confidence": 0.9, "work_shown": "between them"}'}
`), 0o644)
	if err != nil {
		log.Fatal(err)
	}
	engine, err := maker.New(&maker.Options{
		LogDir:  filepath.Join(dir, "runs"),
		Domains: map[string]domain.Adapter{"colours": colours{}},
		Config: maker.Config{
			Model: "sim/default?script=" + script,
			Solve: maker.SolveConfig{Domain: "colours", VerifyVotes: true},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	run, err := engine.Solve(context.Background(), "Mix red and yellow. Which colour is it?")
	if err != nil {
		log.Fatal(err)
	}
	result, err := run.Result()
	if err != nil {
		log.Fatal(err)
	}
	answer, _ := runs.ReadAnswer(result.Output)
	fmt.Println(result.Status, strings.ToLower(answer.Answer), answer.Status)
	fmt.Println(result.Voting.Samples, "samples,", result.Voting.RedFlagged, "of them discarded")
	// Output:
	// completed orange direct
	// 7 samples, 1 of them discarded
}
