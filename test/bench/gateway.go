package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/maker-mdap/maker/internal/httpclient"
)

// gateway compares the calls per second that reach a server through the gateway of `maker
// serve`, which asks it several times for each request, with those through a bare reverse
// proxy. Each is a process of its own. It sees that the gateway's memory stays as it is, and
// that no goroutine is left.
func gateway(ctx context.Context, args []string) error {
	g := &gatewayLoad{inFlight: 256, aheadBy: 3}
	calls, rounds, least, most, proxied := 40_000, 8, 0.7, 1.3, ""
	err := parse("gateway", args, func(f *flag.FlagSet) {
		f.IntVar(&calls, "calls", calls, "calls of each measurement")
		f.IntVar(&rounds, "rounds", rounds, "slices in which gateway and proxy take turns")
		f.IntVar(&g.inFlight, "in-flight", g.inFlight, "requests at once")
		f.IntVar(&g.aheadBy, "ahead-by", g.aheadBy, "margin of the votes")
		f.Float64Var(&least, "least", least, "smallest ratio allowed")
		f.Float64Var(&most, "most", most, "largest growth of memory allowed, from one half of the requests to the other")
		f.StringVar(&proxied, "proxy", "", "be the proxy of this address, for another process")
	})
	if err != nil {
		return err
	}
	if proxied != "" {
		return serveProxy(ctx, proxied)
	}
	stop, err := g.start(ctx)
	if err != nil {
		return err
	}
	defer stop()
	return g.measure(ctx, calls, rounds, least, most)
}

// serveProxy is a bare reverse proxy. It prints its address and ends with ctx.
func serveProxy(ctx context.Context, address string) error {
	to, err := url.Parse(address)
	if err != nil {
		return err
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.Transport = httpclient.NewTransport()
	s := httptest.NewServer(proxy)
	defer s.Close()
	fmt.Println(s.URL)
	<-ctx.Done()
	return nil
}

// startProxy runs it in a process of its own.
func startProxy(ctx context.Context, address string) (base string, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, self, "gateway", "-proxy", address)
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
		return "", nil, fmt.Errorf("the proxy: %w", err)
	}
	return strings.TrimSpace(line), stop, nil
}

// A gatewayLoad is a simulated server, and the two ways to it.
type gatewayLoad struct {
	inFlight, aheadBy int

	upstream string // address of the server, with /v1
	proxy    string
	serve    *serveProcess
	asked    atomic.Int64 // requests, each of which asks for something else
}

func (g *gatewayLoad) start(ctx context.Context) (stop func(), err error) {
	dir, err := os.MkdirTemp("", "maker-bench-")
	if err != nil {
		return nil, err
	}
	ends := []func(){func() { os.RemoveAll(dir) }}
	stop = func() {
		for i := range ends {
			ends[len(ends)-1-i]()
		}
	}
	defer func() {
		if err != nil {
			stop()
		}
	}()
	var end func()
	if g.upstream, end, err = startSim(ctx, dir, "sim/default?p=0.95&latency=40ms,0"); err != nil {
		return nil, err
	}
	ends = append(ends, end)
	if g.proxy, end, err = startProxy(ctx, strings.TrimSuffix(g.upstream, "/v1")); err != nil {
		return nil, err
	}
	ends = append(ends, end)
	if g.serve, err = startServe(ctx, dir, "OPENAI_BASE_URL="+g.upstream, "OPENAI_API_KEY=none"); err != nil {
		return nil, err
	}
	ends = append(ends, g.serve.stop)
	return stop, nil
}

