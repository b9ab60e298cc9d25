// Command peers compares how long a voted chain takes with MAKER and with other programs, on
// one server with given latency and faults. It is run by hand:
//
//	go run ./test/bench/peers -server 'sim/default?p=0.98&latency=40ms,0.99' -disks 8
//	go run ./test/bench/peers -server 'sim/default?p=0.98&latency=40ms,0.99&f429=0.2' \
//		-peer 'other=python other.py --steps {steps}'
//
// Each program gets the server's address as OPENAI_BASE_URL and in place of {base}, and the
// number of steps in place of {steps}. It has to do as many steps of the Towers of Hanoi, one
// after another, and end with exit code 0; what it asks is its own affair. Requests are those
// that the server has seen.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/maker-mdap/maker/domain/hanoi"
)

// A program is a row of the table.
type program struct{ name, command string }

// peers are the programs that the command line adds.
type peers []program

func (p *peers) String() string { return fmt.Sprint(*p) }

// Set implements [flag.Value].
func (p *peers) Set(text string) error {
	name, command, ok := strings.Cut(text, "=")
	if !ok || name == "" || command == "" {
		return errors.New("want NAME=COMMAND")
	}
	*p = append(*p, program{name, command})
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var others peers
	server := flag.String("server", "sim/default?p=0.98&malformed=0&latency=40ms,0.99", "settings of the server, see docs/simulator.md")
	disks := flag.Int("disks", 8, "disks of the run")
	k := flag.Int("k", 3, "by how many votes an answer has to lead")
	flag.Var(&others, "peer", "NAME=COMMAND of another program; may be repeated")
	flag.Parse()

	dir, err := os.MkdirTemp("", "maker-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	maker := filepath.Join(dir, "maker")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", maker, "./cmd/maker").CombinedOutput(); err != nil {
		return fmt.Errorf("building maker: %w\n%s", err, out)
	}
	hanoiWith := func(flags string) string {
		return fmt.Sprintf("%s hanoi --disks %d --model compat/default --base-url {base} --log-dir %s --quiet %s", maker, *disks, dir, flags)
	}
	rows := append([]program{
		{"maker, unvoted", hanoiWith("-k 1 --check=false --speculate off --extra 0")},
		{"maker", hanoiWith("-k " + strconv.Itoa(*k))},
		{"maker, nothing ahead", hanoiWith("-k " + strconv.Itoa(*k) + " --speculate off --extra 0")},
	}, others...)

	steps := hanoi.Steps(*disks)
	fmt.Printf("%s, %d steps, k = %d\n\n", *server, steps, *k)
	fmt.Println("| program | ms a step | of unvoted | requests a step | ended |")
	fmt.Println("|---|---|---|---|---|")
	var unvoted time.Duration
	for i, row := range rows {
		took, requests, end, err := measure(ctx, maker, *server, row, steps)
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		if i == 0 {
			unvoted = took
		}
		fmt.Printf("| %s | %.1f | %.2f | %.2f | %s |\n", row.name, took.Seconds()*1000/float64(steps),
			took.Seconds()/unvoted.Seconds(), float64(requests)/float64(steps), end)
	}
	return nil
}

// measure runs a program against a fresh server.
func measure(ctx context.Context, maker, settings string, p program, steps int) (took time.Duration, requests int, end string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sim := exec.CommandContext(ctx, maker, "sim", "--model", settings)
	out, err := sim.StdoutPipe()
	if err != nil {
		return 0, 0, "", err
	}
	if err := sim.Start(); err != nil {
		return 0, 0, "", err
	}
	defer func() {
		cancel()
		_ = sim.Wait() // it was killed
	}()
	base, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return 0, 0, "", fmt.Errorf("the server did not start: %w", err)
	}
	base = strings.TrimSpace(base)
	command := strings.NewReplacer("{base}", base, "{steps}", strconv.Itoa(steps)).Replace(p.command)
	shell := exec.CommandContext(ctx, "sh", "-c", command)
	shell.Env = append(os.Environ(), "OPENAI_BASE_URL="+base, "OPENAI_API_KEY=none")
	shell.Stderr = os.Stderr
	start := time.Now()
	end = "well"
	if err := shell.Run(); err != nil {
		end = err.Error()
	}
	took = time.Since(start)
	requests, err = seen(ctx, base)
	return took, requests, end, err
}

// seen is how many requests a server has had.
func seen(ctx context.Context, base string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(base, "/v1")+"/stats", nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var stats struct {
		Requests int `json:"requests"`
	}
	return stats.Requests, json.NewDecoder(resp.Body).Decode(&stats)
}
