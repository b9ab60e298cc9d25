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
)

const (
	medianLatency = 40 * time.Millisecond
	sigmaLatency  = 0.99 // puts the 99th percentile at ten times the median
)

// latency runs Hanoi over HTTP against a simulator with log-normal latency. An
// ideal engine that launches exactly k samples needs the largest of k latencies
// for a step.
func latency(ctx context.Context, args []string) error {
	disks, limit := 8, 1.15
	err := parse("latency", args, func(f *flag.FlagSet) {
		f.IntVar(&disks, "disks", disks, "disks of the run")
		f.Float64Var(&limit, "limit", limit, "largest ratio allowed")
	})
	if err != nil {
		return err
	}
	base, stop, err := serve(fmt.Sprintf("sim/default?p=1&latency=%s,%g", medianLatency, sigmaLatency))
	if err != nil {
		return err
	}
	defer stop()

	ideal := meanOfLargest(3)
	fmt.Printf("log-normal latency, median %s, sigma %.2f; k = 3; %d steps\n", medianLatency, sigmaLatency, hanoi.Steps(disks))
	fmt.Printf("mean of the largest of three latencies: %s\n", ideal.Round(10*time.Microsecond))
	var three time.Duration
	for _, c := range []struct {
		what  string
		limit float64
		cfg   maker.Config
	}{
		{"three launched / ideal", limit, maker.Config{}},
		{"five launched for the same k / ideal", 0, maker.Config{Spare: 2}},
		{"one after another / ideal", 0, maker.Config{BatchSize: 1}},
	} {
		c.cfg.Model, c.cfg.BaseURL, c.cfg.Voting = "compat/default", base, maker.FirstToK(3)
		mean, err := meanStep(ctx, disks, c.cfg)
		if err != nil {
			return err
		}
		ratio := float64(mean) / float64(ideal)
		if c.limit == 0 {
			fmt.Printf("%-58s %6.2f  (%s a step, %.2f of three launched)\n", c.what, ratio,
				mean.Round(10*time.Microsecond), float64(mean)/float64(three))
			continue
		}
		three = mean
		if err := bound(c.what, ratio, c.limit); err != nil {
			return err
		}
	}
	return nil
}

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

// meanStep is the mean wall time of a step.
func meanStep(ctx context.Context, disks int, cfg maker.Config) (time.Duration, error) {
	dir, err := os.MkdirTemp("", "maker-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	engine, err := maker.New(&maker.Options{LogDir: dir, Config: cfg})
	if err != nil {
		return 0, err
	}
	defer engine.Close()
	start := time.Now()
	run, err := engine.Chain(ctx, hanoi.Name, hanoi.Params{Disks: disks})
	if err != nil {
		return 0, err
	}
	result, err := run.Result()
	if err != nil {
		return 0, err
	}
	if result.Status != event.StatusCompleted {
		return 0, fmt.Errorf("the run %s: %s", result.Status, result.Reason)
	}
	return time.Since(start) / time.Duration(result.StepsCompleted), nil
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
