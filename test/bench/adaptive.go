package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/vote"
)

// adaptiveRule runs Hanoi with margins that adapt and with a fixed one of about as many
// votes a step, in turns, and compares what a sample takes.
func adaptiveRule(ctx context.Context, args []string) error {
	disks, rounds, limit := 17, 10, 1.1
	err := parse("adaptive", args, func(f *flag.FlagSet) {
		f.IntVar(&disks, "disks", disks, "disks of the run")
		f.IntVar(&rounds, "rounds", rounds, "runs of each rule, in turns")
		f.Float64Var(&limit, "limit", limit, "largest ratio allowed")
	})
	if err != nil {
		return err
	}
	debug.SetGCPercent(400)                      // as the maker program does
	best := [2]float64{math.Inf(1), math.Inf(1)} // the others were disturbed
	k := 0
	for i := range rounds + 1 { // the first warms up, and says how many votes a step takes
		for which, rule := range []vote.Rule{{Strategy: vote.Adaptive}, maker.FirstToK(max(k, 3))} {
			took, result, err := runBy(ctx, rule, disks)
			if err != nil {
				return err
			}
			if which == 0 {
				k = int(math.Round(result.Voting.SamplesPerStep))
			}
			if i == 0 {
				continue
			}
			best[which] = min(best[which], micro(took, result.Voting.Samples))
			fmt.Printf("%-60s %.2f samples a step, %.2f us a sample\n", rule.Strategy, result.Voting.SamplesPerStep, micro(took, result.Voting.Samples))
		}
	}
	return bound(fmt.Sprintf("adaptive / first to lead by %d, per sample, the best of %d rounds", k, rounds), best[0]/best[1], limit)
}

func runBy(ctx context.Context, rule vote.Rule, disks int) (time.Duration, *maker.Result, error) {
	dir, err := os.MkdirTemp("", "maker-bench-")
	if err != nil {
		return 0, nil, err
	}
	defer os.RemoveAll(dir)
	engine, err := maker.New(&maker.Options{LogDir: dir, Config: maker.Config{Model: "sim/default?p=0.999", Voting: rule}})
	if err != nil {
		return 0, nil, err
	}
	defer engine.Close()
	start := time.Now()
	run, err := engine.Chain(ctx, hanoi.Name, hanoi.Params{Disks: disks})
	if err != nil {
		return 0, nil, err
	}
	result, err := run.Result()
	if err != nil {
		return 0, nil, err
	}
	if result.Status != event.StatusCompleted {
		return 0, nil, fmt.Errorf("the run %s: %s", result.Status, result.Reason)
	}
	return time.Since(start), result, nil
}
