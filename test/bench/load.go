package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/internal/httpclient"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/anthropic"
	"github.com/maker-mdap/maker/model/openai"
	"github.com/maker-mdap/maker/vote"
)

// load compares the calls per second that a client with everything around it
// sustains (building the request, HTTP, decoding, reading the answer, counting
// the vote) with a bare loop that sends and reads the same bytes.
func load(ctx context.Context, args []string) error {
	calls, rounds, least, cpu := 20_000, 20, 0.7, ""
	err := parse("load", args, func(f *flag.FlagSet) {
		f.IntVar(&calls, "calls", calls, "calls of each measurement")
		f.IntVar(&rounds, "rounds", rounds, "slices in which client and bare loop take turns")
		f.StringVar(&cpu, "cpuprofile", "", "write a CPU profile to this file")
		f.Float64Var(&least, "least", least, "smallest ratio allowed")
	})
	if err != nil {
		return err
	}
	stopProfile, err := profile(cpu, "")
	if err != nil {
		return err
	}
	defer stopProfile()
	dir, err := os.MkdirTemp("", "maker-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	base, stop, err := startSim(ctx, dir, "sim/default?p=1")
	if err != nil {
		return err
	}
	defer stop()

	requests, err := prompts(10)
	if err != nil {
		return err
	}
	reader, err := hanoi.Family().Readers.New(hanoi.Name, json.RawMessage(`{"disks":10}`))
	if err != nil {
		return err
	}
	clients := []struct {
		name string
		make func(http.RoundTripper) (model.Model, error)
	}{
		{"openai", func(t http.RoundTripper) (model.Model, error) {
			return openai.New(openai.Options{Provider: "compat", Model: "default", BaseURL: base, Transport: t})
		}},
		{"anthropic", func(t http.RoundTripper) (model.Model, error) {
			return anthropic.New(anthropic.Options{Model: "default", BaseURL: base, APIKey: "none", Transport: t})
		}},
	}
	var missed error
	for _, c := range clients {
		for _, concurrent := range []int{1, 16, 256} {
			ratio, err := compare(ctx, c.make, requests, reader, calls, rounds, concurrent)
			if err != nil {
				return err
			}
			verdict := "met"
			if ratio < least {
				verdict = "MISSED"
				missed = errors.Join(missed, fmt.Errorf("%s at %d: %.2f < %.2f: %w", c.name, concurrent, ratio, least, errBound))
			}
			fmt.Printf("%-10s %3d concurrent: client / bare net/http %19.2f  (at least %.2f: %s)\n", c.name, concurrent, ratio, least, verdict)
		}
	}
	return errors.Join(missed, churn(base), leaks())
}

// compare is how many calls the client makes in the time in which the bare loop
// makes one. They take turns in short slices, so that both see the same machine.
func compare(ctx context.Context, client func(http.RoundTripper) (model.Model, error), requests []*model.Request, reader domain.Reader, calls, rounds, concurrent int) (float64, error) {
	tape, err := record(ctx, client, requests)
	if err != nil {
		return 0, err
	}
	transport := httpclient.NewTransport()
	defer transport.CloseIdleConnections()
	m, err := client(transport)
	if err != nil {
		return 0, err
	}
	bare := &http.Client{Transport: httpclient.NewTransport()}
	defer bare.CloseIdleConnections()
	var full, plain time.Duration
	for i := range rounds + 1 {
		a, err := timed(calls/rounds, concurrent, func(i int) error { return vouch(ctx, m, reader, requests[i%len(requests)]) })
		if err != nil {
			return 0, err
		}
		b, err := timed(calls/rounds, concurrent, func(i int) error { return tape.send(ctx, bare, i) })
		if err != nil {
			return 0, err
		}
		if i > 0 { // the first slice opens the connections
			full, plain = full+a, plain+b
		}
	}
	return float64(plain) / float64(full), nil
}

// vouch asks once and counts the vote.
func vouch(ctx context.Context, m model.Model, reader domain.Reader, req *model.Request) error {
	resp, err := m.Generate(ctx, req)
	if err != nil {
		return err
	}
	answer, flag := reader.Read(resp.Text)
	if flag != nil {
		return fmt.Errorf("%s: %s", flag.Name, flag.Reason)
	}
	tally := vote.NewTally(vote.Rule{Strategy: vote.FirstToK, K: 1, MaxSamples: 1})
	tally.Vote(answer.Key)
	if tally.Decision().Outcome != vote.Won {
		return errors.New("the vote was not counted")
	}
	return nil
}

// timed makes calls in concurrent goroutines and returns how long that took.
func timed(calls, concurrent int, call func(i int) error) (time.Duration, error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	var once sync.Once
	var failed error
	start := time.Now()
	for range concurrent {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= calls {
					return
				}
				if err := call(i); err != nil {
					once.Do(func() { failed = err })
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start), failed
}

// tape keeps the bytes of requests, to be sent as they are.
type tape struct {
	url    string
	header http.Header
	bodies [][]byte
}

// record has a client build requests without sending them.
func record(ctx context.Context, client func(http.RoundTripper) (model.Model, error), requests []*model.Request) (*tape, error) {
	t := &tape{}
	m, err := client(t)
	if err != nil {
		return nil, err
	}
	for i, req := range requests {
		if _, err := m.Generate(ctx, req); err == nil || len(t.bodies) != i+1 {
			return nil, fmt.Errorf("request %d was not recorded: %w", i, err)
		}
	}
	return t, nil
}

// RoundTrip keeps a request and refuses it.
func (t *tape) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	t.url, t.header = req.URL.String(), req.Header.Clone()
	t.bodies = append(t.bodies, body)
	return &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

// send sends the kept bytes and reads the answer.
func (t *tape) send(ctx context.Context, client *http.Client, i int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(t.bodies[i%len(t.bodies)]))
	if err != nil {
		return err
	}
	req.Header = t.header
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.ReadAll(resp.Body)
	return err
}

// churn looks at how many connections the server saw: each measurement may open
// as many as it has goroutines, and a few in the race at its start.
func churn(base string) error {
	s, err := stats(base)
	if err != nil {
		return err
	}
	if s.Connections == nil {
		return errors.New("the server does not count its connections")
	}
	fmt.Printf("%d requests over %d connections\n", s.Requests, *s.Connections)
	if *s.Connections*10 > s.Requests {
		return fmt.Errorf("more than one connection for ten requests: %w", errBound)
	}
	return nil
}

// leaks checks that all goroutines have ended, apart from those of connections
// that are just closing.
func leaks() error {
	const most = 10
	for range 100 {
		if runtime.NumGoroutine() <= most {
			fmt.Printf("%d goroutines left\n", runtime.NumGoroutine())
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("%d goroutines left: %w", runtime.NumGoroutine(), errBound)
}
