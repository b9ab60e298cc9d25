package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/reader"
	"github.com/maker-mdap/maker/vote"
)

// askParams are the parameters of ask and act beyond the question itself.
var askParams = []string{
	"one_of", "number", "unit", "within", "bool", "date", "date_order", "match", "schema", "vote_on", "ignore", "list", "unordered",
	"compare", "k", "model", "framings", "otherwise",
}

// An asking is how a question is put and its answers are read, as a script says it.
type asking struct {
	oneOf, within, schema, voteOn, ignore  starlark.Value
	number, boolean, date, list, unordered bool
	unit, dateOrder, match                 string
	compare, model                         string
	k, framings                            int
	otherwise                              starlark.Value
}

// pairs are the parameters for [starlark.UnpackArgs].
func (a *asking) pairs() []any {
	return []any{
		"one_of??", &a.oneOf, "number?", &a.number, "unit?", &a.unit, "within??", &a.within, "bool?", &a.boolean, "date?", &a.date,
		"date_order?", &a.dateOrder, "match?", &a.match, "schema??", &a.schema, "vote_on??", &a.voteOn, "ignore??", &a.ignore,
		"list?", &a.list, "unordered?", &a.unordered, "compare?", &a.compare, "k?", atLeast(1, &a.k), "model?", &a.model, "framings?", &a.framings,
		"otherwise?", &a.otherwise,
	}
}

func askBuiltin(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var simple asking
	if prompt, ok := simple.unpack(args, kwargs); ok {
		return simple.ask(t, b.Name(), prompt, nil, 0)
	}
	var prompt string
	var a asking
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, append([]any{"prompt", &prompt}, a.pairs()...)...); err != nil {
		return nil, err
	}
	return a.ask(t, b.Name(), prompt, nil, 0)
}

// unpack takes the arguments of a simple question. Of others, which may be wrong, it is false.
func (a *asking) unpack(args starlark.Tuple, kwargs []starlark.Tuple) (prompt string, ok bool) {
	if len(args) != 1 {
		return "", false
	}
	if prompt, ok = starlark.AsString(args[0]); !ok {
		return "", false
	}
	for _, kv := range kwargs {
		name, _ := starlark.AsString(kv[0])
		switch v := kv[1].(type) {
		case *starlark.Dict:
			if name != "schema" {
				return "", false
			}
			a.schema = v
		case *starlark.List:
			if name != "one_of" {
				return "", false
			}
			a.oneOf = v
		case starlark.Int:
			n, err := starlark.AsInt32(v)
			switch {
			case err != nil:
				return "", false
			case name == "framings":
				a.framings = n
			case name == "k" && n >= 1:
				a.k = n
			default:
				return "", false
			}
		default:
			return "", false
		}
	}
	return prompt, true
}

// actBuiltin has a task done by agents with tools, whose calls are voted on.
func actBuiltin(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var task string
	var tools starlark.Value
	var a asking
	maxMoves := 0
	pairs := append([]any{"task", &task, "tools", &tools}, a.pairs()...)
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, append(pairs, "max_moves?", &maxMoves)...); err != nil {
		return nil, err
	}
	names, err := texts(tools)
	if err != nil {
		return nil, fmt.Errorf("act: tools: %w", err)
	}
	return a.ask(t, b.Name(), task, &flow.Work{Tools: names}, maxMoves)
}

