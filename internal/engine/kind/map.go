package kind

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/calibrate"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/orchestrator/mapper"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/records"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/table"
	"github.com/maker-mdap/maker/reader"
)

// What the records of a table come as.
type (
	Record      = table.Record
	RecordError = table.LineError
)

// mapKind is the same questions for each record of a table.
var mapKind = Kind{Name: Map, Form: event.FormRecords, Settings: config.Mapping, job: mapJob}

// Map is its name.
const Map = "map"

// MapParams are what a run is about, as its log has it. The records are beside it.
type MapParams struct {
	Source    string        `json:"source,omitempty"` // where the records are from, for people
	Questions []MapQuestion `json:"questions"`
	Dedupe    bool          `json:"dedupe,omitempty"` // records with the same prompts are asked about once
	Of        int           `json:"of,omitempty"`     // records that these were chosen from, if they are a sample

	records.Summary
}

// A MapQuestion is asked about each record.
type MapQuestion struct {
	Name   string      `json:"name"`
	Prompt string      `json:"prompt"`         // a template over the columns and the answers to those before
	Answer flow.Format `json:"answer"`         // a reader of package reader
	Gold   string      `json:"gold,omitempty"` // the column with known answers
}

// DefaultQuestion is the name of the only question.
const DefaultQuestion = "answer"

// questionName is what a question may be called: it becomes a column and a part of keys.
var questionName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// mapping is a run under way.
type mapping struct {
	questions []mapQuestion
	set       *prompts.Set
	terms     flow.Terms
	pool      string // whom to ask where voters do not agree
}

type mapQuestion struct {
	MapQuestion
	as     reader.Reader
	prompt *table.Prompt
	class  string
}

// Words is how a record is asked about, as far as that is known beforehand: records with
// the same words get the same answers.
func (p MapParams) Words() (func(table.Record) string, error) {
	questions, err := p.read()
	if err != nil {
		return nil, err
	}
	return func(r table.Record) string {
		var parts []string
		values := map[string]any{}
		for name, v := range r.Values {
			values[name] = v
		}
		for _, q := range questions {
			text, err := q.prompt.Render(table.Record{Line: r.Line, Values: values})
			if err != nil {
				return "" // it is a record of its own, and fails
			}
			parts = append(parts, text)
			if q.Gold != "" { // what is known about it is its own
				parts = append(parts, fmt.Sprint(r.Values[q.Gold]))
			}
			values[q.Name] = "?"
		}
		data, _ := json.Marshal(parts) // texts
		return string(data)
	}, nil
}

// Known checks the known answers of a record, as far as it has any: one that cannot be read
// would measure nothing.
func (p MapParams) Known() (func(table.Record) error, error) {
	questions, err := p.read()
	if err != nil {
		return nil, err
	}
	m := &mapping{questions: questions}
	return func(r table.Record) error {
		record := &mapRecord{m, records.Record{Line: r.Line, Values: r.Values, Mixed: r.Mixed}}
		for _, q := range questions {
			if _, err := record.known(q); err != nil {
				return &config.Error{Field: "gold", Err: err}
			}
		}
		return nil
	}, nil
}

// CheckColumns reports that there is no column of known answers. Where records with known
// answers were mixed in, they have them.
func (p MapParams) CheckColumns(columns []string) error {
	if p.Mixed > 0 {
		return nil
	}
	for _, q := range p.Questions {
		if q.Gold != "" && !slices.Contains(columns, q.Gold) {
			return config.Errorf("gold", "there is no column %q; there are %q", q.Gold, columns)
		}
	}
	return nil
}

// read checks the questions.
func (p MapParams) read() ([]mapQuestion, error) {
	if len(p.Questions) == 0 {
		return nil, config.Errorf("prompt", "there is no question")
	}
	var list []mapQuestion
	var hidden []string
	seen := map[string]bool{}
	for _, q := range p.Questions {
		if q.Gold != "" {
			hidden = append(hidden, q.Gold)
		}
	}
	for _, q := range p.Questions {
		switch {
		case !questionName.MatchString(q.Name):
			return nil, config.Errorf("prompt", "%q cannot be the name of a question: use letters, digits and _", q.Name)
		case seen[q.Name]:
			return nil, config.Errorf("prompt", "two questions are called %q", q.Name)
		}
		seen[q.Name] = true
		as, err := reader.Of(q.Answer)
		if err != nil {
			return nil, &config.Error{Field: "answer", Err: err}
		}
		words, err := table.NewPrompt(q.Prompt, hidden...)
		if err != nil {
			return nil, &config.Error{Field: "prompt", Err: err}
		}
		class, err := q.class()
		if err != nil {
			return nil, err
		}
		if len(p.Questions) > 1 {
			class = q.Name + ": " + class
		}
		list = append(list, mapQuestion{q, as, words, class})
	}
	return list, nil
}

// class is by what it is learnt how hard a question is: what is asked, and how it is
// answered.
func (q MapQuestion) class() (string, error) {
	all, err := json.Marshal([]any{q.Prompt, q.Answer})
	sum := sha256.Sum256(all)
	return fmt.Sprintf("%s #%x", clip.Short(q.Prompt), sum[:3]), err
}

