package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
)

// hanoiScript is the script that does what the built-in family of the same name does.
const hanoiScript = "examples/scripts/hanoi.star"

// scripting runs the real program with Hanoi as a script and with the built-in family, in
// turns, and compares their CPU time. Both have to commit the same answers.
func scripting(ctx context.Context, args []string) error {
	disks, rounds, limit, cpu, heap := 16, 7, 3.0, "", ""
	err := parse("script", args, func(f *flag.FlagSet) {
		f.IntVar(&disks, "disks", disks, "disks of the runs")
		f.IntVar(&rounds, "rounds", rounds, "runs of script and family, in turns")
		f.Float64Var(&limit, "limit", limit, "largest ratio of CPU time allowed")
		f.StringVar(&cpu, "cpuprofile", "", "only run the script in this process, and write a CPU profile to this file")
		f.StringVar(&heap, "memprofile", "", "likewise, with a profile of its allocations")
	})
	if err != nil {
		return err
	}
	const voters = "sim/default?p=0.998&seed=7"
	dir, err := os.MkdirTemp("", "maker-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if cpu != "" || heap != "" {
		return profileScript(ctx, dir, voters, disks, cpu, heap)
	}
	binary, err := buildMaker(ctx, dir)
	if err != nil {
		return err
	}
	count := strconv.Itoa(disks)
	var ratios []float64
	for range rounds {
		script, scripted, err := cpuTimeOf(ctx, dir, binary, "script", hanoiScript, "--arg", "disks="+count, "--model", voters)
		if err != nil {
			return err
		}
		family, built, err := cpuTimeOf(ctx, dir, binary, "hanoi", "--disks", count, "--model", voters)
		if err != nil {
			return err
		}
		if !bytes.Equal(scripted, built) {
			return fmt.Errorf("the script commits other answers than the built-in family")
		}
		steps := float64(int(1)<<disks - 1)
		fmt.Printf("%.0f steps: script %.1f us a step, family %.1f, ratio %.2f\n", steps, script*1e6/steps, family*1e6/steps, script/family)
		ratios = append(ratios, script/family)
	}
	slices.Sort(ratios)
	return bound(fmt.Sprintf("CPU time of script / family, the median of %d rounds", rounds), ratios[len(ratios)/2], limit)
}

// cpuTimeOf runs the program and returns its CPU time in seconds, and the outputs of the steps.
func cpuTimeOf(ctx context.Context, dir, binary string, args ...string) (float64, []byte, error) {
	runs := filepath.Join(dir, "runs")
	defer os.RemoveAll(runs)
	cmd := exec.CommandContext(ctx, binary, append(args, "--quiet", "--log-dir", runs)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return 0, nil, fmt.Errorf("maker %s: %w\n%s", args[0], err, out.Bytes())
	}
	outputs, err := outputsOf(runs)
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), outputs, err
}

// outputsOf are the outputs of the steps of the one run in a folder, a line each.
func outputsOf(runs string) ([]byte, error) {
	logs, err := filepath.Glob(filepath.Join(runs, "*", "events.jsonl"))
	if err != nil || len(logs) != 1 {
		return nil, fmt.Errorf("there are %d logs in %s, want 1: %w", len(logs), runs, err)
	}
	data, err := os.ReadFile(logs[0])
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for line := range bytes.Lines(data) {
		var l struct {
			Type   string
			Output any
		}
		if !bytes.Contains(line[:min(len(line), 40)], []byte(`"step_completed"`)) {
			continue
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return nil, err
		}
		output, err := json.Marshal(l.Output) // keys in one order
		if err != nil {
			return nil, err
		}
		b.Write(append(output, '\n'))
	}
	return b.Bytes(), nil
}

// profileScript runs the script in this process.
func profileScript(ctx context.Context, dir, voters string, disks int, cpu, heap string) error {
	debug.SetGCPercent(400) // as the maker program does
	engine, err := maker.New(&maker.Options{LogDir: dir, Config: maker.Config{Model: voters, Voting: maker.FirstToK(3)}})
	if err != nil {
		return err
	}
	defer engine.Close()
	s, err := maker.LoadScript(hanoiScript)
	if err != nil {
		return err
	}
	s.Args = map[string]string{"disks": strconv.Itoa(disks)}
	stop, err := profile(cpu, heap)
	if err != nil {
		return err
	}
	defer stop()
	seconds, err := cpuTime(func() error {
		run, err := engine.Script(ctx, s)
		if err != nil {
			return err
		}
		result, err := run.Result()
		if err == nil && result.Status != event.StatusCompleted {
			err = fmt.Errorf("the run %s: %s", result.Status, result.Reason)
		}
		return err
	})
	if err != nil {
		return err
	}
	fmt.Printf("%.1f us of CPU time a step\n", seconds*1e6/float64(int(1)<<disks-1))
	return nil
}
