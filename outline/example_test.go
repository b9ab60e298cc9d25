package outline_test

import (
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/outline"
)

// A caller drives the planner by hand: no engine, no model, no log.
func Example() {
	tasks, err := outline.PlanTasks("- Read notes.txt\n- Paint the door\n- Run `make test`\n- Was it worth it?\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	planner, err := outline.NewPlanner(tasks, &outline.PlannerConfig{OnFailure: outline.Stop, ContextBudget: outline.MinBudget})
	if err != nil {
		fmt.Println(err)
		return
	}
	command, err := planner.Step(nil)
	for command != nil && err == nil {
		var event outline.ExecutorEvent
		switch c := command.(type) {
		case outline.ExecuteTask:
			event = work(&c)
		case outline.RequestClarification:
			fmt.Printf("ask about task %d: %s\n", c.NodeID, c.Question)
			event = outline.ClarificationProvided{NodeID: c.NodeID, Answer: "blue", By: "Ada"}
		case outline.CompactContext:
			event = outline.ContextCompacted{NodeID: c.NodeID, Summary: "The notes were read."}
		}
		command, err = planner.Step(event)
	}
	if err != nil {
		fmt.Println(err)
	}
	fmt.Print(planner.State.Report())

	// Output:
	// do task 1 (processing): "Read notes.txt" with [notes.txt]
	// do task 2 (processing): "Paint the door"
	// ask about task 2: In which colour?
	// do task 2 (processing): "Paint the door\n\nQuestion: In which colour?\nAnswer: blue"
	// run task 3: make test
	// ask about task 4: Was it worth it?
	// do task 4 (processing): "Was it worth it?\n\nAnswer: blue"
	// # Outcome
	//
	// 4 of 4 tasks are done.
	//
	// ## Done
	//
	// - Task 1: Read notes.txt
	//   done (me)
	// - Task 2: Paint the door
	//   done (me)
	// - Task 3: Run `make test`
	//   ok (command)
	// - Task 4: Was it worth it?
	//   done (me)
	//
	// ## Decided
	//
	// - Task 2: In which colour?
	//   Ada: blue
	// - Task 4: Was it worth it?
	//   Ada: blue
}

// work carries out a task.
func work(c *outline.ExecuteTask) outline.ExecutorEvent {
	if c.Parameters.Command != "" {
		fmt.Printf("run task %d: %s\n", c.NodeID, c.Parameters.Command)
		return outline.TaskCompleted{NodeID: c.NodeID, Result: "ok", By: "command"}
	}
	with := ""
	for _, a := range c.Parameters.Attachments {
		with = " with [" + a.Ref + "]"
	}
	fmt.Printf("do task %d (%s): %q%s\n", c.NodeID, c.Kind, c.Parameters.Text, with)
	if c.Parameters.Text == "Paint the door" {
		return outline.NeedsClarification{NodeID: c.NodeID, Question: "In which colour?"}
	}
	return outline.TaskCompleted{NodeID: c.NodeID, Result: "done", By: "me"}
}

// Without a planner, a compactor keeps the results of any work small.
func ExampleCompactor() {
	c, err := outline.NewCompactor(outline.MinBudget)
	if err != nil {
		fmt.Println(err)
		return
	}
	c.Expect(9, "Restart heliotrope.")
	for task := 1; task <= 3; task++ {
		c.Add(task, "Look around", "", "The host Heliotrope is up. "+strings.Repeat("Nothing else was seen there. ", 13))
		for r := c.Request(); r != nil; r = c.Request() {
			fmt.Printf("summarise %d bytes, with %v\n", len(r.Text), r.Must)
			if err := c.Accept("All is well."); err != nil {
				fmt.Println(err)
				c.Fallback()
			}
		}
	}
	fmt.Println(c.Summary())

	// Output:
	// summarise 848 bytes, with [{Heliotrope false}]
	// outline: the summary drops "Heliotrope", which a later task mentions
	// - Task 1: The host Heliotrope is up.
	// - Task 2: The host Heliotrope is up.
}
