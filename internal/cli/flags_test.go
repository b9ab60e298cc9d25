package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// parse gives the flags of a chain the arguments.
func parse(args ...string) (*settings, error) {
	s, cmd := &settings{}, &cobra.Command{}
	s.register(cmd, config.Chain, nil)
	s.initially("model", "sim/default")
	cmd.Flags().SetOutput(io.Discard)
	return s, cmd.Flags().Parse(args)
}

func TestFlagBounds(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"ahead-by", "0", "want at least 1"},
		{"ahead-by", "-3", "want at least 1"},
		{"ahead-by", "x", "want a number such as 3"},
		{"ahead-by", "1.5", "want a number such as 3"},
		{"ahead-by", "", "want a number such as 3"},
		{"ahead-by", "9223372036854775808", "want a number such as 3"},
		{"max-samples", "-1", "want at least 0"},
		{"batch-size", "0", "want at least 1"},
		{"spare", "-1", "want at least 0"},
		{"first-temperature", "-0.1", "want at least 0"},
		{"first-temperature", "NaN", "want a number"},
		{"temperature", "warm", "want a number such as 0.1"},
		{"max-output", "0", "want at least 1"},
		{"max-calls", "-1", "want at least 0"},
		{"max-tokens", "-1", "want at least 0"},
		{"max-usd", "-0.01", "want at least 0"},
		{"max-usd", "NaN", "want a number"},
		{"max-usd", "$5", "want a number such as 0"},
		{"deadline", "-1s", "want at least 0s"},
		{"deadline", "soon", "want a duration such as"},
		{"call-timeout", "0s", "want at least 1ms"},
		{"max-faults", "0", "want at least 1"},
		{"retry-attempts", "0", "want at least 1"},
		{"retry-delay", "0s", "want at least 1ns"},
		{"log", "some", "compact or full"},
		{"structured-mode", "xml", "json_schema or json_object"},
	}
	for _, test := range tests {
		_, err := parse("--" + test.name + "=" + test.value)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "--"+test.name) {
			t.Errorf("--%s=%s: %v, want --%s and %q", test.name, test.value, err, test.name, test.want)
		}
	}
}

// TestFlagLimits has the smallest values that are allowed, and large ones.
func TestFlagLimits(t *testing.T) {
	for _, args := range [][]string{
		{"--ahead-by=1", "--batch-size=1", "--spare=0", "--max-output=1", "--max-faults=1", "--retry-attempts=1"},
		{"--call-timeout=1ms", "--retry-delay=1us", "--deadline=0s", "--temperature=0", "--log=full"},
		{"--max-calls=9223372036854775807", "--max-usd=1e9", "--deadline=1000h"},
	} {
		if _, err := parse(args...); err != nil {
			t.Errorf("%q: %v, want nil", args, err)
		}
	}
}

func TestFlagDefaultsAreThoseOfTheEngine(t *testing.T) {
	e, err := parse()
	if err != nil {
		t.Fatal(err)
	}
	o, err := e.options(&app{logDir: "runs"})
	if err != nil {
		t.Fatal(err)
	}
	zero, temperature, extra := 0.0, config.DefaultTemperature, 0.1
	flags := redflag.Format()
	flags.ExcessiveLength.MaxTokens = config.DefaultMaxOutput
	want := &maker.Options{LogDir: "runs", Config: maker.Config{
		Model: "sim/default", Voting: vote.Rule{Strategy: vote.FirstToK, K: 3}, TargetError: .05, OnFutile: "stop", BatchSize: 64, Speculate: "auto", Extra: &extra, SamplesPerCall: 1, StructuredMode: "auto",
		FirstTemperature: &zero, Temperature: &temperature, MaxOutput: config.DefaultMaxOutput, Flags: &flags,
		MaxFaults: 20, RetryAttempts: 6, RetryDelay: 500 * time.Millisecond, CallTimeout: time.Minute,
	}}
	if _, known := o.Prices.Lookup(config.DefaultModel); !known {
		t.Errorf("options without flags: no price of %s", config.DefaultModel)
	}
	o.Logger, o.Prices = nil, nil // writes to stderr, whatever the flags; the built-in table
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("options without flags: -want +got\n%s", diff)
	}
}

