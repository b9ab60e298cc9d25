package rows

import (
	"fmt"
	"os"
	"testing"
)

// TestPipe: a pipe with a name, such as /dev/stdin or what a shell makes of <(...), is read
// once, and its records can be had as often as those of a file.
func TestPipe(t *testing.T) {
	if _, err := os.Stat("/dev/fd"); err != nil {
		t.Skip("this system has no names for pipes")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString("n\n1\n2\n"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("/dev/fd/%d", r.Fd())
	source, err := Open(name, nil)
	if err != nil {
		t.Fatalf("Open(%s): %v", name, err)
	}
	for range 2 {
		got := 0
		for _, err := range source.Records() {
			if err != nil {
				t.Fatal(err)
			}
			got++
		}
		if got != 2 {
			t.Errorf("Records() of a pipe yields %d records, want 2", got)
		}
	}
	if err := source.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(source.path); err == nil {
		t.Errorf("Close() leaves %s", source.path)
	}
}
