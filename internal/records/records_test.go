package records

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/internal/text/table"
)

// write keeps records in a file.
func write(t *testing.T, dedupe bool, add func(w *Writer)) (string, Summary) {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, dedupe)
	add(w)
	s, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), File)
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path, s
}

func row(line int, columns ...string) table.Record {
	r := table.Record{Line: line, Columns: columns, Values: map[string]any{}}
	for _, c := range columns {
		r.Values[c] = fmt.Sprint(c, line)
	}
	return r
}

func TestWrite(t *testing.T) {
	path, s := write(t, true, func(w *Writer) {
		for _, add := range []struct {
			r     table.Record
			err   error
			asked string
		}{
			{row(2, "b", "a"), nil, "x"}, {row(3), &table.LineError{Line: 3, Err: errors.New("broken")}, ""},
			{row(4, "a", "c"), nil, "y"}, {row(5, "b"), nil, "x"}, {row(6, "b"), nil, ""},
		} {
			if err := w.Add(add.r, add.err, add.asked); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Add(table.Record{}, errors.New("disk"), ""); err == nil {
			t.Error("Add takes an error that is about no record")
		}
	})
	if diff := cmp.Diff(Summary{Records: 5, Columns: []string{"b", "a", "c"}, SHA256: s.SHA256, Same: 1}, s); diff != "" {
		t.Errorf("Summary: -want +got\n%s", diff)
	}
	var got []string
	for r, err := range All(path) {
		if err != nil {
			t.Fatal(err)
		}
		same := "-"
		if r.Same != nil {
			same = fmt.Sprint(*r.Same)
		}
		got = append(got, fmt.Sprint(r.Line, " ", len(r.Values), " ", same, " ", r.Error))
	}
	if diff := cmp.Diff([]string{"2 2 - ", "3 0 - broken", "4 2 - ", "5 1 0 ", "6 1 - "}, got); diff != "" {
		t.Errorf("All(): -want +got\n%s", diff)
	}
	if err := Check(path, s); err != nil {
		t.Errorf("Check() = %v, want nil", err)
	}
	if err := os.WriteFile(path, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Check(path, s); err == nil || !strings.Contains(err.Error(), "not what it was") {
		t.Errorf("Check() of another file = %v, want an error", err)
	}
}

// TestReader: many ask for records in about their order, and nobody for some of them.
func TestReader(t *testing.T) {
	const n = 1000
	path, _ := write(t, false, func(w *Writer) {
		for i := range n {
			if err := w.Add(row(i, "a"), nil, ""); err != nil {
				t.Fatal(err)
			}
		}
	})
	r := NewReader(path, func(i int) bool { return i%3 == 0 })
	var mu sync.Mutex
	var got []int
	next := 0
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= n {
					return
				}
				if i%3 == 0 {
					continue
				}
				record, err := r.Record(i)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				got = append(got, record.Line)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	slices.Sort(got)
	if len(got) != n-(n+2)/3 || len(r.ahead) != 0 {
		t.Errorf("%d records were read and %d are left, want %d and none", len(got), len(r.ahead), n-(n+2)/3)
	}
	if _, err := r.Record(n); err == nil {
		t.Error("Record() behind the last one has no error")
	}
	if _, err := r.Record(1); err == nil {
		t.Error("Record() a second time has no error")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
