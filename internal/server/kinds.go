package server

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/internal/text/table"
	"github.com/maker-mdap/maker/outline"
)

// What several kinds of run take.
var answerParam = Param{Name: "answer", Type: "answer", Help: "how answers are read: one_of, number, unit, within, bool, date, date_order, match, schema, vote_on, ignore, list, unordered; without it they are texts"}

// kinds are the kinds of run that can be started.
var kinds = []kind{
	{
		name: "run", title: "Plan a task, check the plan, and carry it out step by step", text: "the task in words", of: config.Run,
		params: []Param{{Name: "confirm", Type: "switch", Help: "ask before the plan is carried out"}}, begin: beginRun,
	},
	{
		name: "plan", title: "Make a plan for a task and check it", text: "the task in words", of: config.PlanOnly,
		begin: plain(func(ctx context.Context, e *maker.Engine, text string) (*maker.Run, error) { return e.Plan(ctx, text) }),
	},
	{
		name: "exec", title: "Carry out a plan", text: "the plan, as YAML or JSON", of: config.Exec,
		begin: piped(func(ctx context.Context, e *maker.Engine, text string) (*maker.Run, error) { return e.Exec(ctx, text) }),
	},
	{
		name: "validate", title: "Check a plan", text: "the plan, as YAML or JSON", of: config.Validate,
		begin: piped(func(ctx context.Context, e *maker.Engine, text string) (*maker.Run, error) {
			return e.Validate(ctx, text)
		}),
	},
	{
		name: "do", title: "Do the tasks of a text one after another, as they are written", text: "the tasks, one in a line or a sentence", of: config.Do,
		params: []Param{{Name: "attach", Type: "list", Help: "files and addresses that are shown with the tasks that mention them, or with all"}}, begin: beginDo,
	},
	{
		name: "solve", title: "Solve a problem without a plan: split it, vote on the parts, put them together", text: "the problem in words", of: config.Solving,
		begin: plain(func(ctx context.Context, e *maker.Engine, text string) (*maker.Run, error) { return e.Solve(ctx, text) }),
	},
	{
		name: "ask", title: "Ask one question, which several voters answer", text: "the question", of: config.Asking,
		params: []Param{answerParam, {Name: "show", Type: "list", Help: "what is shown with the question: objects with name and text, or with name, media_type and data in base64"}}, begin: beginAsk,
	},
	{
		name: "map", title: "Answer the same question for each record of a table", of: config.Mapping,
		params: []Param{
			{Name: "records", Type: "list", Required: true, Help: "the rows: objects by the names of columns"},
			{Name: "questions", Type: "list", Required: true, Help: "objects with prompt, a template over the columns such as {{.subject}}, and perhaps name and gold, the column with known answers"},
			answerParam,
			{Name: "dedupe", Type: "switch", Help: "ask about records with the same question once"},
			{Name: "source", Type: "text", Help: "where the records are from, for people"},
		}, begin: beginMap,
	},
	{
		name: "script", title: "Run a procedure of your own, written as a small script", text: "the script, in Starlark", of: config.Scripting,
		params: []Param{
			{Name: "name", Type: "text", Help: "of its file, for people"}, {Name: "files", Type: "object", Help: "texts of the files that it loads, by name"},
			{Name: "args", Type: "object", Help: "texts that main finds in args, by name"},
		}, begin: beginScript,
	},
	{
		name: "hanoi", title: "Solve the Towers of Hanoi, one voted move a step", of: config.Chain,
		params: []Param{
			{Name: "disks", Type: "number", Required: true, Help: "how many, 1 to " + strconv.Itoa(hanoi.MaxDisks) + ": 10 take a moment, 20 a million steps"},
			{Name: "verify", Type: "switch", Help: "discard illegal and inconsistent answers as red flags"},
			{Name: "no_check", Type: "switch", Help: "go on after a committed move that is not the solution's"},
		}, begin: beginHanoi,
	},
	{
		name: "calibrate", title: "Measure how often a model is right, and what a vote would gain", of: config.Measuring | config.Items, items: true,
		params: []Param{
			{Name: "items", Type: "list", Help: "objects with question and answer; without them the problems of a domain are asked"}, answerParam,
			{Name: "source", Type: "text", Help: "where the items are from, for people"},
		}, begin: beginCalibrate,
	},
}

type starter func(ctx context.Context, e *maker.Engine, text string) (*maker.Run, error)

// plain is a kind without parameters whose text is an argument.
func plain(start starter) func(order, *maker.Options) (*begun, error) {
	return func(o order, _ *maker.Options) (*begun, error) {
		if _, err := paramsOf[struct{}](o); err != nil {
			return nil, err
		}
		args, stdin := word(o.Task)
		return &begun{args: args, stdin: stdin, start: func(ctx context.Context, e *maker.Engine) (*maker.Run, error) { return start(ctx, e, o.Task) }}, nil
	}
}

