package maker_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
)

// A task in words becomes a plan, which is checked and carried out step by step. Here
// the simulator plays all models; with a key any other model does.
func ExampleEngine_Run() {
	dir, err := os.MkdirTemp("", "maker-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	engine, err := maker.New(&maker.Options{
		LogDir: dir,
		Config: maker.Config{
			Model:  "sim/default?p=0.9",
			Voting: maker.FirstToK(3),
			Tools:  maker.ToolConfig{Workspace: dir, Builtin: []string{"Read"}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	run, err := engine.Run(context.Background(), "Compute: (12 + 3) * 4. Then sort: [3, 1, 2].")
	if err != nil {
		log.Fatal(err)
	}
	for record, err := range run.Events(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		if step, ok := record.Event.(event.StepCompleted); ok {
			fmt.Printf("%d. %s: %s\n", step.Step, step.Title, step.Output.Compact())
		}
	}
	result, err := run.Result()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status)
	// Output:
	// 0. Compute: (12 + 3) * 4: {"result":60}
	// 1. sort: [3, 1, 2]: {"result":[1,2,3]}
	// completed
}
