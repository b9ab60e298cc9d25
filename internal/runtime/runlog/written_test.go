package runlog

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/usage"
)

// TestWhateverIsAppendedCanBeRead appends events with values that no honest run has:
// one that cannot be written is refused, and the log stays readable.
func TestWhateverIsAppendedCanBeRead(t *testing.T) {
	deep := json.RawMessage(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000))
	small := json.RawMessage(strings.Repeat("[", 5_001) + strings.Repeat("]", 5_001)) // less than is stored for its size
	infinite, nan := math.Inf(1), math.NaN()
	dir := filepath.Join(t.TempDir(), "run")
	l, err := Create(dir, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, submitted())
	taken := 1
	for _, e := range []event.Event{
		event.StepCompleted{Output: event.JSONValue(deep), CostUSD: &infinite, Spent: usage.Spent{USD: infinite}},
		event.StepCompleted{Output: event.JSONValue(small), CostUSD: &nan, DurationMS: math.MinInt64},
		event.StepCompleted{Output: event.JSONValue(json.RawMessage(`{"not":`))},
		event.VoteCompleted{Answer: event.JSONValue(deep)},
		event.VoteCompleted{Answer: event.JSONValue(small)},
		event.VoteCompleted{CostUSD: &infinite},
		event.VoteCompleted{Candidates: []event.Candidate{{Answer: deep}}},
		event.SampleFaulted{Message: strings.Repeat("x", maxLine)},
		event.Unknown{Line: json.RawMessage("not an event")},
		event.BudgetClaimed{USD: nan},
		event.StepStarted{Title: "\xff\n\u2028"},
	} {
		if err := l.Append(e); err == nil {
			taken++
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	events := readAll(t, dir)
	if len(events) != taken {
		t.Errorf("%d events can be read, want the %d that were taken", len(events), taken)
	}
	for i, e := range events {
		_, err := event.WithValues(e, func(v event.Value) (event.Value, error) {
			loaded, err := Load(dir, v)
			if v.Ref != nil && !bytes.Equal(loaded.JSON, deep) && !bytes.Equal(loaded.JSON, small) {
				t.Errorf("event %d: a stored value came back as %.40s", i, loaded.JSON)
			}
			return loaded, err
		})
		if err != nil {
			t.Errorf("event %d: %v", i, err)
		}
	}
	l, _, err = Open(dir, nil, ignore)
	if err != nil {
		t.Fatalf("Open() = %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
