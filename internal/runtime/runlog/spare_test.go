//go:build unix

package runlog

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/maker-mdap/maker/internal/runtime/wholefile"
)

// TestARunHasDescriptorsForItsEnd takes all descriptors that there are.
func TestARunHasDescriptorsForItsEnd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l, err := Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, submitted(), step(0))
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = 200
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	var taken []*os.File
	t.Cleanup(func() {
		for _, f := range taken {
			f.Close()
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Error(err)
		}
	})
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		taken = append(taken, f)
	}
	if _, err := Tail(dir, 1); err == nil {
		t.Fatal("Tail() = nil, want that there are no descriptors left")
	}
	l.FreeSpare()
	if _, err := Tail(dir, 1); err != nil {
		t.Errorf("Tail() = %v, want that it can be read", err)
	}
	x, err := OpenIndex(dir)
	if err != nil {
		t.Fatalf("OpenIndex() = %v", err)
	}
	if err := wholefile.Replace(filepath.Join(dir, "result.json"), []byte("{}")); err != nil {
		t.Errorf("wholefile.Replace() = %v, want that it can be written", err)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	l.FreeSpare()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
