package config

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/vote"
	"github.com/maker-mdap/maker/vote/adaptive"
)

var update = flag.Bool("update", false, "write docs/settings.md anew")

// every is each kind of run.
var every = []Kinds{Chain, Run, PlanOnly, Exec, Validate, Do, Solving, Measuring, Asking, Items, Mapping, Scripting, Sessions}

func TestSettingsAreSound(t *testing.T) {
	names, letters := map[string]bool{}, map[string]bool{}
	for _, s := range Settings() {
		for _, name := range append([]string{s.Name}, s.Aliases...) {
			if names[name] || name != strings.ToLower(name) || strings.Contains(name, "-") {
				t.Errorf("the name %q is there twice, or not in small letters with underscores", name)
			}
			names[name] = true
			if Find(name) != s || Find(flagName(name)) != s {
				t.Errorf("Find(%q) is another setting", name)
			}
		}
		if s.Letter != "" && letters[s.Letter] {
			t.Errorf("%s: the letter %s is there twice", s.Name, s.Letter)
		}
		letters[s.Letter] = true
		if s.For == 0 || s.Help == "" || s.Group == "" {
			t.Errorf("%s is for nothing, or says nothing about itself", s.Name)
		}
		for _, needs := range s.Needs {
			name, want, _ := strings.Cut(needs, " ")
			other := Find(name)
			if other == nil || len(other.Choices) > 0 && !slices.Contains(other.Choices, want) {
				t.Errorf("%s needs %q, which there is not", s.Name, needs)
			}
		}
		for _, k := range every {
			text := s.DefaultFor(k)
			if text == "" || s.field == nil {
				continue
			}
			var c Config
			v := s.Value(&c)
			if err := v.Set(text); err != nil || v.String() != text {
				t.Errorf("%s: Set(%q) = %v and String() = %q, want the default to be a value", s.Name, text, err, v)
			}
		}
	}
}

// TestDefaultsAreFine: a configuration that says nothing but the model can be used for
// each kind of run, and completing it again changes nothing.
func TestDefaultsAreFine(t *testing.T) {
	for _, k := range every {
		c := Config{Model: "sim/default"}.WithDefaults(k)
		if err := c.Check(k); err != nil {
			t.Errorf("Check(%b) of the defaults = %v, want nil", k, err)
		}
		if diff := cmp.Diff(c, c.WithDefaults(k)); diff != "" {
			t.Errorf("WithDefaults(%b) again: -once +twice\n%s", k, diff)
		}
	}
	if err := (Config{}).CheckGiven(); err != nil {
		t.Errorf("CheckGiven() of nothing = %v, want nil", err)
	}
}

// TestEveryFieldHasASetting: what is in a configuration has a description, but for what
// a setting that is kept elsewhere comes to.
func TestEveryFieldHasASetting(t *testing.T) {
	other := []string{"Flags", "Prompts", "Plan.Voting", "Plan.MaxReplans", "Plan.Confirm", "Outline.OnFailure", "Outline.ContextBudget", "Warm", "Voting.Target", "Solve.Calibration.Target", "Solve.EscalationPrice"}
	described := map[uintptr]bool{}
	var c Config
	for _, s := range Settings() {
		if s.field == nil {
			continue
		}
		described[reflect.ValueOf(s.in(&c).at).Pointer()] = true
	}
	var visit func(v reflect.Value, path string)
	visit = func(v reflect.Value, path string) {
		for i := range v.NumField() {
			name := strings.TrimPrefix(path+"."+v.Type().Field(i).Name, ".")
			f := v.Field(i)
			switch {
			case slices.Contains(other, name):
			case f.Kind() == reflect.Struct:
				visit(f, name)
			case !described[f.Addr().Pointer()]:
				t.Errorf("Config.%s has no setting", name)
			}
		}
	}
	visit(reflect.ValueOf(&c).Elem(), "")
}