func TestFlagOptions(t *testing.T) {
	prices := filepath.Join(t.TempDir(), "prices.yaml")
	if err := os.WriteFile(prices, []byte("compat/mine: {input: 1, output: 2}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e, err := parse("--model=compat/mine", "--base-url=http://127.0.0.1:1/v1", "-k", "5", "--log=full", "--first-temperature=0.3",
		"--temperature=0.7", "--deadline=2m", "--max-usd=1.5", "--record=out", "--replay=in", "--prices="+prices)
	if err != nil {
		t.Fatal(err)
	}
	o, err := e.options(&app{logDir: "elsewhere"})
	if err != nil {
		t.Fatal(err)
	}
	c := o.Config
	if c.Model != "compat/mine" || c.BaseURL != "http://127.0.0.1:1/v1" || c.Voting.K != 5 || !c.FullLog || *c.FirstTemperature != 0.3 ||
		*c.Temperature != 0.7 || c.Deadline != 2*time.Minute || c.MaxUSD != 1.5 {
		t.Errorf("options = %+v, want what the flags say", c)
	}
	if o.LogDir != "elsewhere" || o.Record != "out" || o.Config.ReplayFrom != "in" {
		t.Errorf("options = %q, %q, %q, want elsewhere, out, in", o.LogDir, o.Record, o.Config.ReplayFrom)
	}
	if _, ok := o.Prices.Lookup("compat/mine"); !ok {
		t.Error("options: the price of compat/mine is not known, want that of --prices")
	}

	for field, arg := range map[string]string{"prices": "--prices=no/such/file", "red_flags": "--red-flags=no/such/file"} {
		e, err := parse(arg)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.options(&app{})
		if bad, ok := errors.AsType[*maker.ConfigError](err); !ok || bad.Field != field || exitCode(err) != exitUsage {
			t.Errorf("options(%s) = %v, want a ConfigError about %s", arg, err, field)
		}
	}
}

// TestChangeKnowsEveryFlag sets one flag after the other, as for a run that is
// resumed, and looks whether it changes the configuration of the run.
func TestChangeKnowsEveryFlag(t *testing.T) {
	notOfTheRun := []string{"prices", "record", "replay"}
	odd := map[string]string{"model": "sim/default?p=1", "base-url": "http://127.0.0.1:1", "log": "full", "voting": "adaptive", "on-futile": "warn", "target-error": "0.2", "red-flags": "strict", "speculate": "off", "extra": "0.5", "structured-mode": "json_object", "first-temperature": "0.7", "temperature": "0.7"}
	all, _ := parse()
	all.flags.VisitAll(func(f *pflag.Flag) {
		if slices.Contains(notOfTheRun, f.Name) {
			return
		}
		value := odd[f.Name]
		if value == "" {
			value = "77"
			if f.Value.Type() == "duration" {
				value = "77s"
			}
		}
		e, err := parse("--" + f.Name + "=" + value)
		if err != nil {
			t.Fatal(err)
		}
		flags := redflag.Strict()
		var c maker.Config
		if e.change(&c, &maker.Options{Config: maker.Config{Flags: &flags}}); cmp.Equal(c, maker.Config{}) {
			t.Errorf("change(--%s=%s) changes nothing", f.Name, value)
		}
	})
}

func TestChangeLeavesTheRest(t *testing.T) {
	e, err := parse("--max-usd=20", "--temperature=0")
	if err != nil {
		t.Fatal(err)
	}
	warm, zero := 0.9, 0.0
	flags := redflag.Format()
	got := maker.Config{
		Model: "openai/m", BaseURL: "b", Voting: vote.Rule{Strategy: vote.Majority, N: 5, MaxSamples: 9}, BatchSize: 7, Spare: 6,
		FirstTemperature: &warm, Temperature: &warm, MaxOutput: 5, Flags: &flags, MaxFaults: 4, RetryAttempts: 3, RetryDelay: 2,
		CallTimeout: 1, MaxCalls: 11, MaxTokens: 12, MaxUSD: 13, Deadline: 14, FullLog: true,
	}
	want := got
	want.MaxUSD, want.Temperature = 20, &zero
	e.change(&got, nil)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("change(--max-usd=20 --temperature=0): -want +got\n%s", diff)
	}
}
