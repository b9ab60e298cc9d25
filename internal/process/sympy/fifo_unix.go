//go:build unix

package sympy

import (
	"fmt"
	"os"
	"syscall"
)

// openPipe makes a named pipe and opens it for writing. Because it is open for
// reading too, nobody has to be at the other end yet.
func openPipe(path string) (*os.File, error) {
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, fmt.Errorf("sympy: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("sympy: %w", err)
	}
	return f, nil
}
