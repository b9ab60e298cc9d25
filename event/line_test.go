package event_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// TestStepLineIsWhatJSONGives holds the encoder of the most frequent event, which
// is written by hand, against encoding/json.
func TestStepLineIsWhatJSONGives(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		e := randomStep(rng)
		r := event.Record{Seq: rng.Uint64(), Time: time.UnixMilli(rng.Int64N(4e12)).UTC(), Run: randomText(rng), Key: randomText(rng), Event: e}
		line := e.AppendLine(nil, r.Header())

		got := object(t, line)
		fields, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		want := object(t, fields)
		want["type"], want["run"] = "step_completed", r.Run
		want["timestamp"] = r.Time.Format("2006-01-02T15:04:05.000Z")
		want["seq"] = float64(r.Seq)
		if r.Key != "" {
			want["key"] = r.Key
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("AppendLine(%+v) = %s: -encoding/json +got\n%s", e, line, diff)
		}

		// Numbers above 2^53 differ only here.
		back, err := event.Decode(line)
		if err != nil {
			t.Fatalf("Decode(%s) = %v", line, err)
		}
		if diff := cmp.Diff(r, back); diff != "" {
			t.Fatalf("Decode(%s): -want +got\n%s", line, diff)
		}
		if bytes.ContainsAny(line, "\n\r") {
			t.Fatalf("AppendLine = %q, want one line", line)
		}
	}
}

// TestVoteLineIsWhatJSONGives is the same of verdicts.
func TestVoteLineIsWhatJSONGives(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 1000 {
		step := randomStep(rng)
		e := event.VoteCompleted{
			Question: randomText(rng), Step: step.Step, Status: "decided", Answer: event.JSONValue(json.RawMessage(`{"a":[1,0,"x"],"b":{}}`)), Voting: step.Voting,
			CostUSD: step.CostUSD, DurationMS: step.DurationMS, Spent: step.Spent,
			Rule: vote.Rule{Strategy: vote.FirstToK, N: rng.IntN(3), K: rng.IntN(3), MinVotes: rng.IntN(2), MaxSamples: rng.IntN(9), Target: []float64{0, .05}[rng.IntN(2)]},
		}
		if i%3 > 0 {
			e.Scope, e.Reason, e.Class, e.Pool, e.Said, e.Repaired, e.Second = randomText(rng), randomText(rng), randomText(rng), randomText(rng), randomText(rng), true, true
		}
		switch i % 7 { // which encoding/json writes
		case 1:
			e.Answer = randomValue(rng)
		case 2:
			e.Asked = map[string]string{"prompt": "1"}
		case 3:
			e.Leads, e.Candidates = []string{"a"}, []event.Candidate{{Answer: json.RawMessage(`1`)}}
		case 4:
			e.Intent = &event.Intent{Tool: "Write", Input: json.RawMessage(`{"a":1}`)}
		}
		r := event.Record{Seq: rng.Uint64(), Time: time.UnixMilli(rng.Int64N(4e12)).UTC(), Run: "r", Event: e}
		line, err := r.AppendJSON([]byte("before"))
		if err != nil {
			t.Fatal(err)
		}
		line, kept := bytes.CutPrefix(line, []byte("before"))
		if !kept {
			t.Fatalf("AppendJSON = %s, want what was there before", line)
		}
		fields, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		want := object(t, fields)
		want["type"], want["run"], want["timestamp"], want["seq"] = "vote_completed", r.Run, r.Time.Format("2006-01-02T15:04:05.000Z"), float64(r.Seq)
		if diff := cmp.Diff(want, object(t, line)); diff != "" {
			t.Fatalf("AppendJSON(%+v) = %s: -encoding/json +got\n%s", e, line, diff)
		}
		back, err := event.Decode(line)
		if err != nil {
			t.Fatalf("Decode(%s) = %v", line, err)
		}
		if diff := cmp.Diff(r, back); diff != "" {
			t.Fatalf("Decode(%s): -want +got\n%s", line, diff)
		}
	}
}

func randomStep(rng *rand.Rand) event.StepCompleted {
	e := event.StepCompleted{
		Step:       rng.IntN(1 << 40),
		Output:     randomValue(rng),
		DurationMS: rng.Int64(),
		Voting: event.Voting{
			Strategy: []vote.Strategy{"", vote.None, vote.Majority, vote.FirstToK}[rng.IntN(4)],
			Samples:  rng.IntN(100), RedFlagged: rng.IntN(3), Faults: rng.IntN(3), Cancelled: rng.IntN(3), Margin: rng.IntN(9),
		},
		Spent: usage.Spent{
			Calls:  rng.Int64(),
			Tokens: usage.Tokens{Input: rng.Int64(), CacheRead: rng.Int64N(2), CacheWrite: rng.Int64N(2), Output: rng.Int64(), Reasoning: rng.Int64N(2)},
			USD:    randomMoney(rng), Unpriced: rng.Int64N(2), Unreported: rng.Int64N(2), Abandoned: rng.Int64N(2), HeldUSD: randomMoney(rng), HeldTokens: rng.Int64N(2), Wasted: rng.Int64N(2),
		},
	}
	if rng.IntN(2) == 0 {
		e.Title = randomText(rng)
	}
	if rng.IntN(3) == 0 {
		e.Voting.Unvoted = []string{randomText(rng), "a.b"}
	}
	if rng.IntN(3) > 0 {
		usd := randomMoney(rng)
		e.CostUSD = &usd
	}
	if n := rng.IntN(5); n > 0 {
		e.Voting.Votes = map[string]int{}
		for range n - 1 {
			e.Voting.Votes[randomText(rng)] = rng.IntN(1000)
		}
	}
	if rng.IntN(3) == 0 {
		e.Voting.ByModel = map[string]map[string]int{randomText(rng): {randomText(rng): 1, "a": 2}, "m": {}}
		e.Voting.Shares = []event.Share{{Voter: randomText(rng), Framing: 1, Votes: 2}, {Flagged: 3, CostUSD: new(rng.Float64())}}
	}
	return e
}

