package cli

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli/readas"
	"github.com/maker-mdap/maker/internal/cli/rows"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
)

// mapFlags are what maker map is told beside the settings.
type mapFlags struct {
	settings
	answer  readas.Flags
	prompts []string
	gold    string
	out     string
	sample  int
	confirm float64
	yes     bool
	dedupe  bool
}

func (a *app) mapRecords() *cobra.Command {
	var flags mapFlags
	cmd := &cobra.Command{
		Use:   "map FILE",
		Short: "Answer the same question for each record of a table, by a vote for each",
		Long: `map asks the same question about each record of a table, has several voters answer
it, and writes the records with their answers, votes and costs. Every record is a step
of a run: committed once, resumed by record, within budgets.

FILE is CSV, TSV (.tsv), JSON objects on lines, a folder (each file is a record with the
columns file and text), or - for stdin. --prompt is a Go template over the columns. With
--prompt NAME=... several questions are asked one after the other, and later ones may use
the answers to earlier ones: {{.NAME}}. Answers are read as in maker ask.

A record that cannot be read or has no winner does not end the others: it is in the
output with its status and reason, and the exit code is 3. maker resume RUN --retry
failed,undecided asks about those again. docs/map.md has more.`,
		Example: `  maker map tickets.csv --prompt 'Which queue? {{.subject}}: {{.body}}' --one-of billing,bug,other --out labels.csv
  maker map tickets.csv --prompt '...' --one-of billing,bug,other --sample 50
  maker map mails/ --prompt 'Is this spam? {{.text}}' --bool --out spam.jsonl
  maker map items.jsonl --prompt 'lang=Which language is this? {{.text}}' --prompt 'en=Translate to English from {{.lang}}: {{.text}}' --out out.csv`,
		Args: exactArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runMap(cmd, &flags, args[0]) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&flags.prompts, "prompt", nil, "template of the question over the columns; NAME=TEMPLATE, repeated, for several")
	f.StringVar(&flags.out, "out", "", "file to write: .csv, .tsv or .jsonl (default: CSV on stdout)")
	f.StringVar(&flags.gold, "gold", "", "column with known answers, where there are any, or a file of such records to mix in, with the same columns and one called answer: voters cannot tell, and accuracy is measured")
	numberFlag(f, &flags.sample, "sample", "", "0", 0, "ask about so many records only, chosen at random, show answers and dissent, and forecast the rest")
	numberFlag(f, &flags.confirm, "confirm-usd", "", "5", 0, "ask first if it will cost more dollars than this, by estimate")
	f.BoolVar(&flags.yes, "yes", false, "do not ask")
	f.BoolVar(&flags.dedupe, "dedupe", false, "ask about records with the same question once; takes some 100 bytes of memory for each different one while they are read")
	flags.answer.Register(f)
	flags.register(cmd, config.Mapping, nil)
	return cmd
}

// questions are those that the flags name.
func (f *mapFlags) questions(a *app) ([]maker.RecordQuestion, error) {
	as, err := f.answer.Reader(a.fileArg)
	if err != nil {
		return nil, usageError{err}
	}
	if len(f.prompts) == 0 {
		return nil, usageError{errors.New("--prompt is missing: a template of the question, such as 'Which queue? {{.subject}}'")}
	}
	gold, goldOf := f.gold, ""
	if name, column, ok := strings.Cut(f.gold, "="); ok {
		goldOf, gold = name, column
	}
	var list []maker.RecordQuestion
	for _, text := range f.prompts {
		q := maker.RecordQuestion{Prompt: text, As: as}
		if name, rest, ok := strings.Cut(text, "="); ok && isName(name) {
			q.Name, q.Prompt = name, rest
		} else if len(f.prompts) > 1 {
			return nil, usageError{fmt.Errorf("--prompt %s: with several questions each has a name: NAME=TEMPLATE", show.Line(text))}
		}
		if gold != "" && (goldOf == "" && len(f.prompts) == 1 || goldOf == q.Name && goldOf != "") {
			q.Gold, goldOf = gold, q.Name
			gold = ""
		}
		list = append(list, q)
	}
	if gold != "" {
		return nil, usageError{errors.New("--gold: with several questions say of which one: --gold NAME=COLUMN, or NAME=FILE")}
	}
	return list, nil
}

// isName reports whether a text can be the name of a question.
func isName(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

func (a *app) runMap(cmd *cobra.Command, flags *mapFlags, name string) (err error) {
	questions, err := flags.questions(a)
	if err != nil {
		return err
	}
	if a.json && flags.out == "" {
		return usageError{errors.New("--json prints events on stdout; --out names a file for the records")}
	}
	if flags.out != "" {
		if err := rows.CheckPath(flags.out); err != nil {
			return usageError{fmt.Errorf("--out %s: %w", flags.out, err)}
		}
	}
	source, err := rows.Open(name, a.In)
	if err != nil {
		return usageError{err}
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if flags.out != "" && source.IsAt(flags.out) {
		return usageError{fmt.Errorf("--out %s is the table itself: name another file", flags.out)}
	}
	source.Skip(a.logDir, flags.out)
	words, err := rows.Words(questions)
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", name, err)}
	}
	asked := source.Records
	if flags.dedupe {
		asked = func() iter.Seq2[maker.Record, error] { return rows.Different(source.Records(), words) }
	}
	survey, err := surveyed(source.Records(), words)
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", name, err)}
	}
	engine, err := flags.engine(a)
	if err != nil {
		return err
	}
	t := maker.Table{Source: source.Name, Records: source.Records(), Questions: questions, Dedupe: flags.dedupe}
	priced := survey // what is asked about
	if flags.dedupe {
		if priced, err = surveyed(asked(), words); err != nil {
			return usageError{fmt.Errorf("%s: %w", name, err)}
		}
	}
	if n := min(flags.sample, priced.Records); n > 0 {
		t.Records, t.Of = rows.Choose(asked(), n), priced.Records
		survey = priced.Part(n)
		priced = survey
	}
	known, err := rows.Known(questions, survey)
	if err != nil {
		return usageError{err}
	}
	t.Records = rows.Mix(t.Records, survey.Records, known)
	if err := a.mayCost(cmd, engine, flags, priced.With(known), len(questions)); err != nil {
		return err
	}
	run, err := engine.Map(cmd.Context(), t)
	if err != nil {
		return err
	}
	result, err := a.watch(cmd.Context(), run)
	if err != nil {
		return err
	}
	kept, err := runs.Open(run.Dir())
	if err != nil {
		return err
	}
	return a.finishMap(kept, result, flags.out)
}