// piped is a kind without parameters whose text is a file.
func piped(start starter) func(order, *maker.Options) (*begun, error) {
	return func(o order, opts *maker.Options) (*begun, error) {
		b, err := plain(start)(o, opts)
		if err == nil {
			b.args, b.stdin = []string{"-"}, o.Task
		}
		return b, err
	}
}

func beginRun(o order, opts *maker.Options) (*begun, error) {
	p, err := paramsOf[struct {
		Confirm bool `json:"confirm"`
	}](o)
	if err != nil {
		return nil, err
	}
	opts.Config.Plan.Confirm = p.Confirm
	args, stdin := word(o.Task)
	if !p.Confirm {
		args = append(args, "--yes")
	}
	return &begun{args: args, stdin: stdin, start: func(ctx context.Context, e *maker.Engine) (*maker.Run, error) { return e.Run(ctx, o.Task) }}, nil
}

func beginDo(o order, _ *maker.Options) (*begun, error) {
	p, err := paramsOf[struct {
		Attach []string `json:"attach"`
	}](o)
	if err != nil {
		return nil, err
	}
	tasks, err := outline.PlanTasks(o.Task, p.Attach...)
	if err != nil {
		return nil, bad("attach", "%v", err)
	}
	if len(tasks) == 0 {
		return nil, problemf(400, "task", "there is no task in the text")
	}
	args, stdin := []string{"-"}, o.Task // as an argument it could be the name of a file
	for _, a := range p.Attach {
		args = append(args, "--attach", a)
	}
	return &begun{args: args, stdin: stdin, start: func(ctx context.Context, e *maker.Engine) (*maker.Run, error) {
		return e.Do(ctx, o.Task, p.Attach...)
	}}, nil
}

