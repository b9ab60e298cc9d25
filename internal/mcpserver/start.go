package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/text/table"
)

// A Shown is a text that is shown with a question.
type Shown struct {
	Name string `json:"name" jsonschema:"what it is called, such as a file name"`
	Text string `json:"text" jsonschema:"all of it"`
}

// AskInput is what the tool ask takes.
type AskInput struct {
	Question string  `json:"question" jsonschema:"one question that can be answered from itself and the context alone: voters see nothing else"`
	Context  []Shown `json:"context,omitempty" jsonschema:"texts that are shown with the question"`
	Answer
	Choice
}

func (s *Server) ask(ctx context.Context, req *mcp.CallToolRequest, in AskInput) (*Standing, error) {
	if strings.TrimSpace(in.Question) == "" {
		return nil, errors.New("question is empty; say what is to be answered")
	}
	as, err := in.reader()
	if err != nil {
		return nil, err
	}
	var shown []maker.AskOption
	for i, c := range in.Context {
		if strings.TrimSpace(c.Name) == "" || strings.TrimSpace(c.Text) == "" {
			return nil, fmt.Errorf("context: the one at %d needs a name and a text", i)
		}
		shown = append(shown, maker.WithText(c.Name, c.Text))
	}
	o, err := s.options(config.Asking, in.Choice)
	if err != nil {
		return nil, err
	}
	return s.start(ctx, req, o, func(ctx context.Context, e *maker.Engine) (*maker.Run, error) {
		return e.Ask(ctx, in.Question, as, shown...)
	})
}

// RunInput is what the tool run takes.
type RunInput struct {
	Task string `json:"task" jsonschema:"the task in words, with all that somebody must know who sees nothing else"`
	Choice
}

func (s *Server) run(ctx context.Context, req *mcp.CallToolRequest, in RunInput) (*Standing, error) {
	if strings.TrimSpace(in.Task) == "" {
		return nil, errors.New("task is empty; say what is to be done")
	}
	o, err := s.options(config.Run, in.Choice)
	if err != nil {
		return nil, err
	}
	return s.start(ctx, req, o, func(ctx context.Context, e *maker.Engine) (*maker.Run, error) { return e.Run(ctx, in.Task) })
}

// ScriptInput is what the tool script takes.
type ScriptInput struct {
	Script string            `json:"script" jsonschema:"the script in Starlark, with a function main"`
	Args   map[string]string `json:"args,omitempty" jsonschema:"texts that main finds in args"`
	Choice
}

func (s *Server) script(ctx context.Context, req *mcp.CallToolRequest, in ScriptInput) (*Standing, error) {
	if !utf8.ValidString(in.Script) {
		return nil, errors.New("script is not UTF-8")
	}
	script := maker.Script{Name: "script.star", Text: in.Script, Args: in.Args}
	if err := script.Check(); err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	o, err := s.options(config.Scripting, in.Choice)
	if err != nil {
		return nil, err
	}
	return s.start(ctx, req, o, func(ctx context.Context, e *maker.Engine) (*maker.Run, error) { return e.Script(ctx, script) })
}

// MapInput is what the tool map takes.
type MapInput struct {
	Prompt  string           `json:"prompt" jsonschema:"the question about each record, as a Go template over its columns: Which queue? {{.subject}}: {{.body}}"`
	Records []map[string]any `json:"records,omitempty" jsonschema:"the records, as objects by the names of columns; or leave them out and name a file"`
	File    string           `json:"file,omitempty" jsonschema:"a file below the server's working folder with the records: CSV, TSV or JSON objects on lines"`
	Gold    string           `json:"gold,omitempty" jsonschema:"the column with known answers, where there are any: it is not shown to voters, and says how many answers are right"`
	Dedupe  bool             `json:"dedupe,omitempty" jsonschema:"ask about records with the same question once"`
	Answer
	Choice
}

// What a table may hold, and what it may cost without a limit.
const (
	mostRecords = 10_000 // in a call; more belong into a file
	mostFile    = 1 << 30
	mostUSD     = 5
)

