// Command maker-temporal does the runs of maker on Temporal, on as many machines as there are.
package main

import (
	"os"

	"github.com/maker-mdap/maker/internal/cli"
	"github.com/maker-mdap/maker/temporal/internal/program"
)

func main() {
	os.Exit(program.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