func randomMoney(rng *rand.Rand) float64 {
	switch rng.IntN(4) {
	case 0:
		return 0
	case 1:
		return rng.Float64() * 1e-9
	case 2:
		return rng.Float64() * 1e25
	default:
		return rng.Float64()
	}
}

func randomText(rng *rand.Rand) string {
	runes := []rune("ab \"\\<>&'/\x00\n\r\t\x7f\u00e9\u2028\u2029\ufeff🗼\ufffd{}[]:,")
	text := make([]rune, rng.IntN(12))
	for i := range text {
		text[i] = runes[rng.IntN(len(runes))]
	}
	return string(text)
}

func randomValue(rng *rand.Rand) event.Value {
	switch rng.IntN(4) {
	case 0:
		return event.Value{}
	case 1:
		return event.TextValue(randomText(rng))
	case 2:
		return event.Value{Ref: &event.Ref{SHA256: "9f86d081", Bytes: rng.Int64()}}
	default:
		return event.JSONValue(json.RawMessage(`{"z":1,"a":{"deep":[1,2.50,"x"]}}`))
	}
}

// TestStepLineIsAlwaysOneLine has steps that no built-in task makes but a
// user's can: whatever the fields hold, a log line is one line of JSON, and
// comes back as the same event.
func TestStepLineIsAlwaysOneLine(t *testing.T) {
	compact := func(raw string) event.Value {
		var b bytes.Buffer
		if err := json.Compact(&b, []byte(raw)); err != nil {
			t.Fatal(err)
		}
		return event.JSONValue(b.Bytes())
	}
	const indented = "{\n  \"a\": 1,\r\n\t\"b\": [ 2 ]\n}"
	tests := []struct {
		name     string
		step     event.StepCompleted
		wantStep event.StepCompleted
	}{
		{
			name:     "indented output",
			step:     event.StepCompleted{Output: event.JSONValue(json.RawMessage(indented))},
			wantStep: event.StepCompleted{Output: compact(indented)},
		},
		{
			name:     "odd strategy",
			step:     event.StepCompleted{Voting: event.Voting{Strategy: `a "strategy"`}},
			wantStep: event.StepCompleted{Voting: event.Voting{Strategy: `a "strategy"`}},
		},
		{
			name:     "empty output",
			step:     event.StepCompleted{Output: event.JSONValue(json.RawMessage{})},
			wantStep: event.StepCompleted{},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			line := test.step.AppendLine(nil, event.Header{Timestamp: time.UnixMilli(0), Run: "r"})
			if bytes.ContainsAny(line, "\n\r") {
				t.Errorf("AppendLine = %q, want one line", line)
			}
			got, err := event.Decode(line)
			if err != nil {
				t.Fatalf("Decode(%q) = %v", line, err)
			}
			if diff := cmp.Diff(event.Event(test.wantStep), got.Event); diff != "" {
				t.Errorf("Decode(%q): -want +got\n%s", line, diff)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, r := range transcript() {
		line, err := r.AppendJSON(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte(`{"type":"from_the_future","seq":4,"timestamp":"2026-01-02T03:04:05.678901+02:00","run":"r\u2028"}`))
	f.Add([]byte(`{"type":"step_completed","voting":{"votes":{"a":1,"b":2}},"output":{"$sha256":"00","bytes":-1}}`))
	f.Add([]byte(`{"type":"step_completed","cost_usd":-0.0,"spent":{"usd":1e-300}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := event.Decode(line)
		if err != nil {
			return
		}
		if _, unknown := r.Event.(event.Unknown); !unknown && (r.Time.UTC().Year() < 0 || r.Time.UTC().Year() > 9999) {
			return // RFC 3339 has no other years, and zones lead out of them
		}
		encoded, err := r.AppendJSON(nil)
		if err != nil {
			t.Fatalf("AppendJSON(Decode(%q)) = %v", line, err)
		}
		again, err := event.Decode(encoded)
		if err != nil {
			t.Fatalf("Decode(%q) = %v", encoded, err)
		}
		// The log keeps milliseconds, in UTC.
		if _, unknown := r.Event.(event.Unknown); !unknown {
			r.Time = r.Time.UTC().Truncate(time.Millisecond)
		}
		stable, err := again.AppendJSON(nil)
		if err != nil || !bytes.Equal(stable, encoded) {
			t.Errorf("AppendJSON(Decode(%q)) = %q, %v, want it unchanged", encoded, stable, err)
		}
		if !again.Time.Equal(r.Time) || again.Seq != r.Seq || again.Run != r.Run || again.Event.Type() != r.Event.Type() {
			t.Errorf("Decode(%q) = %+v, want %+v", encoded, again, r)
		}
	})
}