func (s *Server) mapRecords(ctx context.Context, req *mcp.CallToolRequest, in MapInput) (*Standing, error) {
	if strings.TrimSpace(in.Prompt) == "" {
		return nil, errors.New("prompt is empty; want a template of the question, such as: Which queue? {{.subject}}")
	}
	as, err := in.reader()
	if err != nil {
		return nil, err
	}
	records, source, err := s.records(in)
	if err != nil {
		return nil, err
	}
	o, err := s.options(config.Mapping, in.Choice)
	if err != nil {
		return nil, err
	}
	if err := s.survey(in, records, o); err != nil {
		return nil, err
	}
	question := maker.RecordQuestion{Prompt: in.Prompt, As: as, Gold: in.Gold}
	return s.start(ctx, req, o, func(ctx context.Context, e *maker.Engine) (*maker.Run, error) {
		return e.Map(ctx, maker.Table{Source: source, Records: records, Questions: []maker.RecordQuestion{question}, Dedupe: in.Dedupe})
	})
}

// records are those of a call, which can be read several times.
func (s *Server) records(in MapInput) (iter.Seq2[maker.Record, error], string, error) {
	switch {
	case (len(in.Records) > 0) == (in.File != ""):
		return nil, "", errors.New("want either records or the name of a file that has some")
	case len(in.Records) > mostRecords:
		return nil, "", fmt.Errorf("records: there are %d, want at most %d; write them to a file and name that", len(in.Records), mostRecords)
	case in.File != "":
		return s.inFile(in.File)
	}
	return table.Objects(in.Records), "an agent's call", nil
}

// inFile are the records of a file below the folder, whatever links there are.
func (s *Server) inFile(name string) (iter.Seq2[maker.Record, error], string, error) {
	refused := func(err error) error {
		return fmt.Errorf("file: %w; want a file below the working folder of the server, named from there", err)
	}
	open := func() (*os.File, error) {
		root, err := os.OpenRoot(s.o.Folder)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		info, err := root.Stat(name)
		switch {
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular(): // a pipe would keep everybody waiting
			return nil, fmt.Errorf("%s is not a plain file", name)
		case info.Size() > mostFile:
			return nil, fmt.Errorf("%s has %d bytes, more than %d", name, info.Size(), mostFile)
		}
		return root.Open(name)
	}
	f, err := open()
	if err != nil {
		return nil, "", refused(err)
	}
	f.Close()
	comma := ','
	if strings.EqualFold(filepath.Ext(name), ".tsv") {
		comma = '\t'
	}
	return func(yield func(maker.Record, error) bool) {
		f, err := open()
		if err != nil {
			yield(maker.Record{}, refused(err))
			return
		}
		defer f.Close()
		for r, err := range table.Scan(io.LimitReader(f, mostFile), comma) {
			if !yield(r, err) {
				return
			}
		}
	}, filepath.Base(name), nil
}

// survey looks at all records before anybody is asked: whether there are any that can be asked
// about, and what that will cost.
func (s *Server) survey(in MapInput, records iter.Seq2[maker.Record, error], o *maker.Options) error {
	var hidden []string
	if in.Gold != "" {
		hidden = append(hidden, in.Gold)
	}
	prompt, err := table.NewPrompt(in.Prompt, hidden...)
	if err != nil {
		return fmt.Errorf("prompt: %w", err)
	}
	var good, bad int
	var size int64
	var why error
	var columns []string
	for r, err := range records {
		if _, one := errors.AsType[*maker.RecordError](err); err != nil && !one {
			return err
		}
		var words string
		if err == nil {
			words, err = prompt.Render(r)
		}
		if err == nil {
			good, size = good+1, size+int64(len(words))
			continue
		}
		if bad++; why == nil {
			why, columns = err, r.Columns
		}
	}
	switch {
	case good+bad == 0:
		return errors.New("there are no records")
	case good == 0:
		return fmt.Errorf("no record can be asked about: %w; the columns are %q", why, columns)
	}
	engine, err := s.o.Engine.With(o)
	if err != nil {
		return err
	}
	if e := engine.EstimateMap(good, size); e.CostUSD != nil && *e.CostUSD > mostUSD && o.Config.MaxUSD == 0 {
		return fmt.Errorf("%d records take at least %d calls and about $%.2f or more; ask the person how much it may cost, and say so with max_usd", good, e.Calls, *e.CostUSD)
	}
	return nil
}

// start starts a run, waits a while for its end and says how it stands.
func (s *Server) start(ctx context.Context, req *mcp.CallToolRequest, o *maker.Options, start func(ctx context.Context, e *maker.Engine) (*maker.Run, error)) (*Standing, error) {
	j, err := s.begin(o, start)
	if err != nil {
		return nil, err
	}
	if err := s.wait(ctx, req, j, s.o.Wait); err != nil {
		j.end(maker.ErrPaused) // nobody was told its name
		return nil, err
	}
	return s.standing(j.run.Dir(), j, 0)
}
