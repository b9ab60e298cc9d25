package event_test

import (
	"testing"

	"github.com/maker-mdap/maker/event"
)

func TestKinds(t *testing.T) {
	for kind, solving := range map[string]bool{
		event.KindRun: false, event.KindPlan: false, event.KindExec: false, event.KindValidate: false, event.KindDo: false,
		event.KindSolve: true, event.KindCalibrate: true,
	} {
		if !event.IsBuiltin(kind) || event.IsSolving(kind) != solving {
			t.Errorf("IsBuiltin(%s), IsSolving(%[1]s) = %t, %t, want true, %t", kind, event.IsBuiltin(kind), event.IsSolving(kind), solving)
		}
	}
	for _, family := range []string{"hanoi", "counting", "Run", ""} {
		if event.IsBuiltin(family) || event.IsSolving(family) {
			t.Errorf("IsBuiltin(%q) = true, want a family", family)
		}
	}
}
