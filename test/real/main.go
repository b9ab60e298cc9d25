// Command real measures what votes of real models are worth. It fills a bank with
// answers of small models, once, and computes every table of docs/results.md about
// them from the bank alone. run.sh does all of it.
//
//	go run ./test/real sample -url http://127.0.0.1:8080/v1 -model NAME -form chat -bank FOLDER
//	go run ./test/real tables FOLDER
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// A command is one subcommand.
type command struct {
	name  string
	about string
	run   func(ctx context.Context, args []string) error
}

var commands = []command{
	{"sample", "ask a model what the bank does not have yet", sampleCommand},
	{"make", "write the families that are made from seeds", makeCommand},
	{"prompts", "write what the program itself asks for some tasks", promptsCommand},
	{"tables", "compute every table from a bank", tablesCommand},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) > 1 {
		for _, c := range commands {
			if c.name == os.Args[1] {
				if err := c.run(ctx, os.Args[2:]); err != nil {
					fmt.Fprintf(os.Stderr, "real %s: %v\n", c.name, err)
					os.Exit(1)
				}
				return
			}
		}
	}
	fmt.Fprintln(os.Stderr, "usage: go run ./test/real COMMAND [flags]")
	for _, c := range commands {
		fmt.Fprintf(os.Stderr, "  %-10s %s\n", c.name, c.about)
	}
	os.Exit(2)
}
