package history

import (
	"testing"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/certificate"
	"github.com/maker-mdap/maker/vote"
)

// FuzzUnanimous: what the line of a step tells without being decoded is what it says,
// whatever its texts look like.
func FuzzUnanimous(f *testing.F) {
	const trap = `,"voting":{"strategy":"adaptive","samples":9,"red_flagged":0,"faults":0,"votes":{"x":9},"margin":9`
	f.Add("", "out", "a", "b", 4, 0, 0)
	f.Add(trap, trap, trap, `,"margin":3`, 4, 2, 1)
	f.Add("t", `{"a":1`+trap+`}}`, `,"margin":3}`, "b", 5, 0, 2)
	f.Add("t", "", `"`, `\`, 1, 1, 0)
	f.Add("t", "", "disputed", "margin", 4, 0, 7)
	f.Add("t", "", "margin", "disputed", 4, 0, 0)
	f.Fuzz(func(t *testing.T, title, output, first, second string, a, b, flags int) {
		a, b, flags = a&0xff, b&0xff, flags&0xff
		v := event.Voting{Strategy: vote.Adaptive, RedFlagged: flags, Votes: map[string]int{}, Policy: 3, Disputed: flags >> 1}
		if a > 0 {
			v.Votes[first] += a
		}
		if b > 0 {
			v.Votes[second] += b
		}
		v.Samples = a + b + flags
		cell := certificate.CellOf(v.Votes)
		v.Margin = cell.Lead - cell.Second
		v.ByModel = map[string]map[string]int{first: {second: 1}, second: {first: 2}}
		out := event.TextValue(output)
		if len(output) > 0 && output[0] == '{' {
			out = event.JSONValue([]byte(output))
		}
		e := event.StepCompleted{Step: 1, Title: title, Output: out, Voting: v}
		line := e.AppendLine(nil, event.Header{Seq: 1, Timestamp: time.Unix(0, 0), Run: "r"})
		got, disputed, ok := unanimous(line)
		if want := cell.Second == 0 && cell.Lead > 0; ok != want || ok && (got != cell.Lead || disputed != v.Disputed) {
			t.Errorf("unanimous(%s) = %d, %d, %t, want %d, %d, %t", line, got, disputed, ok, cell.Lead, v.Disputed, want)
		}
	})
}
