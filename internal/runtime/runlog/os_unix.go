//go:build unix

package runlog

import (
	"errors"
	"os"
)

// fsyncDir makes the entries of a folder durable.
func fsyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
