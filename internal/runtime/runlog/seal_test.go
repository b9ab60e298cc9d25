package runlog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/event"
)

// noted is a small log with lines of every kind: long, short, with steps and others.
func noted(t *testing.T) (dir string, log []byte) {
	t.Helper()
	dir = newRun(t, 2)
	l, _, err := Open(dir, nil, ignore)
	if err != nil {
		t.Fatal(err)
	}
	usd := 0.25
	appendAll(t, l, event.SampleCompleted{Sample: event.Sample{Question: "q", CostUSD: &usd}, Vote: "a", Text: event.TextValue("a 7 \u00fc")},
		event.VoteCompleted{Question: "q", Status: "decided", Answer: event.JSONValue([]byte(`{"a":[1,2.5]}`))},
		event.TaskCompleted{Steps: 2, Output: event.JSONValue([]byte(`7`))})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	log, err = os.ReadFile(filepath.Join(dir, EventsFile))
	if err != nil {
		t.Fatal(err)
	}
	return dir, log
}

func TestLinesEndWithAChecksum(t *testing.T) {
	_, log := noted(t)
	form := regexp.MustCompile(`^(\{"type":"[a-z_]+","seq":\d+,.*),"crc":"([0-9a-f]{8})"\}$`)
	for line := range bytes.Lines(log) {
		found := form.FindSubmatch(bytes.TrimSuffix(line, []byte("\n")))
		if found == nil {
			t.Fatalf("the line %s has no checksum", line)
		}
		if want := fmt.Sprintf("%08x", crc32.Checksum(found[1], crc32.MakeTable(crc32.Castagnoli))); string(found[2]) != want {
			t.Errorf("the checksum of %s is %s, want %s", line, found[2], want)
		}
	}
}

