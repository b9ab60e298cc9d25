package runs_test

import (
	"context"
	"fmt"
	"log"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/runs"
)

// A run is found by the beginning of its name, and says what came of it.
func Example() {
	dir, err := runs.Find("../testdata/frozen/v0.1", "hanoi-20261115-030916-nn")
	if err != nil {
		log.Fatal(err)
	}
	run, err := runs.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	result, err := run.Result()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %s, %d of %d steps, %d contested\n", result.Task, result.Status, result.StepsCompleted, result.StepsTotal, result.Voting.Contested)

	replay, err := run.Replay(nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d votes counted again, %d differences\n", replay.Races, len(replay.Differences))
	// Output:
	// Towers of Hanoi with 4 disks: completed, 15 of 15 steps, 5 contested
	// 5 votes counted again, 0 differences
}

// Following begins at any event. It ends with the run, or with the context; whoever
// was cut off goes on from the number after the last one seen.
func ExampleRun_Follow() {
	run, err := runs.Open("../testdata/frozen/v0.1/hanoi-20261115-030916-wv7au")
	if err != nil {
		log.Fatal(err)
	}
	for rec, err := range run.Follow(context.Background(), 9) {
		if err != nil {
			log.Fatal(err)
		}
		switch e := rec.Event.(type) {
		case event.StepCompleted:
			fmt.Printf("%d: step %d, votes %s\n", rec.Seq, e.Step, e.Voting.Split())
		case event.TaskFailed:
			fmt.Printf("%d: %s by %s\n", rec.Seq, e.Status, e.Stop)
		}
	}
	// Output:
	// 9: step 8, votes 3
	// 10: step 9, votes 3
	// 12: stopped by max_calls
}