// ask puts a question, with tools if there is work to do.
func (a *asking) ask(t *starlark.Thread, what, prompt string, work *flow.Work, maxMoves int) (starlark.Value, error) {
	s, err := scopeOf(t)
	if err != nil {
		if wrong := a.wrong(t, prompt); wrong != nil {
			return nil, fmt.Errorf("%s: %w", what, wrong)
		}
		return nil, err
	}
	if len(prompt) > maxPrompt {
		return nil, fmt.Errorf("%s: the question has %d bytes, and may have %d", what, len(prompt), maxPrompt)
	}
	q, as, err := a.question(t, s, prompt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	q.Work = work
	if s.known.room, err = asked(s.known.room, prompt, q, as); err != nil {
		return nil, err
	}
	key := s.key(t, what, s.known.room)
	var own bool
	q.Step, own = s.begin(key)
	if work != nil {
		q.Scope = s.scopeKey(key, own)
		if q.System, err = s.Prompts.Render(prompts.ExecutorSystem{}); err != nil {
			return nil, err
		}
		if err := s.usable(key, work.Tools); err != nil {
			return nil, err
		}
	}
	var done *event.StepCompleted // if the question is a step by itself, or others may settle it
	if own || s.Pool != "" {
		done = &event.StepCompleted{Step: q.Step, Title: titleOf(prompt)}
	}
	out, err := s.decide(key, q, maxMoves, done)
	if e, ok := err.(*overError); ok {
		e.where = callerOf(t)
	}
	if err != nil {
		return nil, err
	}
	v := out.Verdict
	if !own {
		if s.title == "" && !s.untitled {
			s.title = titleOf(prompt)
		}
		s.add(&out)
	}
	if v.Status != flow.Decided {
		if a.otherwise == nil {
			e := &stepError{step: q.Step, status: v.Status, reason: v.Reason, open: []string{s.prefix + key}}
			return nil, s.failStep(key, own, e, out.All(), out.CostUSD)
		}
		if v.Answer, err = toJSON(t, a.otherwise); err != nil {
			return nil, fmt.Errorf("%s: otherwise: %w", what, err)
		}
		if own {
			done.By = event.ByCode
		}
	}
	if own {
		done.Output, done.CostUSD, done.DurationMS = event.JSONValue(v.Answer), out.CostUSD, out.DurationMS
		if done.First == nil {
			done.Voting = out.Voting
		}
		s.complete(key, *done)
	}
	return fromJSON(t, v.Answer)
}

// decide asks the voters, and others where these do not agree.
func (s *scope) decide(key string, q *flow.Question, maxMoves int, done *event.StepCompleted) (out flow.Outcome, err error) {
	if q.Work != nil {
		acted, err := flow.Act(s.flow, key, q, maxMoves)
		if err != nil {
			return out, over(err)
		}
		return *acted, nil
	}
	q.Second = s.Pool != ""
	v, err := s.flow.Decide(key, q)
	if err != nil {
		return out, over(err)
	}
	if out.Take(v); v.Status != flow.Decided && s.Pool != "" {
		second, err := flow.AskSecond(s.flow, key, s.Pool, q, v, done)
		if err != nil {
			return out, over(err)
		}
		if second.Status == flow.Decided {
			out.Take(second)
		}
		out.Verdict = second
	}
	return out, nil
}

// add counts what a question of a step took that is more than the question.
func (s *scope) add(out *flow.Outcome) {
	switch {
	case out.Verdict == nil:
		return
	case s.taken.Verdict == nil:
		s.taken = flow.Outcome{Verdict: out.Verdict, Voting: out.Voting, CostUSD: out.CostUSD, DurationMS: out.DurationMS}
		return
	}
	v := *out.Verdict
	v.Voting, v.CostUSD, v.DurationMS = out.Voting, out.CostUSD, out.DurationMS
	s.taken.Take(&v)
}

// usable refuses tools that are not there.
func (s *scope) usable(key string, tools []string) error {
	u, err := flow.Usable(s.flow, key+"/usable", flow.Wanted{Tools: tools})
	if err != nil {
		return over(err)
	}
	for _, name := range tools {
		if why := u.Tools[name]; why != "" {
			return &stepError{step: s.at(), status: flow.Failed, reason: why, open: []string{s.prefix + key}}
		}
	}
	return nil
}

// asked is what makes a question the one it is: what the script says of it, in whatever words
// it is then put. It is a list as JSON: the prompt, how it is answered, whether answers are
// compared by what they mean, the model and the tools. It is written into room, if that is large
// enough.
func asked(room []byte, prompt string, q *flow.Question, as *prepared) ([]byte, error) {
	var err error
	tools := []byte("null")
	if q.Work != nil {
		if tools, err = json.Marshal(q.Work.Tools); err != nil {
			return nil, err
		}
	}
	b, err := appendQuoted(append(room[:0], '['), prompt)
	if err != nil {
		return nil, err
	}
	b = append(append(b, ','), as.encoded...)
	b = strconv.AppendBool(append(b, ','), q.Meaning != nil)
	if b, err = appendQuoted(append(b, ','), q.Model); err != nil {
		return nil, err
	}
	b = append(append(b, ','), tools...)
	return append(b, ']'), nil
}

// appendQuoted appends a text as encoding/json writes it.
func appendQuoted(b []byte, text string) ([]byte, error) {
	at := len(b)
	b = append(b, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\n':
			b = append(b, `\n`...)
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c > '~' || c == '<' || c == '>' || c == '&':
			quoted, err := json.Marshal(text)
			return append(b[:at], quoted...), err
		default:
			b = append(b, c)
		}
	}
	return append(b, '"'), nil
}

// wrong is why a question cannot be asked in any run, nil if it can.
func (a *asking) wrong(t *starlark.Thread, prompt string) error {
	if err := a.worded(prompt); err != nil {
		return err
	}
	_, err := a.reader(t)
	return err
}

// worded refuses what nobody can be asked, however it is answered.
func (a *asking) worded(prompt string) error {
	if strings.TrimSpace(prompt) == "" {
		return errors.New("the question is empty")
	}
	switch a.compare {
	case "", "meaning", "exact":
		return nil
	}
	return fmt.Errorf("compare = %q, want \"meaning\" or \"exact\"", a.compare)
}