func (g *gatewayLoad) measure(ctx context.Context, calls, rounds int, least, most float64) error {
	before, err := g.goroutines(ctx)
	if err != nil {
		return err
	}
	voted := fmt.Sprintf("maker/openai/any?k=%d", g.aheadBy)
	var bare, through, sizes []float64
	for i := range rounds + 1 {
		plain, err := g.rate(calls/rounds, func(int) error { return g.ask(ctx, g.proxy, "any") })
		if err != nil {
			return fmt.Errorf("the proxy: %w", err)
		}
		full, err := g.rate(calls/rounds/g.aheadBy, func(int) error { return g.ask(ctx, g.serve.base, voted) })
		if err != nil {
			return fmt.Errorf("the gateway: %w", err)
		}
		size, err := g.resident()
		if err != nil {
			return err
		}
		fmt.Printf("round %d: calls per second that reach the server: %6.0f by the proxy, %6.0f by the gateway, which has %.0f MB\n", i, plain, full, size)
		if i > 0 { // the first slice opens the connections, and learns what the server bears
			bare, through, sizes = append(bare, plain), append(through, full), append(sizes, size)
		}
	}
	ratio := mean(through) / mean(bare)
	half := len(sizes) / 2
	verdict := "met"
	if ratio < least {
		verdict, err = "MISSED", fmt.Errorf("gateway / proxy: %.2f < %.2f: %w", ratio, least, errBound)
	}
	fmt.Printf("gateway / proxy, upstream calls per second at %3d in flight %6.2f  (at least %.2f: %s)\n", g.inFlight, ratio, least, verdict)
	err = errors.Join(err, bound("memory of the gateway, second half over first", mean(sizes[half:])/mean(sizes[:half]), most))
	return errors.Join(err, g.left(ctx, before))
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}

// rate is how many calls per second reach the server while requests are made.
func (g *gatewayLoad) rate(requests int, ask func(int) error) (float64, error) {
	before, err := stats(g.upstream)
	if err != nil {
		return 0, err
	}
	took, err := timed(requests, g.inFlight, ask)
	if err != nil {
		return 0, err
	}
	after, err := stats(g.upstream)
	return float64(after.Requests-before.Requests) / took.Seconds(), err
}

// ask asks for one answer.
func (g *gatewayLoad) ask(ctx context.Context, base, model string) error {
	n := g.asked.Add(1)
	body := fmt.Appendf(nil, `{"model":%q,"max_tokens":100,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Compute: %d + %d"}]}`, model, n, n+1)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", base)
	resp, err := g.serve.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.Unmarshal(data, &answer); err != nil || resp.StatusCode != http.StatusOK || len(answer.Choices) != 1 {
		return fmt.Errorf("%s: %s", resp.Status, data)
	}
	return nil
}

// resident is the memory of the gateway in megabytes.
func (g *gatewayLoad) resident() (float64, error) {
	kb, err := strconv.ParseFloat(strings.TrimSuffix(g.serve.memory("VmRSS"), " kB"), 64)
	if err != nil {
		return 0, fmt.Errorf("the memory of the gateway is not known: %w", err)
	}
	return kb / 1024, nil
}

// goroutines are those of the gateway.
func (g *gatewayLoad) goroutines(ctx context.Context) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.serve.base+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	resp, err := g.serve.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	in := bufio.NewScanner(resp.Body)
	for in.Scan() {
		if n, ok := strings.CutPrefix(in.Text(), "go_goroutines "); ok {
			return strconv.Atoi(n)
		}
	}
	return 0, errors.Join(in.Err(), fmt.Errorf("/metrics: %s without go_goroutines", resp.Status))
}

// left checks that nothing is left of the requests but connections to the server that are kept
// for the next ones, with the two goroutines that each of them has.
func (g *gatewayLoad) left(ctx context.Context, before int) error {
	const session = 8 // what a session has while it waits
	n, kept := 0, 0
	for range 300 {
		g.serve.client.CloseIdleConnections()
		var err error
		if n, err = g.goroutines(ctx); err != nil {
			return err
		}
		if kept, err = g.serve.sockets(); err != nil {
			return err
		}
		if n-2*kept <= before+session {
			fmt.Printf("%d goroutines before, and %d after, two for each of %d connections\n", before, n, kept)
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("%d goroutines before, and %d after with %d connections: %w", before, n, kept, errBound)
}

// sockets are those that the server has open.
func (s *serveProcess) sockets() (int, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", s.cmd.Process.Pid))
	n := 0
	for _, file := range files {
		if to, err := os.Readlink(file); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n, err
}
