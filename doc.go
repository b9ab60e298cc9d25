// Package maker runs long tasks on language models without errors.
//
// A model that is right 99 times in 100 almost surely fails a task of a
// thousand steps. MAKER asks several isolated voters for every step, discards
// answers that look wrong, counts the rest until one leads by k, commits it to
// an append-only log and goes on. The method is that of "Solving a Million-Step
// LLM Task with Zero Errors" (arXiv 2511.09030).
//
// # Running
//
// An [Engine] starts runs and resumes them. A [Run] goes on in the background:
// [Run.Events] streams what happens, [Run.Result] waits for the end.
//
//	engine, err := maker.New(&maker.Options{Config: maker.Config{Model: "sim/default", Voting: maker.FirstToK(3)}})
//	defer engine.Close()
//	run, err := engine.Chain(ctx, hanoi.Name, hanoi.Params{Disks: 8})
//	result, err := run.Result()
//
// Package runs reads runs without an engine, also those of other processes.
//
// # One question
//
// [Ask] puts one question to the voters and returns the answer as a Go value; how it is
// read follows from its type. [Steps] makes a chain of such questions.
//
// # Promises
//
// A decision is made by the rule that was asked for or not at all: a race
// without a winner is reported as undecided, never settled by a plurality. A
// committed step survives any crash and is never decided again. Limits on
// calls, tokens and money are reserved before a call and cannot be exceeded.
package maker
