package nearest

import (
	"strings"
	"testing"
)

func TestTo(t *testing.T) {
	for _, test := range []struct {
		names string
		want  map[string]string
	}{
		{"ahead_by max_usd temperature model sandbox quality_threshold max_samples", map[string]string{
			"ahed_by": "ahead_by", "aheadby": "ahead_by", "maxusd": "max_usd", "temprature": "temperature", "modle": "model",
			"sandobx": "sandbox", "threshold": "quality_threshold", "colour": "", "x": "", "": "",
		}},
		{"step task_type title task_description primary_tools output_schema next_step_sequence_number timeout voting", map[string]string{
			"primary_tool": "primary_tools", "PrimaryTools": "primary_tools", "primary-tools": "primary_tools", "Task Type": "task_type",
			"tittle": "title", "next": "next_step_sequence_number", "description": "task_description", "schema": "output_schema",
			"setp": "step", "timeOut": "timeout", "id": "", "k": "", "priority": "", "xyzzy": "", "": "",
			strings.Repeat("x", 1000): "", "日本語": "",
		}},
	} {
		for name, want := range test.want {
			if got := To(name, strings.Fields(test.names)); got != want {
				t.Errorf("To(%q, %s) = %q, want %q", name, test.names, got, want)
			}
		}
	}
}

func TestAmong(t *testing.T) {
	names := []string{"Read", "Write"}
	for name, want := range map[string]string{"Raed": "did you mean Read? There are Read, Write", "Sleep": "there are Read, Write"} {
		if got := Among(name, names); got != want {
			t.Errorf("Among(%s) = %s, want %s", name, got, want)
		}
	}
}
