// Command maker runs long tasks on language models without errors.
package main

import (
	"os"

	"github.com/maker-mdap/maker/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
