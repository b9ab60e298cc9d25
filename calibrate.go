package maker

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/reader"
)

// An Item is a question of one's own whose answer is known, to measure voters with.
type Item struct {
	Question string
	Answer   any // plain data, as the reader of answers takes it: a text, a number, ...
	Line     int // of the file that it is from, for error messages; 0 for its place in the list
}

// CalibrateItems starts to measure the voters with questions of one's own: how often they
// are right, how that differs between items, and what a vote would gain. Answers are read
// as in [Engine.Ask]. What came of it is in Calibrated of the result's Solve. Source says
// where the items are from, for people. The run ends with ctx.
func (e *Engine) CalibrateItems(ctx context.Context, source string, items []Item, as reader.Reader) (*Run, error) {
	if err := as.Validate(); err != nil {
		return nil, &ConfigError{Field: "answer", Err: err}
	}
	p := kind.ItemsParams{Source: source, Answer: as.Format()}
	for i, item := range items {
		answer, err := json.Marshal(item.Answer)
		if err != nil {
			return nil, &ConfigError{Field: "items", Err: fmt.Errorf("item %d: %w", i+1, err)}
		}
		line := item.Line
		if line == 0 {
			line = i + 1
		}
		p.Items = append(p.Items, kind.Item{Line: line, Question: item.Question, Answer: answer})
	}
	return begun(e.engine.CalibrateItems(ctx, p))
}
