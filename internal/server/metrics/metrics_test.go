package metrics_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/internal/server/metrics"
)

func TestPage(t *testing.T) {
	var p metrics.Page
	g := p.Gauge("runs", "Runs,\nby \\state.")
	g.Set(2, metrics.Label{Name: "state", Value: "run\"ning\n\\"})
	g.Set(0.5, metrics.Label{Name: "state", Value: "a"}, metrics.Label{Name: "b", Value: "\xff"})
	p.Counter("steps_total", "Steps.").Set(1e6)
	h := metrics.NewHistogram(0.1, 1)
	for _, v := range []float64{0.05, 0.1, 0.5, 7} {
		h.Observe(v)
	}
	h.Write(&p, "seconds", "Time.")
	var out strings.Builder
	if _, err := p.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	want := `# HELP runs Runs,\nby \\state.
# TYPE runs gauge
runs{state="run\"ning\n\\"} 2
runs{state="a",b="` + "\ufffd" + `"} 0.5
# HELP steps_total Steps.
# TYPE steps_total counter
steps_total 1e+06
# HELP seconds Time.
# TYPE seconds histogram
seconds_bucket{le="0.1"} 2
seconds_bucket{le="1"} 3
seconds_bucket{le="+Inf"} 4
seconds_sum 7.65
seconds_count 4
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("the page: -want +got\n%s", diff)
	}
}
