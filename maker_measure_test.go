package maker_test

import (
	"fmt"
	"testing"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/reader"
)

// TestProgressOfAMeasurement: its progress is how many of its samples were taken, also of
// those before a resume.
func TestProgressOfAMeasurement(t *testing.T) {
	engine, err := maker.New(&maker.Options{Config: maker.Config{Model: "sim/default?p=1", MaxCalls: 30}, LogDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	var items []maker.Item
	for i := range 10 {
		items = append(items, maker.Item{Question: fmt.Sprintf("Compute: %d + 1", 1000+i), Answer: 1001 + i})
	}
	run, err := engine.CalibrateItems(t.Context(), "", items, reader.Number{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := run.Result()
	if err != nil || result.Stop != "max_calls" {
		t.Fatalf("calibration: %v, %+v, want it stopped", err, result)
	}
	stopped := run.Progress()
	if stopped.Steps != 30 || stopped.Session != 30 || stopped.Total <= 30 {
		t.Errorf("after 30 samples: %d of %d, %d of this session", stopped.Steps, stopped.Total, stopped.Session)
	}
	run, err = engine.Resume(t.Context(), run.ID(), &maker.ResumeOptions{Change: func(c *maker.Config) { c.MaxCalls = 0 }})
	if err != nil {
		t.Fatal(err)
	}
	if result, err = run.Result(); err != nil || result.Status != event.StatusCompleted {
		t.Fatalf("resumed: %v, %+v", err, result)
	}
	if p := run.Progress(); p.Total != stopped.Total || p.Steps != p.Total || p.Session != p.Total-30 {
		t.Errorf("at the end: %d of %d samples, %d of this session; want all of %d, 30 of them before", p.Steps, p.Total, p.Session, stopped.Total)
	}
}
