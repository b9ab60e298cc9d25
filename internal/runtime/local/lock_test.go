package local

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/internal/runtime/wholefile"
)

// TestNoEffectWithoutARun takes the run away before an effect: its claim cannot be
// made, so that it does not happen.
func TestNoEffectWithoutARun(t *testing.T) {
	for name, steal := range map[string]func(dir string) error{
		"the lock is removed": func(dir string) error { return os.Remove(filepath.Join(dir, runlog.LockFile)) },
		"the lock is another": func(dir string) error { return wholefile.Replace(filepath.Join(dir, runlog.LockFile), nil) },
		"the folder is gone":  os.RemoveAll,
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			w := &world{mayBreak: true}
			err := w.act(t, dir, func(f flow.Flow) error {
				if err := steal(dir); err != nil {
					t.Fatal(err)
				}
				_, err := f.Perform("step/3/effect/0", call("Pay", "Ann"))
				return err
			})
			if _, ok := errors.AsType[*runlog.LostError](err); !ok {
				t.Errorf("Perform() = %v, want that the run is lost", err)
			}
			if len(w.ran) != 0 {
				t.Errorf("it ran %q, want nothing without a claim", w.ran)
			}
		})
	}
}
