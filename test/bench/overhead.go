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
	"slices"
	"sync"
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
	// CPU time is what counts; wall time goes with the disk and with whoever else is there.
	disks, rounds, limit, cpuLimit := 16, 15, 3.5, 3.5
	cpu, heap := "", ""
	err := parse("overhead", args, func(f *flag.FlagSet) {
		f.IntVar(&disks, "disks", disks, "disks of the run")
		f.IntVar(&rounds, "rounds", rounds, "runs of engine and bare loop, in turns")
		f.Float64Var(&limit, "limit", limit, "largest ratio of wall time allowed")
		f.Float64Var(&cpuLimit, "cpu-limit", cpuLimit, "largest ratio of CPU time allowed")
		f.StringVar(&cpu, "cpuprofile", "", "write a CPU profile of the engine's last run to this file")
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
	var ratios []float64
	engineTime, bareTime := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64) // the others were disturbed
	for i := range rounds {
		r := round{engine: engine, model: name, disks: disks, requests: requests}
		if i == rounds-1 {
			r.cpu, r.heap = cpu, heap
		}
		ratio, err := r.run(ctx)
		if err != nil {
			return err
		}
		ratios = append(ratios, ratio)
		engineTime, bareTime = min(engineTime, r.engineTime), min(bareTime, r.bareTime)
	}
	slices.Sort(ratios)
	return errors.Join(
		bound(fmt.Sprintf("engine / bare loop of the same calls, the best of %d rounds", rounds), float64(engineTime)/float64(bareTime), limit),
		bound(fmt.Sprintf("CPU time of engine / bare loop, the median of %d rounds", rounds), ratios[len(ratios)/2], cpuLimit))
}

// A round is a run of the engine with half of the bare loop before and half after it,
// so that both see the same machine.
type round struct {
	engine    *maker.Engine
	model     string
	disks     int
	requests  []*model.Request
	cpu, heap string // files for profiles; empty for none

	engineTime, bareTime time.Duration // that it took
}

// run returns how much more CPU time the engine takes.
func (r *round) run(ctx context.Context) (ratio float64, _ error) {
	calls := 3 * hanoi.Steps(r.disks)
	start := time.Now()
	bare, err := bareLoop(ctx, r.model, r.requests, calls/2)
	if err != nil {
		return 0, err
	}
	r.bareTime = time.Since(start)
	stop, err := profile(r.cpu, r.heap)
	if err != nil {
		return 0, err
	}
	defer stop()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var run *maker.Run
	var result *maker.Result
	start = time.Now()
	engine, err := cpuTime(func() (err error) {
		if run, err = r.engine.Chain(ctx, hanoi.Name, hanoi.Params{Disks: r.disks}); err == nil {
			result, err = run.Result()
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	r.engineTime = time.Since(start)
	runtime.ReadMemStats(&after)
	stop()
	if result.Status != event.StatusCompleted || int(result.Usage.Calls) != calls {
		return 0, fmt.Errorf("the run %s after %d calls, want %d: %s", result.Status, result.Usage.Calls, calls, result.Reason)
	}
	start = time.Now()
	second, err := bareLoop(ctx, r.model, r.requests, calls-calls/2)
	if err != nil {
		return 0, err
	}
	r.bareTime += time.Since(start)
	bare += second

	steps := float64(result.StepsCompleted)
	size, err := logSize(run.Dir())
	if err != nil {
		return 0, err
	}
	fmt.Printf("%d steps: engine %.2f us a step, bare loop %.2f, ratio %.2f; %.1f allocations a sample, %.0f bytes of log a step\n",
		result.StepsCompleted, engine*1e6/steps, bare*1e6/steps, engine/bare, float64(after.Mallocs-before.Mallocs)/float64(calls), size/steps)
	return engine / bare, os.RemoveAll(run.Dir())
}

// logSize is the size of a run's log in bytes.
func logSize(dir string) (float64, error) {
	info, err := os.Stat(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		return 0, err
	}
	return float64(info.Size()), nil
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
	return sync.OnceFunc(func() {
		for _, stop := range stops {
			stop()
		}
	}), nil
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

// bareLoop returns the CPU time of so many calls, in seconds.
func bareLoop(ctx context.Context, name string, requests []*model.Request, calls int) (float64, error) {
	settings, err := sim.Parse(name)
	if err != nil {
		return 0, err
	}
	m, err := sim.New(settings)
	if err != nil {
		return 0, err
	}
	return cpuTime(func() error {
		for i := range calls {
			// Three in a row for one prompt, as the engine asks.
			if _, err := m.Generate(ctx, requests[i/3%len(requests)]); err != nil {
				return err
			}
		}
		return nil
	})
}
