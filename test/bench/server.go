package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// buildMaker builds the program into dir.
func buildMaker(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "maker")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/maker")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("build: %w", err)
	}
	return binary, nil
}

// startSim runs `maker sim` in a process of its own and returns its address.
func startSim(ctx context.Context, dir, name string) (base string, stop func(), err error) {
	binary, err := buildMaker(ctx, dir)
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, binary, "sim", "--model", name)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("maker sim: %w", err)
	}
	return strings.TrimSpace(line), stop, nil
}

// simStats is what `maker sim` counts.
type simStats struct {
	Requests    int64  `json:"requests"`
	Connections *int64 `json:"connections"`
}

func stats(base string) (simStats, error) {
	var s simStats
	resp, err := http.Get(strings.TrimSuffix(base, "/v1") + "/stats")
	if err != nil {
		return s, err
	}
	defer resp.Body.Close()
	err = json.NewDecoder(resp.Body).Decode(&s)
	http.DefaultClient.CloseIdleConnections()
	return s, err
}
