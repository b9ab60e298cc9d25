package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/model/sim"
	"github.com/maker-mdap/maker/model/sim/simserver"
	"github.com/maker-mdap/maker/vote"
)

const (
	medianLatency = 40 * time.Millisecond
	sigmaLatency  = 0.99 // puts the 99th percentile at ten times the median
)

// A setting is a row of the table that latency prints.
type setting struct {
	what    string
	server  string // settings of the simulator, beside its latency
	cfg     maker.Config
	over    string  // what its time is compared with: the name of a row before it
	limit   float64 // of the ratio
	samples float64 // limit of the calls, as a multiple of what theory needs; 0 means none
	p       float64 // for that theory
}

// latency runs Hanoi over HTTP against a simulator with log-normal latency, and compares
// the time of a step with that of a chain in which each step is one call.
func latency(ctx context.Context, args []string) error {
	disks := 10
	err := parse("latency", args, func(f *flag.FlagSet) {
		f.IntVar(&disks, "disks", disks, "disks of the run")
	})
	if err != nil {
		return err
	}
	none := 0.0
	plain := maker.Config{Speculate: "off", Extra: &none}
	const unvoted, right = "one call a step", "p = .9978"
	rows := []setting{
		{what: unvoted, server: "p=1", cfg: maker.Config{Voting: maker.FirstToK(1), Speculate: "off", Extra: &none}},
		{what: right, server: "p=0.9978", over: unvoted, limit: .45, samples: 1.10, p: .9978},
		{what: "p = .99", server: "p=0.99", over: unvoted, limit: .50, samples: 1.12, p: .99},
		{what: "p = .95", server: "p=0.95", over: unvoted, limit: .90, samples: 1.12, p: .95},
		{what: "20 % 429 with Retry-After 0", server: "p=0.9978&f429=0.2&retry_after=0s", over: right, limit: 2},
		{what: "20 % 500", server: "p=0.9978&f500=0.2", over: right, limit: 2},
		{what: "at most 8 in flight, p = .99", server: "p=0.99", cfg: maker.Config{MaxInFlight: 8}, over: unvoted, limit: .6},
		{what: "--speculate off --extra 0", server: "p=1", cfg: plain, over: largest, limit: 1.10},
	}
	steps := hanoi.Steps(disks)
	fmt.Printf("log-normal latency, median %s, sigma %.2f; k = 3; %d steps\n", medianLatency, sigmaLatency, steps)
	took := map[string]time.Duration{largest: meanOfLargest(3)}
	var missed error
	for _, row := range rows {
		base, stop, err := serve(fmt.Sprintf("sim/default?malformed=0&latency=%s,%g&%s", medianLatency, sigmaLatency, row.server))
		if err != nil {
			return err
		}
		row.cfg.Model, row.cfg.BaseURL = "compat/default", base
		if row.cfg.Voting.Strategy == "" {
			row.cfg.Voting = maker.FirstToK(3)
		}
		mean, calls, err := meanStep(ctx, disks, row.cfg)
		stop()
		if err != nil {
			return fmt.Errorf("%s: %w", row.what, err)
		}
		took[row.what] = mean
		fmt.Printf("%-40s %10s a step, %.3f calls a step\n", row.what, mean.Round(10*time.Microsecond), float64(calls)/float64(steps))
		if row.over != "" {
			missed = errors.Join(missed, bound(row.what+" / "+row.over, float64(mean)/float64(took[row.over]), row.limit))
		}
		if row.samples > 0 {
			theory := vote.ExpectedSamples(row.p, 1, 3) * float64(steps)
			missed = errors.Join(missed, bound(row.what+": calls / theory", float64(calls)/theory, row.samples))
		}
	}
	return missed
}

// largest is what a vote of three takes at best if nothing is asked ahead.
const largest = "the largest of three latencies"

// meanOfLargest estimates the mean of the largest of n draws.
func meanOfLargest(n int) time.Duration {
	r := rand.New(rand.NewPCG(1, 2))
	const rounds = 2_000_000
	sum := 0.0
	for range rounds {
		largest := math.Inf(-1)
		for range n {
			largest = max(largest, r.NormFloat64())
		}
		sum += math.Exp(sigmaLatency * largest)
	}
	return time.Duration(sum / rounds * float64(medianLatency))
}

// meanStep is the mean wall time of a step, and how many calls all of them took.
func meanStep(ctx context.Context, disks int, cfg maker.Config) (mean time.Duration, calls int64, err error) {
	dir, err := os.MkdirTemp("", "maker-bench-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	engine, err := maker.New(&maker.Options{LogDir: dir, Config: cfg})
	if err != nil {
		return 0, 0, err
	}
	defer engine.Close()
	start := time.Now()
	run, err := engine.Chain(ctx, hanoi.Name, hanoi.Params{Disks: disks})
	if err != nil {
		return 0, 0, err
	}
	result, err := run.Result()
	if err != nil {
		return 0, 0, err
	}
	if result.Status != event.StatusCompleted {
		return 0, 0, fmt.Errorf("the run %s: %s", result.Status, result.Reason)
	}
	return time.Since(start) / time.Duration(result.StepsCompleted), result.Usage.Calls, nil
}

// serve starts a simulator on loopback.
func serve(name string) (base string, stop func(), err error) {
	settings, err := sim.Parse(name)
	if err != nil {
		return "", nil, err
	}
	handler, err := simserver.Handler(simserver.Options{Default: settings})
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return "http://" + l.Addr().String() + "/v1", func() { server.Close() }, nil
}