// question puts a question into words.
func (a *asking) question(t *starlark.Thread, s *scope, prompt string) (*flow.Question, *prepared, error) {
	if err := a.worded(prompt); err != nil {
		return nil, nil, err
	}
	as, err := a.prepared(t, s)
	if err != nil {
		return nil, nil, err
	}
	q := &flow.Question{Terms: s.Terms, Model: a.model, Answer: as.format, Schema: as.schema}
	if a.compare == "meaning" || a.compare == "" && s.Meaning {
		q.Meaning = &flow.Meaning{}
	}
	if a.k > 0 {
		q.Rule.Strategy, q.Rule.K = vote.FirstToK, a.k
		if most := q.Rule.MaxSamples; a.k > most {
			return nil, nil, fmt.Errorf("k = %d needs as many votes, and --max-samples is %d: take a smaller k, or more samples", a.k, most)
		}
		if err := q.Rule.Validate(); err != nil {
			return nil, nil, fmt.Errorf("k: %w", err)
		}
	}
	return q, as, as.asker.Put(q, prompt)
}

// A prepared reader is all that a question needs of it.
type prepared struct {
	format  flow.Format
	schema  json.RawMessage
	encoded []byte // the format, as JSON
	asker   *prompts.Asker
}

// A form is what has to be the same for a reader to be the same.
type form struct {
	oneOf, within, schema, voteOn, ignore           starlark.Value
	number, boolean, date, list, unordered, meaning bool
	unit, dateOrder, match                          string
	framings                                        int
}

func (a *asking) form() form {
	return form{
		orNone(a.oneOf), orNone(a.within), orNone(a.schema), orNone(a.voteOn), orNone(a.ignore), a.number, a.boolean, a.date, a.list, a.unordered, a.compare == "meaning",
		a.unit, a.dateOrder, a.match, a.framings,
	}
}

