package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
)

// memory runs the real program with 14 disks and with more, and compares the
// peak of its resident memory.
func memory(ctx context.Context, args []string) error {
	disks, limit, most := 18, 1.3, 150.0
	err := parse("memory", args, func(f *flag.FlagSet) {
		f.IntVar(&disks, "disks", disks, "disks of the long run")
		f.Float64Var(&limit, "limit", limit, "largest ratio allowed")
		f.Float64Var(&most, "most", most, "most megabytes allowed")
	})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "maker-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := buildMaker(ctx, dir)
	if err != nil {
		return err
	}
	var shorts []float64
	for range 5 {
		short, err := peak(ctx, binary, dir, 14)
		if err != nil {
			return err
		}
		shorts = append(shorts, short)
	}
	slices.Sort(shorts)
	short := shorts[len(shorts)/2]
	long, err := peak(ctx, binary, dir, disks)
	if err != nil {
		return err
	}
	fmt.Printf("peak memory: %.1f MB with 14 disks (median of 5), %.1f MB with %d\n", short, long, disks)
	if err := bound("peak of the long run in MB", long, most); err != nil {
		return err
	}
	return bound("long run / 14 disks", long/short, limit)
}

// peak is the largest resident memory of a run in megabytes.
func peak(ctx context.Context, binary, dir string, disks int) (float64, error) {
	cmd := exec.CommandContext(ctx, binary, "hanoi", "--disks", fmt.Sprint(disks), "--quiet",
		"--log-dir", filepath.Join(dir, "runs"), "--model", "sim/default?p=0.9978&malformed=0.032")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%d disks: %w\n%s", disks, err, out.Bytes())
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, fmt.Errorf("%s does not tell a process's peak memory", runtime.GOOS)
	}
	kilobytes := float64(usage.Maxrss)
	if runtime.GOOS == "darwin" {
		kilobytes /= 1024 // bytes there
	}
	return kilobytes / 1024, nil
}
