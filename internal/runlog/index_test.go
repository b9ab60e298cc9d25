package runlog

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
)

func checkIndex(t *testing.T, dir string, steps int) {
	t.Helper()
	x, err := OpenIndex(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if x.Len() != steps {
		t.Fatalf("Len() = %d, want %d", x.Len(), steps)
	}
	n := 0
	for s, err := range x.All() {
		if at, atErr := x.At(n); err != nil || atErr != nil || s != at {
			t.Errorf("record %d of All() = %+v, %v, want %+v, %v", n, s, err, at, atErr)
		}
		n++
	}
	if n != steps {
		t.Errorf("All() gave %d records, want %d", n, steps)
	}
	for i := range steps {
		s, err := x.At(i)
		if err != nil {
			t.Fatal(err)
		}
		e, err := x.Event(s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step(i), e); diff != "" {
			t.Errorf("Event(%d) (-want +got):\n%s", i, diff)
		}
		if s.Step != i || s.Samples != 4 || s.RedFlagged != 1 || s.Margin != 3 || s.Answers != 1 || s.USD != float64(i)/8 {
			t.Errorf("At(%d) = %+v", i, s)
		}
	}
}

func TestIndex(t *testing.T) { checkIndex(t, newRun(t, 50), 50) }

// TestIndexIsRebuilt spoils the index in many ways; opening the log mends it.
func TestIndexIsRebuilt(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(index []byte) []byte
	}{
		{"intact", func(x []byte) []byte { return x }},
		{"missing", func([]byte) []byte { return nil }},
		{"half a header", func(x []byte) []byte { return x[:5] }},
		{"another version", func(x []byte) []byte { return append([]byte("MAKERSTEPS9\n\x00\x00\x00\x00"), x[16:]...) }},
		{"too short", func(x []byte) []byte { return x[:len(x)-3*stepSize] }},
		{"half a record", func(x []byte) []byte { return x[:len(x)-7] }},
		{"too long", func(x []byte) []byte { return append(x, make([]byte, 2*stepSize)...) }},
		{"a wrong record", func(x []byte) []byte { x[16+10*stepSize]++; return x }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := newRun(t, 20)
			path := filepath.Join(dir, IndexFile)
			index, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, c.spoil(index), 0o644); err != nil {
				t.Fatal(err)
			}
			l, _, err := Open(dir, nil, ignore)
			if err != nil {
				t.Fatal(err)
			}
			appendAll(t, l, step(20), event.StepStarted{Step: 21}, step(21))
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			checkIndex(t, dir, 22)
		})
	}
}
