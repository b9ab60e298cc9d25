// Package metrics writes figures in the text format of Prometheus.
package metrics

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ContentType is that of the format.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// A Label is a name and a value that tell figures of one name apart.
type Label struct{ Name, Value string }

// A Page is a page of figures that is being written. The figures of one name come together.
type Page struct{ out bytes.Buffer }

// Gauge begins figures that go up and down.
func (p *Page) Gauge(name, help string) *Figure { return p.begin(name, "gauge", help) }

// Counter begins figures that only go up.
func (p *Page) Counter(name, help string) *Figure { return p.begin(name, "counter", help) }

func (p *Page) begin(name, kind, help string) *Figure {
	fmt.Fprintf(&p.out, "# HELP %s %s\n# TYPE %s %s\n", name, escaped(help, false), name, kind)
	return &Figure{p, name}
}

// WriteTo writes the page.
func (p *Page) WriteTo(w io.Writer) (int64, error) { return p.out.WriteTo(w) }

// A Figure is one name with values.
type Figure struct {
	page *Page
	name string
}

// Set adds a value.
func (f *Figure) Set(value float64, labels ...Label) { f.page.line(f.name, value, labels) }

func (p *Page) line(name string, value float64, labels []Label) {
	p.out.WriteString(name)
	for i, l := range labels {
		sep := byte(',')
		if i == 0 {
			sep = '{'
		}
		p.out.WriteByte(sep)
		fmt.Fprintf(&p.out, `%s="%s"`, l.Name, escaped(l.Value, true))
	}
	if len(labels) > 0 {
		p.out.WriteByte('}')
	}
	fmt.Fprintf(&p.out, " %s\n", number(value))
}

func number(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	case math.IsNaN(v):
		return "NaN"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func escaped(text string, quotes bool) string {
	text = strings.ReplaceAll(text, `\`, `\\`)
	text = strings.ReplaceAll(text, "\n", `\n`)
	if quotes {
		text = strings.ReplaceAll(text, `"`, `\"`)
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// A Histogram counts values by how large they are. It may be used from several goroutines.
type Histogram struct {
	bounds []float64

	mu     sync.Mutex
	counts []uint64 // by bound, and one for what is beyond all
	sum    float64
}

// NewHistogram returns a histogram with these bounds, in order.
func NewHistogram(bounds ...float64) *Histogram {
	return &Histogram{bounds: slices.Clone(bounds), counts: make([]uint64, len(bounds)+1)}
}

// Observe counts a value.
func (h *Histogram) Observe(v float64) {
	i, _ := slices.BinarySearch(h.bounds, v)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts[i]++
	h.sum += v
}

// Write adds the histogram to a page.
func (h *Histogram) Write(p *Page, name, help string) {
	h.mu.Lock()
	counts, sum := slices.Clone(h.counts), h.sum
	h.mu.Unlock()
	p.begin(name, "histogram", help)
	total := uint64(0)
	for i, n := range counts {
		total += n
		bound := math.Inf(1)
		if i < len(h.bounds) {
			bound = h.bounds[i]
		}
		p.line(name+"_bucket", float64(total), []Label{{"le", number(bound)}})
	}
	p.line(name+"_sum", sum, nil)
	p.line(name+"_count", float64(total), nil)
}
