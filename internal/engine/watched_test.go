package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/runs"
)

// TestAddModel: a model that plays several roles is one model.
func TestAddModel(t *testing.T) {
	var list []runs.ServerModel
	for _, m := range []runs.ServerModel{{Name: "a", InFlight: 2}, {Name: "b"}, {Name: "a", InFlight: 1, LastError: "503"}, {Name: "a", LastError: "429"}} {
		list = addModel(list, m)
	}
	if diff := cmp.Diff([]runs.ServerModel{{Name: "a", InFlight: 3, LastError: "503"}, {Name: "b"}}, list); diff != "" {
		t.Errorf("addModel: -want +got\n%s", diff)
	}
}