// TestEveryBitFlipIsFound flips each bit of a log in turn: the line that it is in is
// named, and no reader takes it for whole.
func TestEveryBitFlipIsFound(t *testing.T) {
	_, log := noted(t)
	dir := t.TempDir()
	path := filepath.Join(dir, EventsFile)
	passed := 0
	for at := range log {
		for bit := range 8 {
			flipped := bytes.Clone(log)
			flipped[at] ^= 1 << bit
			end, err := scan(bytes.NewReader(flipped), 0, ignore)
			damage, ok := errors.AsType[*CorruptError](err)
			if !ok {
				passed++
				t.Errorf("bit %d of byte %d, %q: scan() = %d, %v, want damage", bit, at, around(log, at), end, err)
				continue
			}
			line := int64(bytes.Count(log[:at], []byte("\n"))) + 1
			if damage.Line != line || damage.Offset != int64(bytes.LastIndexByte(log[:at], '\n')+1) {
				t.Errorf("bit %d of byte %d: %v, want line %d", bit, at, err, line)
			}
			if at%16 != 0 || bit != at/16%8 { // files take longer
				continue
			}
			if err := os.WriteFile(path, flipped, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, _, err := Open(dir, nil, ignore); !isCorrupt(err) {
				t.Errorf("bit %d of byte %d: Open() = %v, want damage", bit, at, err)
			}
			last, err := Tail(dir, 1)
			if err != nil {
				t.Fatal(err)
			}
			if line == 6 && at < len(log)-sealSize && len(last) == 1 && last[0].Seq == 5 {
				t.Errorf("bit %d of byte %d: Tail() = %+v, want nothing of the damaged line", bit, at, last)
			}
		}
	}
	t.Logf("%d of %d flips passed", passed, 8*len(log))
}

func isCorrupt(err error) bool {
	_, ok := errors.AsType[*CorruptError](err)
	return ok
}

func around(log []byte, at int) []byte { return log[max(at-5, 0):min(at+5, len(log))] }

// TestLogsWithoutChecksums: a log of an earlier version has none, and goes on with
// them. From the first one on, each line has one.
func TestLogsWithoutChecksums(t *testing.T) {
	_, log := noted(t)
	bare := regexp.MustCompile(`,"crc":"[0-9a-f]{8}"\}\n`).ReplaceAll(log, []byte("}\n"))
	dir := t.TempDir()
	path := filepath.Join(dir, EventsFile)
	if err := os.WriteFile(path, bare, 0o644); err != nil {
		t.Fatal(err)
	}
	// What no checksum tells from a torn line is taken for one.
	for line, torn := range map[string]bool{
		"garbage}\n": true,
		string(seal([]byte(`{"type":"run_resumed","seq":6`), 0)[1:]) + "\n": false,
	} {
		if _, err := scan(bytes.NewReader(append(bytes.Clone(bare), line...)), 0, ignore); (err == nil) != torn {
			t.Errorf("scan() of an early log and %q = %v, want it taken for torn: %t", line, err, torn)
		}
	}
	if n := len(readAll(t, dir)); n != 6 {
		t.Errorf("%d events of an early log can be read, want 6", n)
	}
	l, _, err := Open(dir, nil, ignore)
	if err != nil {
		t.Fatalf("Open() of an early log = %v", err)
	}
	appendAll(t, l, event.RunResumed{}, step(2))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	mixed, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(mixed, bare) || bytes.Count(mixed, []byte(`,"crc":"`)) != 2 {
		t.Fatalf("the log became %s, %v, want it with two lines more", mixed, err)
	}
	if n := len(readAll(t, dir)); n != 8 {
		t.Errorf("%d events can be read, want 8", n)
	}

	lines := bytes.SplitAfter(log, []byte("\n"))
	for i := range 6 {
		damaged := slices.Clone(lines)
		damaged[i] = regexp.MustCompile(`,"crc":"[0-9a-f]{8}"`).ReplaceAll(lines[i], nil)
		_, err := scan(bytes.NewReader(bytes.Join(damaged, nil)), 0, ignore)
		if damage, ok := errors.AsType[*CorruptError](err); !ok || damage.Line != int64(i)+1 || !strings.Contains(damage.Reason, "no checksum") {
			t.Errorf("scan() without the checksum of line %d = %v, want damage there", i+1, err)
		}
	}
}

// TestShortLines: a line may be no longer than its checksum.
func TestShortLines(t *testing.T) {
	for line, want := range map[string]struct {
		sealing sealing
		written bool // to its end
	}{
		"":                    {unsealed, false},
		"{}":                  {unsealed, true},
		`{"crc":"00000000"}`:  {unsealed, true},
		string(seal(nil, 0)):  {whole, true},
		`,"crc":"00000001"}`:  {broken, true},
		`,"crc":"00000000"|`:  {unsealed, true},
		`,"crc":"0000000"|`:   {unsealed, false},
		`{,"crc":"00000000"|`: {unsealed, true},
		"\x00}":               {unsealed, false},
		"{\x00}":              {unsealed, false},
	} {
		if got := sealingOf([]byte(line)); got != want.sealing {
			t.Errorf("sealingOf(%q) = %d, want %d", line, got, want.sealing)
		}
		if got := looksWhole([]byte(line)); got != want.written {
			t.Errorf("looksWhole(%q) = %t, want %t", line, got, want.written)
		}
	}
}

// TestTornGroups: what a power cut leaves has no end, or holes, and is cut off.
func TestTornGroups(t *testing.T) {
	_, log := noted(t)
	last := bytes.LastIndexByte(log[:len(log)-1], '\n') + 1
	for cut := last; cut < len(log); cut++ {
		hole := append(bytes.Clone(log[:cut]), bytes.Repeat([]byte{0}, len(log)-cut-1)...)
		for _, torn := range [][]byte{log[:cut], hole, append(bytes.Clone(hole), '\n')} {
			if end, err := scan(bytes.NewReader(torn), 0, ignore); (err != nil || end != int64(last)) && !bytes.Equal(torn, log) {
				t.Fatalf("scan() of a log torn at byte %d = %d, %v, want %d", cut, end, err, last)
			}
		}
	}
}

// TestStoredValuesAreWhole: a stored value that was damaged is found, and written anew
// if it comes again.
func TestStoredValuesAreWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l, err := Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	large := event.StepCompleted{Output: event.TextValue(strings.Repeat("large ", 10_000))}
	appendAll(t, l, submitted(), large)
	if err := l.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, BlobsDir, "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v, want one stored value", found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	data[100] ^= 1
	if err := os.WriteFile(found[0], data, 0o644); err != nil {
		t.Fatal(err)
	}
	stored := readAll(t, dir)[1].(event.StepCompleted).Output
	if _, err := Load(dir, stored); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("Load() = %v, want that the value is damaged", err)
	}
	appendAll(t, l, large)
	if _, err := Load(dir, stored); err != nil {
		t.Errorf("Load() after the same value was stored again = %v, want it whole", err)
	}
	watchSync(t, func(dir string) { t.Errorf("%s is synced again for a value that is there", dir) })
	appendAll(t, l, large)
}

// TestAValueThatCannotBeStored: its event is not taken.
func TestAValueThatCannotBeStored(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l, err := Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	value := event.TextValue(strings.Repeat("large ", 10_000))
	name := fmt.Sprintf("%x", sha256.Sum256(value.JSON))
	if err := os.MkdirAll(filepath.Join(dir, BlobsDir, name), 0o755); err != nil { // nothing can take its place
		t.Fatal(err)
	}
	err = l.Append(event.StepCompleted{Output: value})
	if w, ok := errors.AsType[*WriteError](err); !ok || w.Dir != dir {
		t.Errorf("Append() = %v, want a WriteError", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkScan reads lines as a long chain has them, with checksums and without.
func BenchmarkScan(b *testing.B) {
	for _, sealed := range []bool{false, true} {
		b.Run(fmt.Sprintf("sealed=%t", sealed), func(b *testing.B) {
			var log []byte
			e := step(123_456)
			e.Output = event.JSONValue([]byte(`{"move":[3,0,2],"next_state":[[20,19,18,17,16,15,14,13,12],[11,10,9,8,7,6,5,4],[3,2,1]]}`))
			e.Voting.Votes = map[string]int{`{"move":[3,0,2],"next_state":"0123456789abcdef0123456789abcdef"}`: 3}
			for i := range 1000 {
				from := len(log)
				log = e.AppendLine(log, event.Header{Seq: uint64(i), Run: "hanoi-20260102-030405-abcde"})
				if sealed {
					log = seal(log, from)
				}
				log = append(log, '\n')
			}
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				if _, err := scan(bytes.NewReader(log), 0, ignore); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
