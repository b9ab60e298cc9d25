package event_test

import (
	"encoding/json"
	"testing"

	"github.com/maker-mdap/maker/event"
)

// TestFormOfEarlyLogs: a log that does not say its form has that of its kind.
func TestFormOfEarlyLogs(t *testing.T) {
	for line, want := range map[string]event.Form{
		`{"kind":"run"}`:                    event.FormPlan,
		`{"kind":"plan"}`:                   event.FormPlan,
		`{"kind":"exec"}`:                   event.FormPlan,
		`{"kind":"validate"}`:               event.FormPlan,
		`{"kind":"do"}`:                     event.FormTasks,
		`{"kind":"solve"}`:                  event.FormTree,
		`{"kind":"calibrate"}`:              event.FormMeasurement,
		`{"kind":"hanoi"}`:                  event.FormChain,
		`{"kind":"Run"}`:                    event.FormChain,
		`{}`:                                event.FormChain,
		`{"kind":"survey","form":"plan"}`:   event.FormPlan,
		`{"kind":"script","form":"script"}`: event.FormScript,
		`{"kind":"run","form":"chain"}`:     event.FormChain,
		`{"kind":"x","form":"from later"}`:  "from later",
	} {
		var got event.TaskSubmitted
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.Form != want {
			t.Errorf("the form of %s is %q, %v, want %q", line, got.Form, err, want)
		}
	}
}
