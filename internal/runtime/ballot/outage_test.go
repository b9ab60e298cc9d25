package ballot

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model"
)

// TestOutage: where nothing ever answered a question is given up soon, with the reason;
// where something did, or a server is only busy, an outage of a minute is waited out.
func TestOutage(t *testing.T) {
	broken := &model.Error{Kind: model.Transient, Status: 500, Message: "down"}
	gone := &model.Error{Kind: model.Transient, NotSent: true, Message: "connection refused"}
	loading := &model.Error{Kind: model.Overloaded, Status: 503, Message: "loading the model"}
	const never, forever = "nothing was ever answered", time.Hour
	tests := []struct {
		name     string
		fault    *model.Error
		answered bool          // before the outage
		lasts    time.Duration // the outage
		want     flow.Status
		least    time.Duration // that it takes
		most     time.Duration
		reason   string
	}{
		{"never there", gone, false, forever, flow.Failed, 0, 10 * time.Second, never},
		{"never well", broken, false, forever, flow.Failed, time.Second, 15 * time.Second, never},
		{"a hiccup at the start", broken, false, time.Second, flow.Decided, 0, 5 * time.Second, ""},
		{"still loading", loading, false, time.Minute, flow.Decided, time.Minute, 2 * time.Minute, ""},
		{"went away", gone, true, time.Minute, flow.Decided, time.Minute, 2 * time.Minute, ""},
		{"broke", broken, true, time.Minute, flow.Decided, time.Minute, 2 * time.Minute, ""},
		{"broke for good", broken, true, forever, flow.Failed, time.Minute, 10 * time.Minute, "20 failed attempts; the last one: transient (HTTP 500): down"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var begin time.Time
				s := &server{fail: func(int64) *model.Error {
					if !begin.IsZero() && time.Since(begin) < tt.lasts {
						return tt.fault
					}
					return nil
				}}
				b := New([]Voter{s.voter("a")}, readers, nil)
				defer b.Close()
				q := question(firstToK(3, 30))
				if tt.answered {
					if _, err := b.Decide(t.Context(), q, Watch{}); err != nil {
						t.Fatal(err)
					}
				}
				begin = time.Now()
				v, err := b.Decide(t.Context(), q, Watch{})
				took := time.Since(begin)
				if err != nil || v.Status != tt.want || took < tt.least || took > tt.most {
					t.Fatalf("Decide() = %+v, %v after %v, want %s after %v to %v", v, err, took, tt.want, tt.least, tt.most)
				}
				if !strings.Contains(v.Reason, tt.reason) || tt.reason != never && strings.Contains(v.Reason, never) {
					t.Errorf("the reason is %q, want %q", v.Reason, tt.reason)
				}
			})
		})
	}
}
