// Command bench measures what MAKER claims about its speed. Each measurement
// takes its own baseline in the same run and prints the ratio, because absolute
// times say little on shared machines. It fails when a bound is not met.
//
//	go run ./test/bench overhead -disks 20
//	go run ./test/bench latency
//	go run ./test/bench load
//	go run ./test/bench patience
//	go run ./test/bench map
//	go run ./test/bench script
//	go run ./test/bench memory
//	go run ./test/bench followers
//	go run ./test/bench gateway
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

// A measurement is one subcommand.
type measurement struct {
	name  string
	about string
	run   func(ctx context.Context, args []string) error
}

var measurements = []measurement{
	{"overhead", "the engine against a bare loop that makes the same calls", overhead},
	{"adaptive", "margins that adapt against a fixed one, per sample", adaptiveRule},
	{"latency", "a step's wall time over HTTP against one call a step", latency},
	{"load", "calls per second of the clients against bare net/http", load},
	{"patience", "requests sent to a server that asks to wait", patience},
	{"map", "one answer for each record against bare parallel loops", mapping},
	{"script", "Hanoi as a script against the built-in family", scripting},
	{"memory", "peak memory of a short and a long run", memory},
	{"followers", "a run of the server with a thousand followers against one without", followers},
	{"gateway", "upstream calls per second of the gateway against a bare proxy", gateway},
}

// errBound says that a measurement missed its bound.
var errBound = errors.New("the bound is not met")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) > 1 {
		for _, m := range measurements {
			if m.name == os.Args[1] {
				if err := m.run(ctx, os.Args[2:]); err != nil {
					fmt.Fprintf(os.Stderr, "bench %s: %v\n", m.name, err)
					os.Exit(1)
				}
				return
			}
		}
	}
	fmt.Fprintln(os.Stderr, "usage: go run ./test/bench MEASUREMENT [flags]")
	for _, m := range measurements {
		fmt.Fprintf(os.Stderr, "  %-10s %s\n", m.name, m.about)
	}
	os.Exit(2)
}

// parse reads the flags of a measurement.
func parse(name string, args []string, register func(*flag.FlagSet)) error {
	f := flag.NewFlagSet("bench "+name, flag.ContinueOnError)
	register(f)
	return f.Parse(args)
}

// bound prints a ratio with its bound and returns an error if it is exceeded.
func bound(what string, ratio, limit float64) error {
	verdict := "met"
	if ratio > limit {
		verdict = "MISSED"
	}
	fmt.Printf("%-58s %6.2f  (bound %.2f: %s)\n", what, ratio, limit, verdict)
	if ratio > limit {
		return fmt.Errorf("%s: %.2f > %.2f: %w", what, ratio, limit, errBound)
	}
	return nil
}
