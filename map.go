package maker

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/reader"
	"github.com/maker-mdap/maker/runs"
)

// A Record is one row of a table, by the names of its columns.
type Record = kind.Record

// A RecordError is what is wrong with a record. It fails alone.
type RecordError = kind.RecordError

// A Table is what [Engine.Map] answers questions about.
type Table struct {
	Source string // where it is from, for people

	// Records are its rows. One that comes with a [*RecordError] fails alone; any other
	// error ends the run before it begins. They are kept in the folder of the run.
	Records iter.Seq2[Record, error]

	// Questions are asked about each record, one after the other.
	Questions []RecordQuestion

	// Dedupe asks about records with the same questions once. While they are read it
	// takes some 100 bytes of memory for each different one.
	Dedupe bool

	// Of says that the records are a sample of so many.
	Of int
}

// A RecordQuestion is asked about each record.
type RecordQuestion struct {
	Name   string // "answer" if empty
	Prompt string // a template over the columns, and over the answers to the questions before it
	As     reader.Reader
	Gold   string // the column with known answers, of the table or of its [Record]s that are mixed in, if there is one: it is not shown to voters
}

// Map starts to answer the same questions for each record of a table, many of them at a
// time, and returns once the records are read. Each record is a step, voted on and
// committed on its own; [runs.Run.Records] tells what came of them. The run ends with ctx.
func (e *Engine) Map(ctx context.Context, t Table) (*Run, error) {
	p := kind.MapParams{Source: t.Source, Dedupe: t.Dedupe, Of: t.Of}
	for _, q := range t.Questions {
		if err := q.As.Validate(); err != nil {
			return nil, &ConfigError{Field: "answer", Err: err}
		}
		p.Questions = append(p.Questions, kind.MapQuestion{
			Name: cmp.Or(q.Name, kind.DefaultQuestion), Prompt: q.Prompt, Answer: q.As.Format(), Gold: q.Gold,
		})
	}
	return begun(e.engine.Map(ctx, p, t.Records))
}

// A Mapped is what came of one input of [Map].
type Mapped[In, T any] struct {
	Input   In
	Answer  T
	Verdict Verdict // how it was decided, or why it was not
}

// Map puts a question about each input to several voters and yields what came of each, in
// the order of the inputs, once all of them are done. How answers are read follows from T,
// see [reader.For]. Inputs are kept in the folder of the run as JSON. An input without an
// answer has a verdict that is not decided; an error ends the sequence. If that is a
// [*NoAnswerError], the run was stopped: [ResumeMap] goes on with it.
func Map[In, T any](ctx context.Context, e *Engine, inputs iter.Seq[In], question func(In) string, opts ...AskOption) iter.Seq2[Mapped[In, T], error] {
	return func(yield func(Mapped[In, T], error) bool) {
		run, err := startMap[In, T](ctx, e, inputs, question, opts)
		if err == nil {
			err = eachMapped(run, yield)
		}
		if err != nil {
			yield(Mapped[In, T]{}, err)
		}
	}
}

// ResumeMap goes on with a run of [Map] that was stopped, or whose process was killed, and
// yields what came of all its inputs: those that are done are not asked about again. The run is
// named as in [runs.Find]; opts may be nil.
func ResumeMap[In, T any](ctx context.Context, e *Engine, run string, opts *ResumeOptions) iter.Seq2[Mapped[In, T], error] {
	return func(yield func(Mapped[In, T], error) bool) {
		r, err := e.Resume(ctx, run, opts)
		if err == nil {
			err = eachMapped(r, yield)
		}
		if err != nil {
			yield(Mapped[In, T]{}, err)
		}
	}
}

// The columns of the records of [Map].
const (
	inputColumn    = "input"
	questionColumn = "question"
)

func startMap[In, T any](ctx context.Context, e *Engine, inputs iter.Seq[In], question func(In) string, opts []AskOption) (*Run, error) {
	as, err := reader.For[T]()
	var p kind.AskParams
	for _, opt := range opts {
		opt(&p)
	}
	if p.Answer.Reader != "" {
		as, err = reader.Of(p.Answer)
	}
	if err != nil {
		return nil, err
	}
	if len(p.Shown) > 0 {
		return nil, &ConfigError{Field: "shown", Err: fmt.Errorf("what is shown with a question belongs into its text")}
	}
	rows := func(yield func(Record, error) bool) {
		n := 0
		for in := range inputs {
			n++
			raw, err := json.Marshal(in)
			if err != nil {
				yield(Record{}, fmt.Errorf("maker: input %d: %w", n, err))
				return
			}
			columns := []string{inputColumn, questionColumn}
			if !yield(Record{Line: n, Columns: columns, Values: map[string]any{inputColumn: json.RawMessage(raw), questionColumn: question(in)}}, nil) {
				return
			}
		}
	}
	return e.Map(ctx, Table{Records: rows, Questions: []RecordQuestion{{Prompt: "{{." + questionColumn + "}}", As: as}}})
}

// eachMapped yields what came of each input of a run.
func eachMapped[In, T any](run *Run, yield func(Mapped[In, T], error) bool) error {
	result, err := run.Result()
	if err != nil {
		return err
	}
	if result.Status != event.StatusCompleted && result.Status != event.StatusUndecided {
		return &NoAnswerError{result}
	}
	kept, err := runs.Open(run.Dir())
	if err != nil {
		return err
	}
	for r, err := range kept.Records() {
		if err != nil {
			return err
		}
		var m Mapped[In, T]
		raw, err := json.Marshal(r.Values[inputColumn])
		if err == nil {
			err = json.Unmarshal(raw, &m.Input)
		}
		m.Verdict = Verdict{Run: result.Run, Simulated: result.Simulated, Verdict: flow.Verdict{
			Status: flow.Status(r.Status), Reason: r.Reason, Voting: r.Voting, Answer: r.Output.JSON, CostUSD: r.CostUSD,
		}}
		if err == nil && m.Verdict.Status == flow.Decided {
			m.Answer, err = reader.Decode[T](r.Output.JSON)
		}
		if err != nil {
			return fmt.Errorf("maker: input %d: %w", r.Number+1, err)
		}
		if !yield(m, nil) {
			return nil
		}
	}
	return nil
}
