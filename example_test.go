package maker_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
)

// The paper's task on the simulator, which needs no key. Its voters are wrong
// in one answer of ten; the run is right in every step.
func ExampleEngine_Chain() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	engine, err := maker.New(&maker.Options{
		LogDir: dir,
		Config: maker.Config{Model: "sim/default?p=0.9&seed=1", Voting: maker.FirstToK(4)},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	run, err := engine.Chain(context.Background(), hanoi.Name, hanoi.Params{Disks: 6})
	if err != nil {
		log.Fatal(err)
	}
	result, err := run.Result()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %s, %d of %d steps\n", result.Task, result.Status, result.StepsCompleted, result.StepsTotal)
	fmt.Printf("the last step is %s\n", result.Output.JSON)
	fmt.Printf("some steps were contested: %t; no margin was below %d\n", result.Voting.Contested > 0, result.Voting.LeastMargin)
	// Output:
	// Towers of Hanoi with 6 disks: completed, 63 of 63 steps
	// the last step is {"move":[1,1,2],"next_state":[[],[],[6,5,4,3,2,1]]}
	// some steps were contested: true; no margin was below 4
}

// Events arrive as soon as they are on disk. A reader that takes its time holds
// nobody up, and one that has seen enough just leaves.
func ExampleRun_Events() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	engine, err := maker.New(&maker.Options{LogDir: dir, Config: maker.Config{Model: "sim/default?p=1"}})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	run, err := engine.Chain(ctx, hanoi.Name, hanoi.Params{Disks: 2})
	if err != nil {
		log.Fatal(err)
	}
	for record, err := range run.Events(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		switch e := record.Event.(type) {
		case event.TaskSubmitted:
			fmt.Println(e.Task)
		case event.StepCompleted:
			fmt.Printf("step %d: %s, votes %s\n", e.Step, e.Output.JSON, e.Voting.Split())
		case event.TaskCompleted:
			fmt.Printf("done in %d steps\n", e.Steps)
		}
	}
	// The reader is at the end of the log; the result is written after it.
	if _, err := run.Result(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Towers of Hanoi with 2 disks
	// step 0: {"move":[1,0,1],"next_state":[[2],[1],[]]}, votes 3
	// step 1: {"move":[2,0,2],"next_state":[[],[1],[2]]}, votes 3
	// step 2: {"move":[1,1,2],"next_state":[[],[],[2,1]]}, votes 3
	// done in 3 steps
}
