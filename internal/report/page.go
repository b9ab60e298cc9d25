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
	"voting":  runs.DescribeVoting,
	"percent": func(f float64) string { return fmt.Sprintf("%.1f %%", 100*f) },
	"took":    func(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() },
	"model":   runs.DescribeModel,
}).Parse(pageText))

// pageData is what the template shows.
type pageData struct {
	Result *runs.Result
	Answer *runs.AnswerOutput // nil if there is none
	Tree   *Tree
}

// Page is a run as one page that needs nothing else. The output is that of the run,
// with its content.
func (t *Tree) Page(r *runs.Result, output event.Value) ([]byte, error) {
	data := pageData{Result: r, Tree: t}
	if answer, ok := runs.ReadAnswer(output); ok {
		data.Answer = &answer
	}
	var out bytes.Buffer
	err := pageTemplate.Execute(&out, data)
	return out.Bytes(), err
}