// A shown is a text or a picture that is shown with a question.
type shown struct {
	Name      string `json:"name"`
	Text      string `json:"text"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

func beginAsk(o order, _ *maker.Options) (*begun, error) {
	p, err := paramsOf[struct {
		Answer answerForm `json:"answer"`
		Show   []shown    `json:"show"`
	}](o)
	if err != nil {
		return nil, err
	}
	as, err := p.Answer.reader()
	if err != nil {
		return nil, err
	}
	args, stdin := word(o.Task)
	args = append(args, p.Answer.args()...)
	var more []maker.AskOption
	for i, show := range p.Show {
		switch {
		case show.Name == "" || (show.Text == "") == (len(show.Data) == 0):
			return nil, bad("show", "the one at %d needs a name, and either a text or data", i)
		case len(show.Data) > 0:
			more = append(more, maker.WithImage(show.Name, show.MediaType, show.Data))
		default:
			more = append(more, maker.WithText(show.Name, show.Text))
		}
		args = append(args, "-f", show.Name)
	}
	return &begun{args: args, stdin: stdin, start: func(ctx context.Context, e *maker.Engine) (*maker.Run, error) {
		return e.Ask(ctx, o.Task, as, more...)
	}}, nil
}

// mostRecords is how many a request may bring. More belong into a file.
const mostRecords = 100_000

func beginMap(o order, _ *maker.Options) (*begun, error) {
	p, err := paramsOf[struct {
		Records   []map[string]any `json:"records"`
		Questions []struct {
			Name   string `json:"name"`
			Prompt string `json:"prompt"`
			Gold   string `json:"gold"`
		} `json:"questions"`
		Answer answerForm `json:"answer"`
		Dedupe bool       `json:"dedupe"`
		Source string     `json:"source"`
	}](o)
	if err != nil {
		return nil, err
	}
	switch {
	case len(p.Records) == 0:
		return nil, bad("records", "there are none")
	case len(p.Records) > mostRecords:
		return nil, bad("records", "there are %d, want at most %d; maker map takes a file of any length", len(p.Records), mostRecords)
	case len(p.Questions) == 0:
		return nil, bad("questions", "there are none")
	}
	as, err := p.Answer.reader()
	if err != nil {
		return nil, err
	}
	t := maker.Table{Source: source(p.Source, "the API"), Dedupe: p.Dedupe}
	args := []string{"-"}
	for i, q := range p.Questions {
		if strings.TrimSpace(q.Prompt) == "" {
			return nil, bad("questions", "the one at %d has no prompt", i)
		}
		t.Questions = append(t.Questions, maker.RecordQuestion{Name: q.Name, Prompt: q.Prompt, As: as, Gold: q.Gold})
		prompt, gold := q.Prompt, q.Gold
		if q.Name != "" {
			prompt, gold = q.Name+"="+q.Prompt, q.Name+"="+q.Gold
		}
		if args = append(args, "--prompt", prompt); q.Gold != "" {
			args = append(args, "--gold", gold)
		}
	}
	if args = append(args, p.Answer.args()...); p.Dedupe {
		args = append(args, "--dedupe")
	}
	t.Records = table.Objects(p.Records)
	var lines strings.Builder
	enc := json.NewEncoder(&lines)
	enc.SetEscapeHTML(false)
	for _, values := range p.Records[:min(len(p.Records), mostShown)] {
		_ = enc.Encode(values) // it came from JSON
	}
	return &begun{args: append(args, "--yes"), stdin: lines.String(), start: func(ctx context.Context, e *maker.Engine) (*maker.Run, error) {
		return e.Map(ctx, t)
	}}, nil
}

// mostShown is how many records a command line shows.
const mostShown = 20

func beginScript(o order, _ *maker.Options) (*begun, error) {
	p, err := paramsOf[struct {
		Name  string            `json:"name"`
		Files map[string]string `json:"files"`
		Args  map[string]string `json:"args"`
	}](o)
	if err != nil {
		return nil, err
	}
	if !utf8.ValidString(o.Task) {
		return nil, problemf(400, "task", "the script is not UTF-8")
	}
	s := maker.Script{Name: source(p.Name, "script.star"), Text: o.Task, Files: p.Files, Args: p.Args}
	if err := s.Check(); isA[*maker.ConfigError](err) {
		return nil, bad("args", "%v", err)
	} else if err != nil {
		return nil, problemf(400, "task", "%v", err)
	}
	args := []string{s.Name}
	for _, name := range slices.Sorted(maps.Keys(p.Args)) {
		args = append(args, "--arg", name+"="+p.Args[name])
	}
	return &begun{args: args, start: func(ctx context.Context, e *maker.Engine) (*maker.Run, error) { return e.Script(ctx, s) }}, nil
}

func beginHanoi(o order, opts *maker.Options) (*begun, error) {
	p, err := paramsOf[struct {
		Disks   int  `json:"disks"`
		Verify  bool `json:"verify"`
		NoCheck bool `json:"no_check"`
	}](o)
	if err != nil {
		return nil, err
	}
	params := hanoi.Params{Disks: p.Disks, Verify: p.Verify, NoCheck: p.NoCheck}
	if err := params.Validate(); err != nil {
		return nil, bad("disks", "%v", err)
	}
	// The paper's voters write text: JSON is only for those who ask for it.
	params.JSON = opts.Config.StructuredMode == "json_schema" || opts.Config.StructuredMode == "json_object"
	args := []string{"--disks", strconv.Itoa(p.Disks)}
	if p.Verify {
		args = append(args, "--verify")
	}
	if p.NoCheck {
		args = append(args, "--check=false")
	}
	return &begun{args: args, start: func(ctx context.Context, e *maker.Engine) (*maker.Run, error) {
		return e.Chain(ctx, hanoi.Name, params)
	}}, nil
}

func beginCalibrate(o order, opts *maker.Options) (*begun, error) {
	p, err := paramsOf[struct {
		Items []struct {
			Question string          `json:"question"`
			Answer   json.RawMessage `json:"answer"`
		} `json:"items"`
		Answer answerForm `json:"answer"`
		Source string     `json:"source"`
	}](o)
	if err != nil {
		return nil, err
	}
	if len(p.Items) == 0 {
		if len(p.Answer.args()) > 0 {
			return nil, bad("answer", "it is about items, and there are none")
		}
		return &begun{start: func(ctx context.Context, e *maker.Engine) (*maker.Run, error) {
			return e.Calibrate(ctx, opts.Config.Solve.Domain)
		}}, nil
	}
	as, err := p.Answer.reader()
	if err != nil {
		return nil, err
	}
	var items []maker.Item
	var lines strings.Builder
	for i, item := range p.Items {
		if item.Question == "" || len(item.Answer) == 0 {
			return nil, bad("items", "the one at %d needs a question and an answer", i)
		}
		items = append(items, maker.Item{Question: item.Question, Answer: item.Answer, Line: i + 1})
		if line, err := json.Marshal(item); err == nil && i < mostShown {
			lines.Write(append(line, '\n'))
		}
	}
	return &begun{args: append([]string{"--items", "-"}, p.Answer.args()...), stdin: lines.String(), start: func(ctx context.Context, e *maker.Engine) (*maker.Run, error) {
		return e.CalibrateItems(ctx, source(p.Source, "the API"), items, as)
	}}, nil
}
