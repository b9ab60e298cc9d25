//go:build !unix

package sympy

import (
	"errors"
	"os"
)

func openPipe(string) (*os.File, error) {
	return nil, errors.New("sympy: this system has no named pipes, which SymPy is asked through; do without SymPy here")
}
