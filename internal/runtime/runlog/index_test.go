package runlog

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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

// TestADamagedIndexTakesNoMemory: the length of a line is what the index says, and may
// be anything.
func TestADamagedIndexTakesNoMemory(t *testing.T) {
	dir := newRun(t, 3)
	x, err := OpenIndex(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, s := range []Step{
		{Step: 1, Offset: 0, Length: math.MaxUint32},
		{Step: 1, Offset: 300, Length: 1 << 30},
		{Step: 1, Offset: math.MaxInt64, Length: math.MaxUint32},
		{Step: 1, Offset: -1, Length: 100},
		{Step: 1, Offset: 1 << 40, Length: 100},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := x.Event(s)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "does not fit the log") {
			t.Errorf("Event(%+v) = %v, want that the index does not fit", s, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
			t.Errorf("Event(%+v) took %d MiB, want next to nothing", s, took>>20)
		}
	}
}

// TestEveryBitFlipOfTheIndexIsFound flips each bit of its records: no reader takes such
// a record for whole, and opening the log mends it.
func TestEveryBitFlipOfTheIndexIsFound(t *testing.T) {
	dir := newRun(t, 3)
	path := filepath.Join(dir, IndexFile)
	index, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := len(indexMagic); at < len(index); at++ {
		for bit := range 8 {
			flipped := bytes.Clone(index)
			flipped[at] ^= 1 << bit
			n := (at - len(indexMagic)) / stepSize
			record := flipped[len(indexMagic)+n*stepSize:][:stepSize]
			if s, err := parseStep(record); err == nil && s != mustParse(t, index[len(indexMagic)+n*stepSize:][:stepSize]) {
				t.Errorf("parseStep() with bit %d of byte %d flipped = %+v, want an error", bit, at, s)
			}
			if bit != at%8 || at%5 != 0 { // files take longer
				continue
			}
			if err := os.WriteFile(path, flipped, 0o644); err != nil {
				t.Fatal(err)
			}
			l, _, err := Open(dir, nil, ignore)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if mended, err := os.ReadFile(path); err != nil || !bytes.Equal(mended, index) {
				t.Errorf("the index with bit %d of byte %d flipped is not mended: %v", bit, at, err)
			}
		}
	}
}

func mustParse(t *testing.T, record []byte) Step {
	t.Helper()
	s, err := parseStep(record)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAnIndexWithoutChecksums is one of an earlier version. While its records fit the
// log, opening that leaves them alone.
func TestAnIndexWithoutChecksums(t *testing.T) {
	dir := newRun(t, 3)
	path := filepath.Join(dir, IndexFile)
	index, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		copy(index[len(indexMagic)+i*stepSize+38:], []byte{0, 0})
	}
	if err := os.WriteFile(path, index, 0o644); err != nil {
		t.Fatal(err)
	}
	checkIndex(t, dir, 3)
	l, _, err := Open(dir, nil, ignore)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, index) {
		t.Errorf("Open() made the index %x, %v, want it as it was:\n%x", now, err, index)
	}
}

// TestStepsThatCannotBeIndexed: a line that claims to be a step, and is none, is damage.
func TestStepsThatCannotBeIndexed(t *testing.T) {
	for name, test := range map[string]struct{ fields, want string }{
		"no step":   {`"timestamp":"2030-01-01T00:00:00.000Z","run":"run","step":"seven"`, "cannot unmarshal"},
		"two types": {`"type":"step_started","timestamp":"2030-01-01T00:00:00.000Z","run":"run"`, "it has two types"},
	} {
		dir := newRun(t, 3)
		log, err := os.ReadFile(filepath.Join(dir, EventsFile))
		if err != nil {
			t.Fatal(err)
		}
		tear(t, dir, string(seal([]byte(`{"type":"step_completed","seq":4,`+test.fields+"}"), 0))+"\n")
		_, _, err = Open(dir, nil, ignore)
		damage, ok := errors.AsType[*CorruptError](err)
		if !ok || damage.Dir != dir || damage.Line != 5 || damage.Offset != int64(len(log)) || !strings.Contains(damage.Reason, test.want) {
			t.Errorf("%s: Open() = %v, want that line 5 is damaged: %s", name, err, test.want)
		}
	}
}

// TestIndexOfACrash: a record that was not written whole does not count.
func TestIndexOfACrash(t *testing.T) {
	dir := newRun(t, 3)
	for _, cut := range []int64{1, stepSize / 2, stepSize - 1} {
		if err := os.Truncate(filepath.Join(dir, IndexFile), int64(len(indexMagic))+3*stepSize-cut); err != nil {
			t.Fatal(err)
		}
		checkIndex(t, dir, 2)
	}
}

// TestAStepThatIsTheFirstEvent begins at byte 0 of the log.
func TestAStepThatIsTheFirstEvent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l, err := Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, step(0))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	checkIndex(t, dir, 1)
}
