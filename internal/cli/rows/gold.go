package rows

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/text/table"
)

const (
	// answerColumn of a file with known answers holds them.
	answerColumn = "answer"

	// goldColumn is where they are in the records that are mixed in: no table has a column
	// of that name.
	goldColumn = "maker:known"
)

// Known are the records of a file with known answers, if the questions name one instead of a
// column: they have the columns that are asked about, and the answers in one called answer.
// The questions then name the column in which the records have them. A column of that name
// is meant first.
func Known(questions []maker.RecordQuestion, s Survey) ([]maker.Record, error) {
	for i := range questions {
		q := &questions[i]
		if q.Gold == "" || s.has[q.Gold] {
			continue
		}
		if info, err := os.Stat(q.Gold); err != nil || info.IsDir() {
			continue // then a column is missing, and whoever needs it says so
		}
		list, err := known(q.Gold, questions)
		if err != nil {
			return nil, fmt.Errorf("--gold %s: %w", q.Gold, err)
		}
		q.Gold = goldColumn
		return list, nil // only one question has known answers
	}
	return nil, nil
}

// known reads records with known answers that all questions can be asked about.
func known(path string, questions []maker.RecordQuestion) ([]maker.Record, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	list, err := table.Read(data)
	if err != nil {
		return nil, err
	}
	words, err := Words(questions, answerColumn)
	if err != nil {
		return nil, err
	}
	var bad []error
	columns := table.Columns(list)
	for i := range list {
		r := &list[i]
		answer := r.Values[answerColumn]
		if answer == nil || answer == "" {
			bad = append(bad, &table.LineError{Line: r.Line, Err: fmt.Errorf("there is no %s", answerColumn)})
			continue
		}
		if _, err := words(*r); err != nil {
			bad = append(bad, err)
		}
		r.Values = maps.Clone(r.Values)
		delete(r.Values, answerColumn)
		r.Values[goldColumn], r.Mixed = answer, true
	}
	if len(bad) > 0 {
		return nil, fmt.Errorf("%w\nthe columns are %q", table.Named(bad), columns)
	}
	if len(list) == 0 {
		return nil, errors.New("it has no records")
	}
	return list, nil
}

// Mix puts records with known answers among n others. Where they come to lie is left to
// chance, so that nobody can tell them by their places, but the same for the same known
// ones.
func Mix(records iter.Seq2[maker.Record, error], n int, known []maker.Record) iter.Seq2[maker.Record, error] {
	if len(known) == 0 {
		return records
	}
	return func(yield func(maker.Record, error) bool) {
		data, err := json.Marshal(known)
		if err != nil {
			yield(maker.Record{}, err)
			return
		}
		chance := rand.New(rand.NewChaCha8(sha256.Sum256(data)))
		order := chance.Perm(len(known))
		left := n
		for r, err := range records {
			for len(order) > 0 && chance.IntN(max(left, 0)+len(order)) < len(order) {
				if !yield(known[order[0]], nil) {
					return
				}
				order = order[1:]
			}
			left--
			if !yield(r, err) {
				return
			}
		}
		for _, i := range order {
			if !yield(known[i], nil) {
				return
			}
		}
	}
}

// Words puts a record into the words of all questions, as far as they are known before
// anything is answered. Hidden columns are not shown.
func Words(questions []maker.RecordQuestion, hidden ...string) (func(maker.Record) (string, error), error) {
	for _, q := range questions {
		if q.Gold != "" {
			hidden = append(hidden, q.Gold)
		}
	}
	var prompts []*table.Prompt
	for _, q := range questions {
		p, err := table.NewPrompt(q.Prompt, hidden...)
		if err != nil {
			return nil, fmt.Errorf("--prompt: %w", err)
		}
		prompts = append(prompts, p)
	}
	return func(r maker.Record) (string, error) {
		values := map[string]any{}
		maps.Copy(values, r.Values)
		all := ""
		for i, p := range prompts {
			text, err := p.Render(maker.Record{Line: r.Line, Values: values})
			if err != nil {
				return "", err
			}
			all += text
			values[questions[i].Name] = "?"
		}
		return all, nil
	}, nil
}
