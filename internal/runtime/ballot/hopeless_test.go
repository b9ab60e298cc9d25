package ballot

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/vote"
)

// malformed are n answers that are discarded.
func malformed(n int) []string { return slices.Repeat([]string{"!no\x1b[31m\nway"}, n) }

func TestHopeless(t *testing.T) {
	const quoted = `malformed (schema_invalid); it was: !no\x1b[31m way`
	for _, c := range []struct {
		name    string
		rule    vote.Rule
		replies []string
		status  flow.Status
		samples int
		reason  string
	}{
		{"nothing but flags", firstToK(3, 150), malformed(22), flow.FlaggedOut, 20,
			"20 answers in a row were discarded as schema_invalid, and none became a vote; the last one: " + quoted},
		{"of several kinds", firstToK(3, 150), append([]string{""}, malformed(21)...), flow.FlaggedOut, 20,
			"20 answers in a row were discarded as empty, schema_invalid, and none became a vote; the last one: " + quoted},
		{"one vote is hope", firstToK(2, 150), append(malformed(19), "a", "a"), flow.Decided, 21, ""},
		{"flags after a vote", firstToK(2, 150), slices.Concat([]string{"a"}, malformed(30), []string{"a"}), flow.Decided, 32, ""},
		{"a lower cap", firstToK(1, 5), malformed(5), flow.FlaggedOut, 5, "all 5 samples were discarded; the last one: " + quoted},
		{"a cap of as many", firstToK(1, 20), malformed(20), flow.FlaggedOut, 20,
			"20 answers in a row were discarded as schema_invalid, and none became a vote; the last one: " + quoted},
		{"a majority", vote.Rule{Strategy: vote.Majority, N: 50, MaxSamples: 100}, malformed(100), flow.FlaggedOut, 20,
			"20 answers in a row were discarded as schema_invalid, and none became a vote; the last one: " + quoted},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := decide(t, &script{replies: texts(c.replies...)}, nil, question(c.rule))
				if v.Status != c.status || v.Voting.Samples != c.samples || v.Reason != c.reason {
					t.Errorf("Decide() = %s after %d samples: %s\nwant %s after %d: %s", v.Status, v.Voting.Samples, v.Reason, c.status, c.samples, c.reason)
				}
			})
		})
	}
}

// TestHopelessQuotesALittle: a long answer is shortened.
func TestHopelessQuotesALittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := decide(t, &script{replies: texts(slices.Repeat([]string{"!" + strings.Repeat("long ", 1000)}, 22)...)}, nil, question(firstToK(3, 150)))
		if n := len(v.Reason); n > 300 || !strings.HasSuffix(v.Reason, "…") {
			t.Errorf("the reason has %d bytes: %s", n, v.Reason)
		}
	})
}

// TestHopelessQuotesNoSecret: it is taken out before the answer is shortened.
func TestHopelessQuotesNoSecret(t *testing.T) {
	const secret = "sk-secret-of-ours"
	redact := func(s string) string { return strings.ReplaceAll(s, secret, "[key]") }
	synctest.Test(t, func(t *testing.T) {
		text := "!" + strings.Repeat("x", longestQuote-10) + secret + " and more"
		v := decide(t, &script{replies: texts(text)}, &Options{Redact: redact}, question(firstToK(1, 1)))
		if strings.Contains(v.Reason, secret[:4]) || !strings.Contains(v.Reason, "[key]") {
			t.Errorf("the reason quotes %s", v.Reason)
		}
	})
}

// TestHopelessAgain: a vote that an earlier session began comes to the same end, wherever
// that session ended.
func TestHopelessAgain(t *testing.T) {
	for _, before := range []int{1, 19, 20, 21} {
		t.Run(fmt.Sprint(before), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w Watch
				for n := range before {
					w.Earlier = append(w.Earlier, sampled(n, "!"))
				}
				w.Earlier = append(w.Earlier, sampled(before, "a")) // it arrived at the end
				if before < flow.Hopeless {
					w.Earlier = w.Earlier[:before]
				}
				m := &script{replies: texts(malformed(22)...)}
				b := New(only(m), readers, nil)
				defer b.Close()
				v, err := b.Decide(t.Context(), question(firstToK(1, 150)), w)
				if err != nil || v.Status != flow.FlaggedOut || v.Voting.RedFlagged != flow.Hopeless {
					t.Fatalf("Decide() = %+v, %v, want flagged out after %d", v, err, flow.Hopeless)
				}
				if diff := cmp.Diff(max(flow.Hopeless-before, 0), m.calls); diff != "" {
					t.Errorf("calls differ (-want +got):\n%s", diff)
				}
			})
		})
	}
}
