package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain/hanoi"
)

// patience runs against a server that answers every request with 429 and asks
// for two seconds: the run is to wait, not to hammer.
func patience(ctx context.Context, args []string) error {
	deadline := 10 * time.Second
	err := parse("patience", args, func(f *flag.FlagSet) {
		f.DurationVar(&deadline, "time", deadline, "how long to run")
	})
	if err != nil {
		return err
	}
	const wait = 2 * time.Second
	dir, err := os.MkdirTemp("", "maker-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	base, stop, err := startSim(ctx, dir, fmt.Sprintf("sim/default?f429=1&retry_after=%s", wait))
	if err != nil {
		return err
	}
	defer stop()
	engine, err := maker.New(&maker.Options{LogDir: dir, Config: maker.Config{
		Model: "compat/default", BaseURL: base, Voting: maker.FirstToK(3), Deadline: deadline, MaxFaults: 1000, RetryAttempts: 1000,
	}})
	if err != nil {
		return err
	}
	defer engine.Close()
	run, err := engine.Chain(ctx, hanoi.Name, hanoi.Params{Disks: 4})
	if err != nil {
		return err
	}
	if _, err := run.Result(); err != nil {
		return err
	}
	s, err := stats(base)
	if err != nil {
		return err
	}
	if s.Requests == 0 {
		return errors.New("the server saw no request")
	}
	// Three samples, each at once and then every two seconds at the most.
	most := 3 * (1 + float64(deadline/wait))
	fmt.Printf("%d requests in %s of 429s with Retry-After %s\n", s.Requests, deadline, wait)
	return bound("requests / most that waiting allows", float64(s.Requests)/most, 1)
}