// surveyed looks at all records before anybody is asked.
func surveyed(records iter.Seq2[maker.Record, error], words func(maker.Record) (string, error)) (rows.Survey, error) {
	s, err := rows.Take(records, words)
	switch {
	case err != nil:
	case s.Records == 0:
		err = errors.New("it has no records")
	case s.Bad == s.Records:
		err = fmt.Errorf("no record can be asked about: %w\nthe columns are %q", s.Why, s.Columns)
	}
	return s, err
}

// mayCost asks the person if it will cost much.
func (a *app) mayCost(cmd *cobra.Command, engine *maker.Engine, flags *mapFlags, s rows.Survey, questions int) error {
	e := engine.EstimateMap((s.Records-s.Bad)*questions, s.Bytes)
	if flags.yes || e.CostUSD == nil || *e.CostUSD <= flags.confirm || flags.config.MaxUSD > 0 {
		return nil
	}
	what := "records"
	if flags.dedupe {
		what = "different records"
	}
	about := fmt.Sprintf("%s %s, at least %s calls, about %s or more", report.Thousands(s.Records), what, report.Thousands(e.Calls), runs.DescribeCost(e.CostUSD))
	if !a.hasTerminal() {
		return usageError{fmt.Errorf("%s: nobody is there to agree; say --yes, or set --max-usd (--sample 50 tells more)", about)}
	}
	ok, err := a.confirm(cmd.Context(), about+". Go on?")
	if err == nil && !ok {
		err = usageError{errors.New("nothing was asked")}
	}
	return err
}

// finishMap writes the records with their answers and says what came of them.
func (a *app) finishMap(run *runs.Run, r *maker.Result, out string) error {
	switch {
	case out != "":
		if err := rows.WriteFile(out, run); err != nil {
			return fmt.Errorf("--out %s: %w\nthe answers are kept: maker show %s --out FILE writes them", out, err, r.Run)
		}
	case !a.json:
		if err := rows.Write(a.Out, run, ""); err != nil {
			return err
		}
	}
	a.table = true
	if out != "" && !a.quiet && !a.json {
		fmt.Fprintf(a.Err, "written to %s\n", show.Line(out))
	}
	return a.finish(r)
}

// ending is what is done at the end of a run that is resumed: its records are written to a
// file, if one is named.
func (a *app) ending(name, out string) (func(*maker.Result) error, error) {
	run, err := a.open(name)
	switch {
	case err == nil && run.Form() == event.FormRequests:
		return nil, usageError{errors.New(onTheServer(run.ID()))}
	case out == "":
		return a.finish, nil // whoever resumes it says what is wrong
	case err != nil:
		return nil, err
	}
	if run.Form() != event.FormRecords {
		return nil, usageError{fmt.Errorf("--out is about records, and %s has none", run.ID())}
	}
	if err := rows.CheckPath(out); err != nil {
		return nil, usageError{fmt.Errorf("--out %s: %w", out, err)}
	}
	return func(r *maker.Result) error { return a.finishMap(run, r, out) }, nil
}

// finishRecords says what came of the records of a run. Answers may be on stdout.
func (a *app) finishRecords(r *maker.Result) error {
	if a.quiet {
		if r.Status != event.StatusCompleted {
			fmt.Fprintf(a.Err, "%s: %s\n", r.Status, show.Line(r.Reason))
		}
		return nil
	}
	run, err := a.open(r.Run)
	if err != nil {
		return err
	}
	if err := a.sayRecords(a.Err, run, r); err != nil || a.table {
		return err
	}
	_, err = fmt.Fprintf(a.Err, "  table       %s --out FILE\n", a.showCommand(r.Run))
	return err
}

// sayRecords says what came of records, and of a sample with which answers and what dissent.
func (a *app) sayRecords(w io.Writer, run *runs.Run, r *maker.Result) error {
	p, err := run.RecordParams()
	if err != nil {
		return err
	}
	report.Records(w, r, p)
	if p.Of == 0 {
		return nil
	}
	width, _ := sizeOf(w)
	return rows.Overview(w, run, a.showCommand(r.Run)+" --contested", width)
}

// showCommand is how a run is looked at.
func (a *app) showCommand(run string) string {
	return strings.Replace(a.resumeCommand(run), "resume", "show", 1)
}

// writeRecords writes the records of a run with their answers to a file.
func writeRecords(run *runs.Run, out string) error {
	if err := rows.WriteFile(out, run); err != nil {
		return fmt.Errorf("--out %s: %w", filepath.Clean(out), err)
	}
	return nil
}
