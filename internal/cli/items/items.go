// Package items reads questions with known answers from a file of the user's.
package items

import (
	"fmt"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/text/table"
)

// The columns of a file with items.
const (
	questionColumn = "question"
	answerColumn   = "answer"
)

// Read reads items from JSON lines or CSV. The prompt is a template over the columns; the
// empty one is for the column question.
func Read(data []byte, prompt string) ([]maker.Item, error) {
	records, err := table.Read(data)
	if err != nil {
		return nil, err
	}
	if prompt == "" {
		prompt = "{{." + questionColumn + "}}"
	}
	words, err := table.NewPrompt(prompt, answerColumn)
	if err != nil {
		return nil, fmt.Errorf("--prompt: %w", err)
	}
	var items []maker.Item
	var bad []error
	for _, r := range records {
		answer, ok := r.Values[answerColumn]
		if !ok || answer == nil {
			bad = append(bad, &table.LineError{Line: r.Line, Err: fmt.Errorf("there is no %s", answerColumn)})
			continue
		}
		question, err := words.Render(r)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		items = append(items, maker.Item{Line: r.Line, Question: question, Answer: answer})
	}
	if len(bad) > 0 {
		return nil, fmt.Errorf("%w\nthe columns are %q", table.Named(bad), table.Columns(records))
	}
	return items, nil
}