func TestValues(t *testing.T) {
	tests := []struct{ name, text, want, wrong string }{
		{"ahead_by", "5", "5", ""},
		{"ahead_by", "0", "", "want at least 1"},
		{"ahead_by", "100000", "", "want at most 10000"},
		{"ahead_by", "five", "", "want a number"},
		{"max_calls", "9223372036854775807", "9223372036854775807", ""},
		{"max_calls", "9223372036854775808", "", "want a number"},
		{"max_usd", "0.5", "0.5", ""},
		{"max_usd", "Inf", "", "want a number"},
		{"temperature", "2.5", "", "want at most 2"},
		{"deadline", "90", "1m30s", ""},
		{"deadline", "0.25", "250ms", ""},
		{"deadline", "2h", "2h0m0s", ""},
		{"deadline", "-1s", "", "want at least 0s"},
		{"deadline", "tomorrow", "", "want a duration"},
		{"max_planner_retries", "0", "0", ""},
		{"max_planner_retries", "-1", "", "want at least 0"},
		{"quality_threshold", "0", "0", ""},
		{"quality_threshold", "1.5", "", "want at most 1"},
		{"sandbox", "off", "off", ""},
		{"sandbox", "on", "", "want auto, strict or off"},
		{"structured_mode", "none", "none", ""},
		{"structured_mode", "auto", "auto", ""},
		{"log", "full", "full", ""},
		{"direct", "false", "false", ""},
		{"direct", "maybe", "", "want true or false"},
		{"sympy", "true", "true", ""},
		{"voters", "a, b ,", "a,b", ""},
		{"allow", "Bash(a, b)", "Bash(a, b)", ""},
		{"escalate", "none", "", ""},
		{"base_url", "http://x", "http://x", ""},
	}
	for _, test := range tests {
		c := Config{}.WithDefaults(Solving)
		v := Find(test.name).Value(&c)
		was := v.String()
		err := v.Set(test.text)
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) || v.String() != was {
				t.Errorf("%s: Set(%q) = %v, %q, want %q and %q as before", test.name, test.text, err, v, test.wrong, was)
			}
			continue
		}
		if err != nil || v.String() != test.want {
			t.Errorf("%s: Set(%q) = %v, %q, want %q", test.name, test.text, err, v, test.want)
		}
		var to Config
		if Find(test.name).Copy(&to, &c); Find(test.name).Value(&to).String() != test.want {
			t.Errorf("%s: Copy() = %q, want %q", test.name, Find(test.name).Value(&to), test.want)
		}
	}
	c := Config{Plan: Plan{MaxRetries: 2}, Solve: Solve{Escalate: []string{"split"}}}
	_ = Find("max_planner_retries").Value(&c).Set("0")
	list := Find("escalate").Value(&c)
	_, _ = list.Set("model"), list.Set("person")
	if c.Plan.MaxRetries != -1 || !slices.Equal(c.Solve.Escalate, []string{"model", "person"}) {
		t.Errorf("retries are kept as %d, want -1; the list is %q, want what was set", c.Plan.MaxRetries, c.Solve.Escalate)
	}
}

func TestSolvingHasNoLimitsOfItsOwn(t *testing.T) {
	c := Config{Model: "sim/default"}.WithDefaults(Solving)
	if c.MaxTokens != 0 || c.Deadline != 0 || c.CallTimeout != time.Minute || c.Voting.MaxSamples != 20 {
		t.Errorf("the limits are %d tokens, %s, %s, %d samples, want none but for a call and a race", c.MaxTokens, c.Deadline, c.CallTimeout, c.Voting.MaxSamples)
	}
}

// TestTable keeps docs/settings.md as the descriptions have it.
func TestTable(t *testing.T) {
	const file = "../docs/settings.md"
	want := table()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is not as the settings are; run go test ./config -update: -want +got\n%s", file, diff)
	}
}

// kindNames are the commands that start a kind of run.
var kindNames = map[Kinds]string{
	Chain: "hanoi", Run: "run", PlanOnly: "plan", Exec: "exec", Validate: "validate", Do: "do", Solving: "solve", Measuring: "calibrate", Asking: "ask", Items: "calibrate --items", Mapping: "map", Scripting: "script", Sessions: "session",
}

func table() string {
	var b strings.Builder
	b.WriteString(`# Settings

Each setting is a flag (` + "`--ahead-by 3`" + `), a variable (` + "`MAKER_AHEAD_BY=3`" + `) and a key of
` + "`maker.yaml`" + ` (` + "`ahead_by: 3`" + `). [Configuration](configuration.md) says which of them counts.
Durations are like 90s or 5m; a number without a unit is seconds. A name that does not
exist is an error that says which one was meant.

Settings marked * take effect in a folder's ` + "`maker.yaml`" + ` only once you have trusted it; see
[safety](safety.md). Commands that are not listed for a setting do not have it;
"agents" stands for run, plan, exec, validate, do and script. A session answers the requests
of other programs.
`)
	group := ""
	for _, s := range Settings() {
		if s.Group != group {
			group = s.Group
			fmt.Fprintf(&b, "\n## %s\n\n| setting | default | for | |\n|---|---|---|---|\n", group)
		}
		name := "`" + s.Name + "`"
		if s.Letter != "" {
			name += ", `-" + s.Letter + "`"
		}
		if s.NeedsTrust {
			name += " *"
		}
		help := s.Help
		if len(s.Aliases) > 0 {
			help += "; older names: `" + strings.Join(s.Aliases, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, describeDefault(s), describeKinds(s.For), strings.ReplaceAll(help, "|", "\\|"))
	}
	return b.String()
}

// describeDefault lists the defaults of a setting.
func describeDefault(s *Setting) string {
	var parts []string
	if s.Default != "" {
		parts = append(parts, "`"+s.Default+"`")
	}
	for kinds, text := range s.Defaults {
		if kinds &= s.For; kinds != 0 {
			parts = append(parts, fmt.Sprintf("%s: `%s`", describeKinds(kinds), text))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

func describeKinds(kinds Kinds) string {
	switch kinds {
	case All:
		return "all"
	case Agents:
		return "agents"
	case All &^ Chain:
		return "all but hanoi"
	case All &^ (Chain | Sessions):
		return "all but hanoi and session"
	}
	var names []string
	for _, k := range every {
		if kinds&k != 0 {
			names = append(names, kindNames[k])
		}
	}
	return strings.Join(names, ", ")
}

func TestCheckRefuses(t *testing.T) {
	for _, test := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Solve.MaxDepth = -1 }, "max_depth"},
		{func(c *Config) { c.Solve.Facts = make([]string, MaxFacts+1) }, "6 facts, want at most 5"},
		{func(c *Config) { c.Solve.Escalate = []string{"hope"} }, `"hope", want`},
		{func(c *Config) { c.Solve.Escalate = []string{"model", "split", "model"} }, `"model" is there twice`},
	} {
		c := Config{}.WithDefaults(Solving)
		test.change(&c)
		if err := c.Check(Solving); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Check() = %v, want an error with %s", err, test.want)
		}
	}
}

