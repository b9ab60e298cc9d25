// Package outline is a step machine for a list of tasks as a person wrote it: commands
// out, events in. It needs no engine and no model: whoever drives it carries out what it
// asks for.
//
//	tasks, err := outline.PlanTasks("Read notes.txt. Then run `make test`.")
//	p, err := outline.NewPlanner(tasks, nil)
//	command, err := p.Step(nil)
//	for command != nil {
//		var event outline.ExecutorEvent
//		switch c := command.(type) {
//		case outline.ExecuteTask: // do it: TaskCompleted, TaskFailed or NeedsClarification
//		case outline.RequestClarification: // ask the person: ClarificationProvided
//		case outline.CompactContext: // have a model summarise: ContextCompacted
//		}
//		command, err = p.Step(event)
//	}
//	fmt.Println(p.State.Report())
//
// [PlanTasks] takes the text apart by rules that a reader can predict; docs/outline.md
// has them. A [Planner] is told what happened, by [Planner.Step], and answers what to do
// next. One task runs at a time. A task that needs an answer pauses, with the run; the
// answer becomes part of the task and the task is tried again. The planner neither waits
// nor counts time: backing off before another attempt is up to its driver, which is told
// the number of the attempt. A [Compactor] keeps the results of the tasks so far within a
// number of tokens; it says what has to be summarised and judges the summary.
//
// Everything here is pure: it depends on nothing but what it was told, so that a run
// that is played again from its log takes the same course. Package maker does so with
// [maker.Engine.Do].
//
// [maker.Engine.Do]: https://pkg.go.dev/github.com/maker-mdap/maker#Engine.Do
package outline
