package cli

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/vote"
)

// TestSolveFlags: what the flags of solve come to.
func TestSolveFlags(t *testing.T) {
	options := func(args ...string) maker.Config {
		t.Helper()
		var s settings
		cmd := &cobra.Command{}
		cmd.Flags().SetNormalizeFunc(oldNames)
		s.register(cmd, config.Solving, nil)
		if err := cmd.Flags().Parse(args); err != nil {
			t.Fatal(err)
		}
		o, err := s.options(&app{Streams: Streams{In: strings.NewReader(""), Err: io.Discard}})
		if err != nil {
			t.Fatal(err)
		}
		return o.Config.WithDefaults(config.Solving)
	}
	c := options()
	if want := (vote.Rule{Strategy: vote.FirstToK, K: 2, MinVotes: 3, MaxSamples: 20}); c.Voting != want || c.BatchSize != 4 {
		t.Errorf("the rule is %+v with batches of %d, want %+v and 4", c.Voting, c.BatchSize, want)
	}
	if c.MaxTokens != 50_000 || c.CallTimeout != time.Minute || c.Deadline != 10*time.Minute || c.Solve.MaxDepth != 6 || c.Solve.NoDirect {
		t.Errorf("the limits are %d tokens, %s, %s, depth %d", c.MaxTokens, c.CallTimeout, c.Deadline, c.Solve.MaxDepth)
	}
	l := c.Flags.ExcessiveLength
	if !l.On || l.MaxTokens != 750 || l.MaxChars != 3000 || !c.Flags.LowConfidence.On || !c.Flags.Repetition.On {
		t.Errorf("the red flags are %+v, want those of solving", c.Flags)
	}
	if slices.Contains(c.Solve.Escalate, "person") {
		t.Errorf("escalate is %q, want nobody to be asked without a terminal", c.Solve.Escalate)
	}
	for _, test := range []struct {
		args   []string
		target float64
		tokens int64
	}{
		{[]string{"--voting", "adaptive"}, .05, 200_000},
		{[]string{"--voting", "adaptive", "--target-error", "0.01", "--max-tokens", "50000"}, .01, 50_000},
	} {
		if c := options(test.args...); c.Voting.Target != test.target || c.MaxTokens != test.tokens {
			t.Errorf("%q: a target of %v with %d tokens, want %v and %d", test.args, c.Voting.Target, c.MaxTokens, test.target, test.tokens)
		}
	}
	c = options("--batch-size", "3", "--max-rounds", "2", "-k", "9", "--timeout-total", "0.5",
		"--timeout-seconds", "0.25", "--max-total-tokens", "0", "--direct=false", "--escalate", "person", "--max-output", "100")
	if c.Voting.K != 9 || c.Voting.MaxSamples != 9 || c.Deadline != 500*time.Millisecond || c.CallTimeout != 250*time.Millisecond ||
		c.MaxTokens != 0 || !c.Solve.NoDirect || !slices.Equal(c.Solve.Escalate, []string{"person"}) || c.Flags.ExcessiveLength.MaxChars != 400 {
		t.Errorf("the configuration is %+v", c)
	}
}