// constant reports whether a form says the same wherever it comes up again: what it refers
// to stands outside of functions, so that nothing can change it.
func (f *form) constant(r *runner) bool {
	for _, v := range []starlark.Value{f.oneOf, f.within, f.schema, f.voteOn, f.ignore} {
		switch v.(type) {
		case starlark.NoneType:
		case *starlark.List, *starlark.Dict:
			if !r.constants[v] {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// prepared is how answers are read. The turns of a chain mostly read alike, so that what was
// prepared is kept for the next.
func (a *asking) prepared(t *starlark.Thread, s *scope) (*prepared, error) {
	f := a.form()
	constant := f.constant(s.runner)
	if constant && s.known.forms[f] != nil {
		return s.known.forms[f], nil
	}
	text, err := toJSON(t, starlark.Tuple{
		f.oneOf, f.within, f.schema, f.voteOn, f.ignore, starlark.Bool(f.number), starlark.Bool(f.boolean), starlark.Bool(f.date), starlark.Bool(f.list), starlark.Bool(f.unordered),
		starlark.String(f.unit), starlark.String(f.dateOrder), starlark.String(f.match), starlark.Bool(f.meaning), starlark.MakeInt(f.framings),
	})
	if err != nil {
		return nil, err
	}
	p := s.known.texts[string(text)]
	if p == nil {
		if p, err = a.prepare(t, s); err != nil {
			return nil, err
		}
		if len(s.known.texts) < maxKnown {
			s.known.texts[string(text)] = p
		}
	}
	if constant && len(s.known.forms) < maxKnown {
		s.known.forms[f] = p
	}
	return p, nil
}

func (a *asking) prepare(t *starlark.Thread, s *scope) (*prepared, error) {
	as, err := a.reader(t)
	if err != nil {
		return nil, err
	}
	var q flow.Question
	reader.Put(&q, as)
	p := &prepared{format: q.Answer, schema: q.Schema}
	if p.encoded, err = json.Marshal(q.Answer); err != nil {
		return nil, err
	}
	set := s.Prompts
	if a.framings > 0 {
		set = set.Limited(a.framings)
	}
	p.asker, err = set.Asker(reader.Instructions(as, prompts.MaxFramings))
	return p, err
}

// known are the readers that were prepared in a line of execution: by what they say, and those
// that say the same for ever also by what they refer to.
type known struct {
	texts map[string]*prepared
	forms map[form]*prepared
	room  []byte // for what is asked
}

func newKnown() *known { return &known{texts: map[string]*prepared{}, forms: map[form]*prepared{}} }

// maxKnown is how many readers are kept.
const maxKnown = 100

// reader is how answers are read.
func (a *asking) reader(t *starlark.Thread) (reader.Reader, error) {
	c := reader.Choice{Number: a.number, Unit: a.unit, Bool: a.boolean, Date: a.date, DateOrder: a.dateOrder, List: a.list, Unordered: a.unordered}
	var err error
	if a.oneOf != nil {
		if c.OneOf, err = texts(a.oneOf); err != nil {
			return nil, fmt.Errorf("one_of: %w", err)
		}
	}
	switch within := a.within.(type) {
	case nil:
	case starlark.Int, starlark.Float:
		c.Within = within.String()
	case starlark.String:
		c.Number, c.Within = true, string(within)
	default:
		return nil, fmt.Errorf("within: got %s, want a number or a percentage such as \"1%%\"", within.Type())
	}
	if a.match != "" {
		c.Match = &a.match
	}
	if a.schema != nil {
		if c.Schema, err = a.fields(t); err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
	}
	if _, ok := c.Schema.(reader.JSON); !ok && (a.voteOn != nil || a.ignore != nil) {
		return nil, errors.New("vote_on and ignore name fields of a JSON schema; of other schemas, fields of the type prose are not voted on")
	}
	return c.Reader(func(parameter string) string { return parameter })
}

// fields reads a schema: a JSON schema, or a mapping of fields to what they are.
func (a *asking) fields(t *starlark.Thread) (reader.Reader, error) {
	d, ok := a.schema.(*starlark.Dict)
	if !ok {
		return nil, fmt.Errorf("got %s, want a mapping of fields to their types", a.schema.Type())
	}
	if isJSONSchema(d) {
		data, err := toJSON(t, d)
		if err != nil {
			return nil, err
		}
		j := reader.JSON{Schema: data}
		if a.voteOn != nil {
			if j.VoteOn, err = texts(a.voteOn); err != nil {
				return nil, fmt.Errorf("vote_on: %w", err)
			}
		}
		if a.ignore != nil {
			if j.Ignore, err = texts(a.ignore); err != nil {
				return nil, fmt.Errorf("ignore: %w", err)
			}
		}
		return j, nil
	}
	return objectOf(d, a.compare == "meaning", 0)
}

// isJSONSchema reports whether a mapping is a schema rather than fields with their types.
func isJSONSchema(d *starlark.Dict) bool {
	if v, ok, _ := d.Get(starlark.String("properties")); ok {
		_, nested := v.(*starlark.Dict)
		return nested
	}
	v, ok, _ := d.Get(starlark.String("type"))
	s, isText := starlark.AsString(v)
	return ok && isText && (s == "object" || s == "array") && d.Len() > 1
}

// objectOf reads fields with their types. Prose is not voted on, unless texts are compared by
// what they say or there is nothing else.
func objectOf(d *starlark.Dict, meaning bool, depth int) (reader.Reader, error) {
	if depth > maxDepth {
		return nil, errDeep
	}
	var o reader.Object
	aside := 0
	for k, v := range starlark.Entries(d) {
		name, ok := starlark.AsString(k)
		if !ok {
			return nil, fmt.Errorf("the name of a field is a %s, want a string", k.Type())
		}
		f := reader.Field{Name: name}
		var err error
		switch v := v.(type) {
		case starlark.String:
			f.Of, f.Prose, err = typeOf(string(v))
		case *starlark.List, starlark.Tuple:
			var options []string
			options, err = texts(v)
			f.Of = reader.OneOf{Options: options}
		case *starlark.Dict:
			f.Of, err = objectOf(v, meaning, depth+1)
		default:
			err = fmt.Errorf("got %s, want a type, a list of options or a mapping", v.Type())
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if f.Prose {
			aside++
		}
		o.Fields = append(o.Fields, f)
	}
	if meaning || aside == len(o.Fields) {
		for i := range o.Fields {
			o.Fields[i].Prose = false
		}
	}
	return o, nil
}

// typeOf is how a field of a type is read, and whether it is prose.
func typeOf(name string) (as reader.Reader, prose bool, err error) {
	if inner, ok := strings.CutPrefix(name, "list of "); ok {
		as, prose, err = typeOf(strings.TrimSuffix(inner, "s"))
		return reader.List{Of: as}, prose, err
	}
	switch name {
	case "string":
		return reader.Text{}, false, nil
	case "prose", "text":
		return reader.Text{}, true, nil
	case "integer":
		return reader.Number{Integer: true}, false, nil
	case "number":
		return reader.Number{}, false, nil
	case "bool", "boolean":
		return reader.Bool{}, false, nil
	case "date":
		return reader.Date{}, false, nil
	}
	return nil, false, fmt.Errorf("%q is no type; there are string, prose, integer, number, bool, date, \"list of strings\" and the like, a list of options, and a mapping of further fields", name)
}

const maxTitle = 80

// titleOf is what a step is called.
func titleOf(prompt string) string { return clip.Words(prompt, maxTitle) }
