package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/internal/records"
	"github.com/maker-mdap/maker/internal/text/table"
)

// Plan starts a run that makes a plan for a task.
func (e *Engine) Plan(ctx context.Context, name, task string) (*Run, error) {
	return e.launchParams(ctx, name, kind.PlanParams{Task: task})
}

// Write starts a run that makes a script for a task, and runs it.
func (e *Engine) Write(ctx context.Context, task string) (*Run, error) {
	return e.launchParams(ctx, kind.Run, kind.PlanParams{Task: task, As: kind.AsScript})
}

// Exec starts a run that is about a given plan.
func (e *Engine) Exec(ctx context.Context, name, planText string) (*Run, error) {
	return e.launchParams(ctx, name, kind.PlanParams{Plan: planText})
}

// Do starts to do the tasks of a text.
func (e *Engine) Do(ctx context.Context, text string, attach ...string) (*Run, error) {
	if !utf8.ValidString(text) {
		return nil, config.Errorf("text", "the text is not valid UTF-8")
	}
	return e.launchParams(ctx, kind.Do, kind.DoParams{Text: text, Attach: attach})
}

// Solve starts to solve a problem.
func (e *Engine) Solve(ctx context.Context, problem string) (*Run, error) {
	if !utf8.ValidString(problem) { // which JSON, and so the log, could not hold
		return nil, config.Errorf("problem", "the problem is not valid UTF-8")
	}
	return e.launchParams(ctx, kind.Solve, kind.SolveParams{Problem: problem, Domain: cmp.Or(e.opts.Config.Solve.Domain, config.DefaultDomain)})
}

// Ask starts to ask one question.
func (e *Engine) Ask(ctx context.Context, p kind.AskParams) (*Run, error) {
	if !utf8.ValidString(p.Question) {
		return nil, config.Errorf("question", "the question is not valid UTF-8")
	}
	return e.launchParams(ctx, kind.Ask, p)
}

// Calibrate starts to measure the voters.
func (e *Engine) Calibrate(ctx context.Context, domain string) (*Run, error) {
	return e.launchParams(ctx, kind.Calibrate, kind.SolveParams{Domain: cmp.Or(domain, config.DefaultDomain)})
}

// CalibrateItems starts to measure the voters with questions of the user's own.
func (e *Engine) CalibrateItems(ctx context.Context, p kind.ItemsParams) (*Run, error) {
	if err := p.Distinct(); err != nil {
		return nil, err
	}
	return e.launchParams(ctx, kind.CalibrateItems, p)
}

// Map starts to answer questions for each record of a source.
func (e *Engine) Map(ctx context.Context, p kind.MapParams, source iter.Seq2[table.Record, error]) (*Run, error) {
	words, err := p.Words()
	if err != nil {
		return nil, err
	}
	known, err := p.Known()
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("maker: parameters of the run: %w", err)
	}
	return e.launch(ctx, kind.Map, raw, func(dir string) (json.RawMessage, error) {
		if p.Summary, err = keepRecords(ctx, filepath.Join(dir, records.File), source, p.Dedupe, words, known); err != nil {
			return nil, err
		}
		if err := p.CheckColumns(p.Columns); err != nil {
			return nil, err
		}
		return json.Marshal(p)
	})
}

// keepRecords writes the records of a run into its folder.
func keepRecords(ctx context.Context, path string, source iter.Seq2[table.Record, error], dedupe bool, words func(table.Record) string, known func(table.Record) error) (s records.Summary, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return s, err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	w := records.NewWriter(f, dedupe)
	for r, bad := range source {
		asked := ""
		if bad == nil {
			if err := known(r); err != nil {
				return s, err
			}
			if dedupe {
				asked = words(r)
			}
		}
		if err := w.Add(r, bad, asked); err != nil {
			return s, &config.Error{Field: "records", Err: err}
		}
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
	}
	if s, err = w.Finish(); err != nil {
		return s, err
	}
	if s.Records == 0 {
		return s, config.Errorf("records", "there are none")
	}
	return s, f.Sync()
}

// env is what runs are made of.
func (e *Engine) env() kind.Env {
	return kind.Env{Families: e.opts.Families, Domains: e.opts.Domains, Modules: e.opts.Modules, Warn: func(text string) { e.opts.Logger.Warn(text) }}
}
