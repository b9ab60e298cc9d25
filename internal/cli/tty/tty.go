// Package tty reads what a person types, one answer at a time.
//
// A line is read only while somebody waits for it. What was typed before that, for
// whatever reason, is not an answer to a question that was not there yet: it can be
// discarded, in the program and in the operating system, and counted.
package tty

import (
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether a file is one.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// longestLine bounds what is read of a line. Operating systems end one much earlier.
const longestLine = 64 << 10
