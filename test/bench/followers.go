package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// followers runs Hanoi on `maker serve` without and with many who follow the run, and compares
// how long it takes. It sees that nobody misses an event.
func followers(ctx context.Context, args []string) error {
	disks, many, rounds := 9, 1000, 2
	err := parse("followers", args, func(f *flag.FlagSet) {
		f.IntVar(&disks, "disks", disks, "disks of the run")
		f.IntVar(&many, "followers", many, "how many follow it")
		f.IntVar(&rounds, "rounds", rounds, "runs of each kind, one after the other in turn; the fastest counts")
	})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "maker-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := startServe(ctx, dir)
	if err != nil {
		return err
	}
	defer s.stop()
	fmt.Printf("log-normal latency, median %s, sigma %.2f; k = 3; %d disks\n", medianLatency, sigmaLatency, disks)
	alone, followed := time.Duration(1<<62), time.Duration(1<<62)
	for range rounds {
		for _, n := range []int{0, many} {
			took, err := s.follow(ctx, disks, n)
			if err != nil {
				return err
			}
			fmt.Printf("%5d followers %10s  peak memory of the server %s\n", n, took.Round(time.Millisecond), s.peak())
			if n == 0 {
				alone = min(alone, took)
			} else {
				followed = min(followed, took)
			}
		}
	}
	return bound(fmt.Sprintf("a run with %d followers over one without", many), followed.Seconds()/alone.Seconds(), 1.10)
}

// serveProcess is a `maker serve` in a process of its own.
type serveProcess struct {
	cmd    *exec.Cmd
	base   string
	client *http.Client
}

// startServe serves in dir, with further variables of the environment.
func startServe(ctx context.Context, dir string, env ...string) (*serveProcess, error) {
	binary, err := buildMaker(ctx, dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, binary, "serve", "--listen", "127.0.0.1:0")
	cmd.Dir, cmd.Stderr, cmd.Env = dir, os.Stderr, append(os.Environ(), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &serveProcess{cmd: cmd}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		err = s.open(strings.TrimSpace(line))
	}
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("maker serve: %w", err)
	}
	return s, nil
}

// open goes where a person would: a link may set a cookie.
func (s *serveProcess) open(address string) error {
	at, err := url.Parse(address)
	if err != nil {
		return err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	s.base = at.Scheme + "://" + at.Host
	s.client = &http.Client{Jar: jar, Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	resp, err := s.client.Get(address)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func (s *serveProcess) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed
}

// peak is the most memory that the server has had.
func (s *serveProcess) peak() string { return cmp.Or(s.memory("VmHWM"), "not known") }

// memory is a figure about the server's memory, as the system has it; empty if it has none.
func (s *serveProcess) memory(name string) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if kb, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(kb)
		}
	}
	return ""
}

// ask sends a request whose answer is JSON.
func (s *serveProcess) ask(ctx context.Context, method, path string, body, v any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", s.base)
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if data, err = io.ReadAll(resp.Body); err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s", method, path, data)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// follow starts a run, has it followed, and returns how long it took.
func (s *serveProcess) follow(ctx context.Context, disks, many int) (time.Duration, error) {
	var started struct{ Run struct{ Run string } }
	err := s.ask(ctx, "POST", "/api/runs", map[string]any{"kind": "hanoi", "params": map[string]any{"disks": disks}, "settings": map[string]any{
		"model": fmt.Sprintf("sim/default?p=0.9978&malformed=0&seed=7&latency=%s,%g", medianLatency, sigmaLatency), "ahead_by": 3,
	}}, &started)
	if err != nil {
		return 0, err
	}
	path := "/api/runs/" + started.Run.Run
	var group sync.WaitGroup
	heard, failed := make([]uint64, max(many, 1)), make([]error, max(many, 1))
	for i := range heard { // one at least, who tells when it has ended
		group.Go(func() { heard[i], failed[i] = s.listen(ctx, path) })
	}
	group.Wait()
	if err := errors.Join(failed...); err != nil {
		return 0, err
	}
	for i, n := range heard {
		if n != heard[0] {
			return 0, fmt.Errorf("follower %d heard of %d events, and the first of %d", i, n, heard[0])
		}
	}
	var result struct {
		Status string `json:"status"`
		Took   int64  `json:"total_duration_ms"`
	}
	if err := s.ask(ctx, "GET", path+"/result", nil, &result); err != nil {
		return 0, err
	}
	if result.Status != "completed" {
		return 0, fmt.Errorf("the run is %s", result.Status)
	}
	return time.Duration(result.Took) * time.Millisecond, nil
}

// listen follows a run to its end and returns how many events it heard of.
func (s *serveProcess) listen(ctx context.Context, path string) (next uint64, err error) {
	req, err := http.NewRequestWithContext(ctx, "GET", s.base+path+"/events", nil)
	if err != nil {
		return 0, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	in := bufio.NewScanner(resp.Body)
	in.Buffer(make([]byte, 0, 16<<10), 1<<20)
	for in.Scan() {
		if id, ok := strings.CutPrefix(in.Text(), "id: "); ok {
			if id != strconv.FormatUint(next, 10) {
				return next, fmt.Errorf("event %s comes after %d events", id, next)
			}
			next++
		}
		if in.Text() == "event: end" {
			return next, nil
		}
	}
	return next, errors.Join(in.Err(), errors.New("it ended without an end"))
}
