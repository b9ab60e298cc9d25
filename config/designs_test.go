package config

import (
	"testing"

	"github.com/maker-mdap/maker/redflag"
)

// TestDefaultsOfTheDesigns: what the first designs call a setting is known, and its
// default is theirs, or the one that docs/design/requirements.md gives the reason for.
func TestDefaultsOfTheDesigns(t *testing.T) {
	for _, test := range []struct {
		name, design string // as the design has it
		kind         Kinds
		want         string // the same if empty
	}{
		{"model", "claude-sonnet-4-5", Run, "anthropic/claude-sonnet-4-5"},
		{"voting_strategy", "none", Run, ""},
		{"voting_n", "3", Run, ""},
		{"voting_k", "2", Run, ""},
		{"max_voting_samples", "10", Run, ""},
		{"step_max_retries", "2", Run, ""},
		{"enable_quality_checks", "false", Run, ""},
		{"max_planner_retries", "2", Run, ""},
		{"allowed_builtin_tools", "", Run, ""},

		{"batch_size", "4", Solving, ""},
		{"ahead_by", "2", Solving, ""},
		{"max_depth", "6", Solving, ""},
		{"max_total_tokens", "50000", Solving, ""},
		{"timeout_seconds", "1m0s", Solving, ""},
		{"timeout_total", "10m0s", Solving, ""},
		{"calibrate", "false", Solving, ""},
		{"structured_mode", "json_schema", Solving, "auto"},
		{"temperature_first_vote", "0", Solving, ""},
		{"temperature_subsequent", "0.1", Solving, "0.7"},
		{"temperature_subsequent", "0.1", Chain, ""},
		{"max_solution_tokens", "750", Solving, ""},
		{"samples_per_problem", "5", Solving, ""},
		{"target_error_rate", "0.01", Solving, ""},
		{"max_k", "5", Solving, ""},
		{"max_samples", "20", Solving, ""}, // five rounds of four
	} {
		s := Find(test.name)
		if s == nil {
			t.Errorf("there is no setting %s", test.name)
			continue
		}
		want := test.want
		if want == "" {
			want = test.design
		}
		if got := s.DefaultFor(test.kind); got != want || s.For&test.kind == 0 {
			t.Errorf("%s is %q, want %q", test.name, got, want)
		}
	}
	for _, name := range []string{"model", "model_reasoning", "model_execution", "voting_k", "max_rounds", "domain"} {
		if s := Find(name); s == nil || s.For&Solving == 0 {
			t.Errorf("maker solve has no setting %s", name)
		}
	}
	if MaxFacts != 5 || redflag.DefaultConfidence != 0.3 || redflag.DefaultTimes != 3 {
		t.Errorf("%d facts, a confidence of %v, %d repetitions, want 5, 0.3 and 3", MaxFacts, redflag.DefaultConfidence, redflag.DefaultTimes)
	}
}