// ReadMapParams reads the parameters of a run, as its log has them.
func ReadMapParams(params json.RawMessage) (p MapParams, err error) {
	if err := json.Unmarshal(params, &p); err != nil {
		return p, fmt.Errorf("maker: parameters of the run: %w", err)
	}
	return p, nil
}

func mapJob(_ Env, _ string, params json.RawMessage, cfg config.Config) (*Job, error) {
	p, err := ReadMapParams(params)
	if err != nil {
		return nil, err
	}
	questions, err := p.read()
	if err != nil {
		return nil, err
	}
	set, err := promptSet(cfg)
	if err != nil {
		return nil, err
	}
	m := &mapping{questions: questions, set: set, terms: terms(cfg), pool: cfg.Solve.ModelEscalation}
	j := &Job{Steps: p.Records - p.Same, Races: (p.Records - p.Same) * len(questions), Prompts: set, Roles: secondPool(cfg)}
	for i := range questions {
		j.Classes = append(j.Classes, questions[i].class)
	}
	j.Task = fmt.Sprintf("Answer for %d records", p.Records-p.Mixed)
	if p.Source != "" {
		j.Task += " of " + p.Source
	}
	j.Run = func(f flow.Flow, at chain.Checkpoint) error {
		path := filepath.Join(j.Dir, records.File)
		if err := records.Check(path, p.Summary); err != nil {
			return err
		}
		return m.run(f, path, 0, p, at)
	}
	j.Block = func(f flow.Flow, at chain.Checkpoint, first int, path string) error {
		return m.run(f, path, first, p, at)
	}
	return j, nil
}

// run asks about the records of a file, whose first one has a number.
func (m *mapping) run(f flow.Flow, path string, first int, p MapParams, at chain.Checkpoint) error {
	same := map[int]int{}
	if p.Same > 0 {
		n := first
		for r, err := range records.All(path) {
			if err != nil {
				return err
			}
			if r.Same != nil {
				same[n] = *r.Same
			}
			n++
		}
	}
	ended := at.Ended
	if ended == nil {
		ended = func(int) (flow.Status, *bool) { return "", nil }
	}
	file := records.NewReader(path, func(n int) bool {
		_, skip := same[first+n]
		status, _ := ended(first + n)
		return skip || status != ""
	})
	c := mapper.Config{
		Records: p.Records, Ended: ended, Same: same, Pool: m.pool,
		Open: func(n int) (mapper.Record, error) {
			r, err := file.Record(n - first)
			return &mapRecord{m, r}, err
		},
	}
	for _, q := range m.questions {
		c.Questions = append(c.Questions, q.Name)
	}
	return errors.Join(mapper.Run(f, c), file.Close())
}

// mapRecord is a record that questions are asked about.
type mapRecord struct {
	*mapping
	records.Record
}

// Ask implements [mapper.Record].
func (r *mapRecord) Ask(n int, earlier map[string]json.RawMessage) (*flow.Question, error) {
	if r.Error != "" {
		return nil, fmt.Errorf("line %d: %s", r.Line, r.Error)
	}
	q := r.questions[n]
	if _, err := r.known(q); err != nil {
		return nil, err
	}
	values := make(map[string]any, len(r.Values)+len(earlier))
	for name, v := range r.Values {
		values[name] = v
	}
	for name, raw := range earlier {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil, fmt.Errorf("the answer to %s: %w", name, err)
		}
		values[name] = v
	}
	text, err := q.prompt.Render(table.Record{Line: r.Line, Values: values})
	if err != nil {
		return nil, err
	}
	asked := &flow.Question{}
	reader.Put(asked, q.as)
	err = r.set.Put(asked, prompts.Ask{Question: text, Instructions: reader.Instructions(q.as, prompts.MaxFramings)})
	asked.Terms, asked.Class = r.terms, ""
	if len(r.questions) > 1 {
		asked.Class = q.class // one may be harder than the other
	}
	return asked, err
}

// known is the key of the known answer to a question, and how to get that of another; nil
// if it is not known.
func (r *mapRecord) known(q mapQuestion) (isKnown func(json.RawMessage) bool, err error) {
	if q.Gold == "" || r.Values[q.Gold] == nil || r.Values[q.Gold] == "" {
		return nil, nil
	}
	raw, err := json.Marshal(r.Values[q.Gold])
	if err != nil {
		return nil, err
	}
	keyOf, want, err := calibrate.Expect(q.as, raw)
	if err != nil && r.Mixed {
		return nil, fmt.Errorf("line %d of the known answers: %w", r.Line, err)
	}
	if err != nil {
		return nil, fmt.Errorf("line %d, column %s: %w", r.Line, q.Gold, err)
	}
	return func(answer json.RawMessage) bool {
		key, valid := keyOf(answer)
		return valid && key == want
	}, nil
}

// Right implements [mapper.Record].
func (r *mapRecord) Right(answers map[string]json.RawMessage) *bool {
	var right *bool
	for _, q := range r.questions {
		if isKnown, err := r.known(q); err == nil && isKnown != nil {
			ok := isKnown(answers[q.Name]) && (right == nil || *right)
			right = &ok
		}
	}
	return right
}
