package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/httpclient"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/openai"
	"github.com/maker-mdap/maker/model/sim"
	"github.com/maker-mdap/maker/reader"
)

// mapInFlight is how many records a run has under way, and how many calls the bare loops
// have.
const mapInFlight = 256

// mapping measures maker.Map twice: its CPU time on a model in process against a bare
// parallel loop of the same calls, and its calls per second over HTTP against a bare client
// that sends the same bytes.
func mapping(ctx context.Context, args []string) error {
	records, rounds, limit, least, cpu := 10_000, 2, 3.0, 0.8, ""
	latency := 100 * time.Millisecond
	err := parse("map", args, func(f *flag.FlagSet) {
		f.IntVar(&records, "records", records, "records of each run")
		f.IntVar(&rounds, "rounds", rounds, "runs and bare loops, in turns")
		f.Float64Var(&limit, "limit", limit, "largest ratio of CPU times allowed")
		f.Float64Var(&least, "least", least, "smallest ratio of calls per second allowed")
		f.DurationVar(&latency, "latency", latency, "median latency of the server")
		f.StringVar(&cpu, "cpuprofile", "", "write a CPU profile of the last run in process to this file")
	})
	if err != nil {
		return err
	}
	debug.SetGCPercent(400) // as the maker program does
	dir, err := os.MkdirTemp("", "maker-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	requests, err := mapRequests(ctx, dir, records)
	if err != nil {
		return err
	}
	return errors.Join(mapCPU(ctx, dir, requests, records, rounds, limit, cpu), mapHTTP(ctx, dir, latency, requests, records, rounds, least))
}

const mapModel = "sim/default?p=1"

// mapCPU compares CPU times in process, all threads together.
func mapCPU(ctx context.Context, dir string, requests []*model.Request, records, rounds int, limit float64, cpu string) error {
	settings, err := sim.Parse(mapModel)
	if err != nil {
		return err
	}
	run, bare := math.Inf(1), math.Inf(1) // the others were disturbed
	for i := range rounds {
		stop := func() {}
		if i == rounds-1 {
			if stop, err = profile(cpu, ""); err != nil {
				return err
			}
		}
		used, err := cpuTime(func() error { return runMap(ctx, dir, maker.Config{Model: mapModel}, "", records) })
		stop()
		if err != nil {
			return err
		}
		run = min(run, used)
		m, err := sim.New(settings)
		if err != nil {
			return err
		}
		used, err = cpuTime(func() error {
			_, err := timed(len(requests), mapInFlight, func(i int) error {
				_, err := m.Generate(ctx, requests[i])
				return err
			})
			return err
		})
		if err != nil {
			return err
		}
		bare = min(bare, used)
	}
	fmt.Printf("%d records, %d calls in process: %.1f us of CPU a call, %.1f in a bare loop\n", records, len(requests),
		run*1e6/float64(len(requests)), bare*1e6/float64(len(requests)))
	return bound(fmt.Sprintf("CPU time of map / bare parallel loop, the best of %d rounds", rounds), run/bare, limit)
}

// mapHTTP compares calls per second over HTTP, with answers that take a tenth of a second:
// what counts is that as many calls are in flight as may be.
func mapHTTP(ctx context.Context, dir string, latency time.Duration, requests []*model.Request, records, rounds int, least float64) error {
	base, stop, err := startSim(ctx, dir, fmt.Sprintf("%s&latency=%s,0.3", mapModel, latency))
	if err != nil {
		return err
	}
	defer stop()
	tape, err := record(ctx, func(t http.RoundTripper) (model.Model, error) {
		return openai.New(openai.Options{Provider: "compat", Model: "default", BaseURL: base, Transport: t})
	}, requests)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: httpclient.NewTransport()}
	defer client.CloseIdleConnections()
	run, bare := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range rounds {
		start := time.Now()
		none := 0.0 // calls that are sent twice are not what is compared
		if err := runMap(ctx, dir, maker.Config{Model: "compat/default", BaseURL: base, MaxInFlight: mapInFlight, Extra: &none}, "", records); err != nil {
			return err
		}
		run = min(run, time.Since(start))
		took, err := timed(len(requests), mapInFlight, func(i int) error { return tape.send(ctx, client, i) })
		if err != nil {
			return err
		}
		bare = min(bare, took)
	}
	ratio, verdict := float64(bare)/float64(run), "met"
	if ratio < least {
		verdict = "MISSED"
	}
	fmt.Printf("%d calls over HTTP: map %s, bare client %s\n", len(requests), run.Round(time.Millisecond), bare.Round(time.Millisecond))
	fmt.Printf("calls per second of map / bare client, %d in flight %18.2f  (at least %.2f: %s)\n", mapInFlight, ratio, least, verdict)
	if ratio < least {
		return fmt.Errorf("calls per second: %.2f < %.2f: %w", ratio, least, errBound)
	}
	return nil
}

// sums is a table of additions.
func sums(records int) iter.Seq2[maker.Record, error] {
	return func(yield func(maker.Record, error) bool) {
		for i := range records {
			r := maker.Record{Line: i + 1, Columns: []string{"a", "b"}, Values: map[string]any{"a": i + 11, "b": i%89 + 12}}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// runMap runs maker.Map, k = 3, over a table of sums, and removes what it left.
func runMap(ctx context.Context, dir string, cfg maker.Config, tape string, records int) error {
	cfg.Voting = maker.FirstToK(3)
	logs, err := os.MkdirTemp(dir, "runs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(logs)
	engine, err := maker.New(&maker.Options{LogDir: logs, Config: cfg, Record: tape})
	if err != nil {
		return err
	}
	defer engine.Close()
	run, err := engine.Map(ctx, maker.Table{Records: sums(records), Questions: []maker.RecordQuestion{{Prompt: "What is {{.a}} + {{.b}}?", As: reader.Number{}}}})
	if err != nil {
		return err
	}
	result, err := run.Result()
	if err != nil {
		return err
	}
	if result.Status != event.StatusCompleted || int(result.Usage.Calls) != 3*records {
		return fmt.Errorf("the run %s after %d calls, want %d: %s", result.Status, result.Usage.Calls, 3*records, result.Reason)
	}
	return nil
}

// mapRequests are the requests of a run, as it makes them.
func mapRequests(ctx context.Context, dir string, records int) ([]*model.Request, error) {
	file := filepath.Join(dir, "requests.jsonl")
	if err := runMap(ctx, dir, maker.Config{Model: mapModel}, file, records); err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []*model.Request
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var call struct {
			Request model.Request `json:"request"`
		}
		if err := json.Unmarshal(in.Bytes(), &call); err != nil {
			return nil, err
		}
		out = append(out, &call.Request)
	}
	if len(out) != 3*records {
		return nil, fmt.Errorf("%d requests were recorded, want %d", len(out), 3*records)
	}
	return out, in.Err()
}

// cpuTime is how many seconds of CPU a function takes, in all threads.
func cpuTime(f func() error) (float64, error) {
	var before, after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
		return 0, err
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(after.Utime) - seconds(before.Utime) + seconds(after.Stime) - seconds(before.Stime), nil
}
