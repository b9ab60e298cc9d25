package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/sim"
)

// overhead runs Hanoi on an in-process simulator that does nothing but answer,
// with the durable log on, and compares with a loop that makes the same number
// of calls to the same simulator and throws the answers away.
func overhead(ctx context.Context, args []string) error {
	disks, rounds, limit := 16, 9, 3.0
	cpu, heap := "", ""
	err := parse("overhead", args, func(f *flag.FlagSet) {
		f.IntVar(&disks, "disks", disks, "disks of the run")
		f.IntVar(&rounds, "rounds", rounds, "runs of engine and bare loop, in turns")
		f.Float64Var(&limit, "limit", limit, "largest ratio allowed")
		f.StringVar(&cpu, "cpuprofile", "", "write a CPU profile of the engine to this file")
		f.StringVar(&heap, "memprofile", "", "write a profile of its allocations to this file")
	})
	if err != nil {
		return err
	}
	debug.SetGCPercent(400) // as the maker program does
	const name = "sim/default?p=1"
	dir, err := os.MkdirTemp("", "maker-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	engine, err := maker.New(&maker.Options{LogDir: dir, Config: maker.Config{Model: name, Voting: maker.FirstToK(3)}})
	if err != nil {
		return err
	}
	defer engine.Close()

	requests, err := prompts(disks)
	if err != nil {
		return err
	}
	if _, err := bareLoop(ctx, name, requests, 100_000); err != nil { // warm up
		return err
	}
	engineTime, bareTime := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64) // the others were disturbed
	for i := range rounds {
		if i == rounds-1 {
			stop, err := profile(cpu, heap)
			if err != nil {
				return err
			}
			defer stop()
		}
		a, b, err := round(ctx, engine, name, disks, requests)
		if err != nil {
			return err
		}
		engineTime, bareTime = min(engineTime, a), min(bareTime, b)
	}
	return bound(fmt.Sprintf("engine / bare loop of the same calls, the best of %d rounds", rounds), float64(engineTime)/float64(bareTime), limit)
}

// round runs the engine once, with half of the bare loop before and half after
// it, so that both see the same machine.
func round(ctx context.Context, engine *maker.Engine, name string, disks int, requests []*model.Request) (engineTime, bareTime time.Duration, _ error) {
	calls := 3 * hanoi.Steps(disks)
	bareTime, err := bareLoop(ctx, name, requests, calls/2)
	if err != nil {
		return 0, 0, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	run, err := engine.Chain(ctx, hanoi.Name, hanoi.Params{Disks: disks})
	if err != nil {
		return 0, 0, err
	}
	result, err := run.Result()
	if err != nil {
		return 0, 0, err
	}
	engineTime = time.Since(start)
	runtime.ReadMemStats(&after)
	if result.Status != event.StatusCompleted || int(result.Usage.Calls) != calls {
		return 0, 0, fmt.Errorf("the run %s after %d calls, want %d: %s", result.Status, result.Usage.Calls, calls, result.Reason)
	}
	second, err := bareLoop(ctx, name, requests, calls-calls/2)
	if err != nil {
		return 0, 0, err
	}
	bareTime += second

	fmt.Printf("%d disks, %d steps, %d samples, durable log of %.0f MB\n", disks, result.StepsCompleted, calls, logSize(run.Dir()))
	fmt.Printf("  engine     %10s  %8.2f us/step  %6.2f us/sample  %.1f allocations/sample\n", engineTime.Round(time.Millisecond),
		micro(engineTime, result.StepsCompleted), micro(engineTime, calls), float64(after.Mallocs-before.Mallocs)/float64(calls))
	fmt.Printf("  bare loop  %10s  %8.2f us/step  %6.2f us/sample\n", bareTime.Round(time.Millisecond),
		micro(bareTime, result.StepsCompleted), micro(bareTime, calls))
	return engineTime, bareTime, os.RemoveAll(run.Dir())
}

func logSize(dir string) float64 {
	info, err := os.Stat(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		return math.NaN()
	}
	return float64(info.Size()) / 1e6
}

// profile starts the profiles that were asked for.
func profile(cpu, heap string) (stop func(), err error) {
	var stops []func()
	if cpu != "" {
		f, err := os.Create(cpu)
		if err != nil {
			return nil, err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, err
		}
		stops = append(stops, func() { pprof.StopCPUProfile(); f.Close() })
	}
	if heap != "" {
		f, err := os.Create(heap)
		if err != nil {
			return nil, err
		}
		stops = append(stops, func() {
			if err := errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close()); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		})
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}, nil
}

func micro(d time.Duration, n int) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(n) }

// prompts are requests as a run makes them, from all over the run.
func prompts(disks int) ([]*model.Request, error) {
	params, err := json.Marshal(hanoi.Params{Disks: disks})
	if err != nil {
		return nil, err
	}
	chain, _, err := hanoi.Family().NewChain(params)
	if err != nil {
		return nil, err
	}
	const most = 4096
	stride := max(1, chain.Steps()/most)
	temperature := config.DefaultTemperature
	var out []*model.Request
	for step := stride; step < chain.Steps(); step += stride {
		m := hanoi.MoveAt(disks, step-1)
		previous, err := json.Marshal(map[string]any{
			"move": []int{m.Disk, m.From, m.To}, "next_state": fill(hanoi.StateAt(disks, step)),
		})
		if err != nil {
			return nil, err
		}
		q, err := chain.Question(step, previous)
		if err != nil {
			return nil, err
		}
		out = append(out, &model.Request{
			System: q.System, Messages: []model.Message{{Role: model.User, Text: q.Prompt}},
			Temperature: &temperature, MaxOutput: config.DefaultMaxOutput,
		})
	}
	return out, nil
}

// fill writes an empty peg as [], not null.
func fill(s hanoi.State) hanoi.State {
	for i := range s {
		if s[i] == nil {
			s[i] = []int{}
		}
	}
	return s
}

func bareLoop(ctx context.Context, name string, requests []*model.Request, calls int) (time.Duration, error) {
	settings, err := sim.Parse(name)
	if err != nil {
		return 0, err
	}
	m, err := sim.New(settings)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	for i := range calls {
		// Three in a row for one prompt, as the engine asks.
		if _, err := m.Generate(ctx, requests[i/3%len(requests)]); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}