// TestMinSamples: the solver decides nothing on fewer than three votes, unless one vote is
// all that was asked for, or a rule is given as a whole.
func TestMinSamples(t *testing.T) {
	for _, test := range []struct {
		kind  Kinds
		rule  vote.Rule
		least int
	}{
		{Solving, vote.Rule{}, 3},
		{Solving, vote.Rule{K: 5}, 3},
		{Solving, vote.Rule{K: 1}, 0},
		{Solving, vote.Rule{K: 2, MaxSamples: 2}, 2},
		{Solving, vote.Rule{K: 2, MinVotes: 1}, 1},
		{Solving, vote.Rule{K: 2, MinVotes: 6}, 6},
		{Solving, FirstToK(2), 0},
		{Solving, vote.Rule{Strategy: vote.None}, 0},
		{Run, vote.Rule{}, 0},
		{Asking, vote.Rule{}, 0},
	} {
		c := Config{Model: "sim/default", Voting: test.rule}.WithDefaults(test.kind)
		if err := c.Check(test.kind); err != nil || c.Voting.MinVotes != test.least {
			t.Errorf("%+v has %d votes at least, %v, want %d", test.rule, c.Voting.MinVotes, err, test.least)
		}
	}
	c := Config{Model: "sim/default", Voting: vote.Rule{MinVotes: 21}}.WithDefaults(Solving)
	if err := c.Check(Solving); err == nil || !strings.Contains(err.Error(), "min_samples") {
		t.Errorf("Check() with 21 votes at least of 20 samples = %v, want an error about min_samples", err)
	}
}

// TestTargetOfARun: an adaptive rule aims at the same error in every kind of run; a
// calibration aims at an error of one vote.
func TestTargetOfARun(t *testing.T) {
	for _, k := range []Kinds{Chain, Run, Exec, Do, Solving, Asking} {
		c := Config{Voting: vote.Rule{Strategy: vote.Adaptive}}.WithDefaults(k)
		if c.Voting.Target != adaptive.DefaultTarget {
			t.Errorf("kind %d: the target of an adaptive rule is %v, want %v", k, c.Voting.Target, adaptive.DefaultTarget)
		}
		if c := (Config{TargetError: .2, Voting: vote.Rule{Strategy: vote.Adaptive}}).WithDefaults(k); c.Voting.Target != .2 {
			t.Errorf("kind %d: the target is %v, want that which is given", k, c.Voting.Target)
		}
	}
	if c := (Config{}).WithDefaults(Measuring); c.Solve.Calibration.Target != .01 {
		t.Errorf("a calibration aims at %v, want .01", c.Solve.Calibration.Target)
	}
}

// TestSecondPool: names are separated by commas, and kinds of run without a second pool
// have none.
func TestSecondPool(t *testing.T) {
	c := Config{Solve: Solve{ModelEscalation: " a/b , c/d,", EscalationPrice: 2, MaxDepth: 3}}
	for _, k := range []Kinds{Chain, Asking, Run, Exec, Do, Solving} {
		s := c.WithDefaults(k).Solve
		if got := s.SecondPool(); !slices.Equal(got, []string{"a/b", "c/d"}) || s.EscalationPrice != 2 {
			t.Errorf("kind %d: the second pool is %q at %v", k, got, s.EscalationPrice)
		}
	}
	if s := c.WithDefaults(PlanOnly).Solve; s.ModelEscalation != "" || s.MaxDepth != 0 {
		t.Errorf("a run that only plans has %+v", s)
	}
}
