package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
)

//go:embed page.html
var pageText string

// What a page shows of one text, and how many samples of a question: all of them are
// in the log.
const (
	maxPageText    = 4000
	maxPageSamples = 50
)

// pageTemplate escapes everything that is put into it, each in the way of its place.
var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"clip":    func(s string) string { return clip.Text(show.Text(s), maxPageText) },
	"oneline": Short,
	"samples": func(list []treeSample) []treeSample { return list[:min(len(list), maxPageSamples)] },
	"omitted": func(list []treeSample) int { return max(0, len(list)-maxPageSamples) },
	"decided": func(v *treeVote) bool { return v.Status == string(flow.Decided) },
	"cost":    runs.DescribeCost,
	"rule":    runs.DescribeRule,
	"percent": func(f float64) string { return fmt.Sprintf("%.1f %%", 100*f) },
	"took":    func(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() },
	"model":   runs.DescribeModel,
}).Parse(pageText))

// pageData is what the template shows.
type pageData struct {
	Result *runs.Result
	Answer *runs.AnswerOutput // nil if there is none
	Tree   *Tree
	Chart  *chart // nil if there is nothing to draw
}

// Page is a run as one page that needs nothing else. The output is that of the run,
// with its content.
func (t *Tree) Page(r *runs.Result, output event.Value) ([]byte, error) {
	data := pageData{Result: r, Tree: t, Chart: t.stepChart()}
	if answer, ok := runs.ReadAnswer(output); ok {
		data.Answer = &answer
	}
	var out bytes.Buffer
	err := pageTemplate.Execute(&out, data)
	return out.Bytes(), err
}

// A chart is drawn in a box of chartWidth by chartHeight.
type chart struct {
	Title string
	Note  string // what is drawn, in words
	Top   string // what the upper edge stands for
	Left  string // what the left edge stands for
	Right string // what the right edge stands for
	Bars  []rect
}

type rect struct {
	X, Y, Width, Height float64
	Class, Title        string
}

const (
	chartWidth  = 720.0
	chartHeight = 160.0
	maxBars     = 240
)

// stepChart has a bar for each step: its votes, and what was discarded on top. If
// there are too many, one bar stands for several.
func (t *Tree) stepChart() *chart {
	type counts struct{ votes, flagged int }
	last := -1
	bySteps := map[int]*counts{}
	for _, s := range t.samples {
		c := bySteps[s.step]
		if c == nil {
			c = &counts{}
			bySteps[s.step] = c
		}
		if s.Flag == "" {
			c.votes++
		} else {
			c.flagged++
		}
		last = max(last, s.step)
	}
	for _, e := range t.steps {
		last = max(last, e.Step)
	}
	if last < 0 {
		return nil
	}
	per := last/maxBars + 1
	bars := make([]counts, last/per+1)
	for step, c := range bySteps {
		bars[step/per].votes += c.votes
		bars[step/per].flagged += c.flagged
	}
	most := 1
	for _, b := range bars {
		most = max(most, b.votes+b.flagged)
	}
	c := &chart{
		Title: "Samples per step", Top: fmt.Sprint(most), Left: "step 0", Right: fmt.Sprintf("step %d", last),
		Note: "votes, with discarded answers on top",
	}
	if per > 1 {
		c.Note += fmt.Sprintf("; a bar is %d steps", per)
	}
	width := chartWidth / float64(len(bars))
	for i, b := range bars {
		title := fmt.Sprintf("step %d: %d votes, %d discarded", i*per, b.votes, b.flagged)
		high, flagged := float64(b.votes)/float64(most)*chartHeight, float64(b.flagged)/float64(most)*chartHeight
		x := width * float64(i)
		c.Bars = append(c.Bars, rect{x, chartHeight - high, width * 0.85, high, "vote", title})
		if b.flagged > 0 {
			c.Bars = append(c.Bars, rect{x, chartHeight - high - flagged, width * 0.85, flagged, "flag", title})
		}
	}
	return c
}
