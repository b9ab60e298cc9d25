package maker_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/runs"
)

// TestDamageThatIsJSONIsFound flips single bits of a log so that it stays JSON: the
// first line that is not what was written is named.
func TestDamageThatIsJSONIsFound(t *testing.T) {
	logDir := t.TempDir()
	e := newEngine(t, maker.Options{LogDir: logDir, Config: maker.Config{MaxCalls: 40, FullLog: true}})
	run := startHanoi(t, e, 4)
	mustResult(t, run)
	path := filepath.Join(run.Dir(), runlog.EventsFile)
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for at := 0; at < len(log); at += 97 {
		at := at + bytes.IndexAny(log[at:], "0123456789abc")
		flipped := bytes.Clone(log)
		flipped[at] ^= 1
		if err := os.WriteFile(path, flipped, 0o644); err != nil {
			t.Fatal(err)
		}
		line := int64(bytes.Count(log[:at], []byte("\n"))) + 1
		_, replayed := e.Replay(run.ID())
		_, resumed := e.Resume(t.Context(), run.ID(), nil)
		for name, err := range map[string]error{"Replay": replayed, "Resume": resumed} {
			if damage, ok := errors.AsType[*runlog.CorruptError](err); !ok || damage.Line != line {
				t.Errorf("%s() with a flipped bit at byte %d = %v, want damage at line %d", name, at, err, line)
			}
		}
		tried++
	}
	if err := os.WriteFile(path, log, 0o644); err != nil {
		t.Fatal(err)
	}
	wantReplay(t, e, run.ID())
	t.Logf("%d flipped bits", tried)
}

// TestDamagedStoredValuesAreFound: a replay reads what the log refers to.
func TestDamagedStoredValuesAreFound(t *testing.T) {
	logDir := t.TempDir()
	// Answers that ramble are stored beside the log, and discarded.
	e := newEngine(t, maker.Options{LogDir: logDir, Config: maker.Config{Model: "sim/default?p=1&overlong=0.5:20000&seed=1", FullLog: true, MaxOutput: 10_000}})
	run := startHanoi(t, e, 2)
	mustResult(t, run)
	wantReplay(t, e, run.ID())
	blobs, err := filepath.Glob(filepath.Join(run.Dir(), runlog.BlobsDir, "*"))
	if err != nil || len(blobs) == 0 {
		t.Fatalf("%v, %v, want stored values", blobs, err)
	}
	data, err := os.ReadFile(blobs[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(blobs[0], data, 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := e.Replay(run.ID())
	if err != nil || !strings.Contains(strings.Join(r.Differences, "\n"), "is damaged") {
		t.Errorf("Replay() = %+v, %v, want that a stored value is damaged", r, err)
	}
}

// TestADamagedIndexCostsNoResult: the index only saves time.
func TestADamagedIndexCostsNoResult(t *testing.T) {
	e := newEngine(t, maker.Options{})
	run := startHanoi(t, e, 4)
	mustResult(t, run)
	want, err := resultIn(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(run.Dir(), runlog.IndexFile)
	index, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(index); at += 7 {
		damaged := bytes.Clone(index)
		damaged[at] ^= 0xff
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := resultIn(run.Dir())
		if err != nil {
			t.Fatalf("Result() with byte %d of the index damaged = %v", at, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("Result() with byte %d of the index damaged: -want +got\n%s", at, diff)
		}
	}
}

func resultIn(dir string) (*runs.Result, error) {
	r, err := runs.Open(dir)
	if err != nil {
		return nil, err
	}
	return r.Result()
}
