package hanoi

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// TestSchema holds the schema against right answers, all of which it takes, and wrong ones,
// none of which it takes.
func TestSchema(t *testing.T) {
	for _, disks := range []int{1, 3, 20, MaxDisks} {
		var s jsonschema.Schema
		if err := json.Unmarshal(schema(disks), &s); err != nil {
			t.Fatal(err)
		}
		resolved, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		check := func(answer string) error {
			var value any
			if err := json.Unmarshal([]byte(answer), &value); err != nil {
				t.Fatal(err)
			}
			return resolved.Validate(value)
		}
		for step := range min(Steps(disks), 100) {
			if right := string(appendSolution(nil, disks, step)); check(right) != nil {
				t.Errorf("%d disks: the schema does not take %s: %v", disks, right, check(right))
			}
		}
		const state = `[[1],[],[]]`
		for _, wrong := range []string{
			`{"move":[1,0,1]}`,
			`{"move":[1,0],"next_state":` + state + `}`,
			`{"move":[1,0,1,2],"next_state":` + state + `}`,
			`{"move":[1,0,3],"next_state":` + state + `}`,
			`{"move":[1,-1,2],"next_state":` + state + `}`,
			`{"move":[0,0,2],"next_state":` + state + `}`,
			fmt.Sprintf(`{"move":[%d,0,2],"next_state":%s}`, disks+1, state),
			`{"move":["1",0,2],"next_state":` + state + `}`,
			`{"move":[1,0,2],"next_state":[[1],[]]}`,
			`{"move":[1,0,2],"next_state":[[1],[],[],[]]}`,
			fmt.Sprintf(`{"move":[1,0,2],"next_state":[[%d],[],[]]}`, disks+1),
			`{"move":[1,0,2],"next_state":[[0],[],[]]}`,
			`{"move":[1,0,2],"next_state":` + state + `,"why":"because"}`,
		} {
			if check(wrong) == nil {
				t.Errorf("%d disks: the schema takes %s", disks, wrong)
			}
		}
	}
}
