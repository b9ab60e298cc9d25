package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	models "github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/runs"
)

// An order is a run that is to be started.
type order struct {
	Kind     string          `json:"kind"`
	Task     string          `json:"task,omitempty"`
	Settings map[string]any  `json:"settings,omitempty"` // by the names of package config
	Params   json.RawMessage `json:"params,omitempty"`   // of the kind
}

// A begun is what an order came to.
type begun struct {
	start func(ctx context.Context, e *maker.Engine) (*maker.Run, error)
	args  []string // of the command that does the same, without settings
	stdin string   // what it reads
}

// A kind is one of the kinds of run that can be started.
type kind struct {
	name   string
	title  string
	text   string // what the text of an order is; empty if it has none
	of     config.Kinds
	params []Param

	// items says that it is another kind of run if the parameters have items.
	items bool

	// begin reads the parameters. The options are those of the run, and may be changed.
	begin func(o order, opts *maker.Options) (*begun, error)
}

// A Param is something that a kind of run takes beside settings.
type Param struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // text, number, switch, list, object or answer
	Help     string `json:"help"`
	Required bool   `json:"required,omitempty"`
}

// A KindInfo describes a kind of run that can be started.
type KindInfo struct {
	Name     string        `json:"name"`
	Title    string        `json:"title"`
	Text     string        `json:"text"` // what the task is: empty if there is none
	Params   []Param       `json:"params"`
	Settings []SettingInfo `json:"settings"`
}

// A SettingInfo describes a setting of a kind of run.
type SettingInfo struct {
	Name    string   `json:"name"`
	Flag    string   `json:"flag"`
	Help    string   `json:"help"`
	Type    string   `json:"type"` // number, duration, word, text, list or switch
	Default string   `json:"default"`
	Choices []string `json:"choices,omitempty"`
	Group   string   `json:"group"`
	Trusted bool     `json:"needs_trust,omitempty"`
	Stays   bool     `json:"stays,omitempty"` // a resume cannot change it
}

func (s *Server) listKinds(w http.ResponseWriter, _ *http.Request) error {
	list := []KindInfo{}
	for _, k := range kinds {
		info := KindInfo{Name: k.name, Title: k.title, Text: k.text, Params: k.params, Settings: []SettingInfo{}}
		if info.Params == nil {
			info.Params = []Param{}
		}
		for _, d := range config.Settings() {
			if settable(d, k.of) {
				info.Settings = append(info.Settings, SettingInfo{
					Name: d.Name, Flag: d.Flag(), Help: d.Help, Type: typeOf(d), Default: defaultOf(d, k), Choices: d.Choices, Group: d.Group,
					Trusted: d.NeedsTrust, Stays: d.Stays,
				})
			}
		}
		list = append(list, info)
	}
	return give(w, http.StatusOK, KindList{list})
}

func settable(d *config.Setting, k config.Kinds) bool {
	return d.For&k != 0 && d.OfRuns()
}

// typeOf is what kind of value a setting has.
func typeOf(d *config.Setting) string {
	if v := d.Value(&config.Config{}); v != nil {
		return v.Type()
	}
	switch {
	case len(d.Choices) > 0:
		return "word"
	case d.Name == "plan_voting":
		return "switch"
	case d.Name == "max_replans":
		return "number"
	}
	return "text"
}

// defaultOf is what a setting is if nobody says anything.
func defaultOf(d *config.Setting, k kind) string {
	if d.Name == "model" && k.of == config.Chain {
		return "sim/default"
	}
	return d.DefaultFor(k.of & -k.of)
}

// kindOf finds a kind by its name.
func kindOf(name string) (kind, error) {
	var names []string
	for _, k := range kinds {
		if k.name == name {
			return k, nil
		}
		names = append(names, k.name)
	}
	return kind{}, problemf(http.StatusBadRequest, "kind", "there is no kind of run %q; want one of %s", name, joined(names))
}

// mayAll refuses settings that a caller may not set, and files that would be read for one who
// may not answer.
func (s *Server) mayAll(c Caller, given map[string]any) error {
	for name, v := range given {
		d := config.Find(name)
		if d == nil {
			continue
		}
		if !c.MaySet(d.Name) {
			return problemf(http.StatusForbidden, "settings."+d.Name, "this token may not set %s, which could run programs, let calls pass or send data elsewhere; one with the scope answer may", d.Name)
		}
		list, _ := config.Texts(v) // what is no value is refused as one
		for _, text := range list {
			if opens(d, text) && !c.MayAnswer() {
				return problemf(http.StatusForbidden, "settings."+d.Name, "this token may not have the file read that %s names; one with the scope answer may", d.Name)
			}
			if d.Name == "warm" && !s.mayWarm(c, text) {
				return problemf(http.StatusNotFound, "settings.warm", "there is no run %q; this token names one of its runs in full", text)
			}
		}
	}
	return nil
}

// mayWarm reports whether a caller may begin with what another run learnt. Whoever may not see and
// answer everything has to name one of their own, so that nothing is learnt about others.
func (s *Server) mayWarm(c Caller, name string) bool {
	if c.MaySeeAll() && c.MayAnswer() {
		return true
	}
	if !isRunName(name) {
		return false
	}
	run, err := runs.Open(filepath.Join(s.o.LogDir, name))
	return err == nil && c.MaySee(run.Owner())
}

// opens reports whether the value of a setting names a file.
func opens(d *config.Setting, text string) bool {
	switch d.Names {
	case config.Nothing:
		return false
	case config.InModels:
		return len(models.Scripts(text)) > 0
	case config.AsFlags:
		return strings.ContainsAny(text, `./\`) // no preset has these
	}
	return text != ""
}

// texts are settings as the command line takes them: numbers, truth values and lists are fine
// too.
func texts(given map[string]any) (map[string][]string, error) {
	out := map[string][]string{}
	for name, v := range given {
		d := config.Find(name)
		field := "settings." + name
		if d == nil || !d.OfRuns() {
			return nil, problemf(http.StatusBadRequest, field, "there is no setting %s of a run; GET /api/kinds lists those that there are", name)
		}
		if _, twice := out[d.Name]; twice {
			return nil, problemf(http.StatusBadRequest, field, "%s is there under two names", d.Name)
		}
		var err error
		if out[d.Name], err = config.Texts(v); err != nil {
			return nil, problemf(http.StatusBadRequest, field, "%s: %v", field, err)
		}
	}
	return out, nil
}

// UnmarshalJSON keeps numbers as they are written.
func (o *order) UnmarshalJSON(data []byte) error {
	type plain order
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	return dec.Decode((*plain)(o))
}

// UnmarshalJSON keeps numbers as they are written.
func (in *resumption) UnmarshalJSON(data []byte) error {
	type plain resumption
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	return dec.Decode((*plain)(in))
}

// prepared is an order that can be started.
type prepared struct {
	*begun
	kind    kind
	options *maker.Options
	given   map[string][]string
	longest string // field of the order
}

// longest is the longest field of an order.
func (o *order) longest() string {
	longest, most := "task", len(o.Task)
	params, _ := paramsOf[map[string]json.RawMessage](*o) // what cannot be read is refused elsewhere
	for name, value := range params {
		if len(value) > most {
			longest, most = "params."+name, len(value)
		}
	}
	for name, value := range o.Settings {
		list, _ := config.Texts(value) // likewise
		if n := len(strings.Join(list, "")); n > most {
			longest, most = "settings."+name, n
		}
	}
	return longest
}

// prepareOrder reads an order and finds what is wrong with it.
func (s *Server) prepareOrder(w http.ResponseWriter, r *http.Request) (*prepared, error) {
	c := s.o.Caller(r.Context())
	if err := may(c.MayWrite(), "start runs"); err != nil {
		return nil, err
	}
	var o order
	if err := read(w, r, &o); err != nil {
		return nil, err
	}
	k, err := kindOf(o.Kind)
	if err != nil {
		return nil, err
	}
	if k.items {
		k.of = config.Measuring
		if p, err := paramsOf[map[string]json.RawMessage](o); err == nil && len(p["items"]) > len("[]") {
			k.of = config.Items
		}
	}
	switch empty := strings.TrimSpace(o.Task) == ""; {
	case empty && k.text != "":
		return nil, problemf(http.StatusBadRequest, "task", "the task is empty: it is %s", k.text)
	case !empty && k.text == "":
		return nil, problemf(http.StatusBadRequest, "task", "%s takes no text", k.name)
	}
	if err := s.mayAll(c, o.Settings); err != nil {
		return nil, err
	}
	if p, err := paramsOf[map[string]json.RawMessage](o); err == nil && len(p["attach"]) > len("[]") && !c.MayAnswer() {
		return nil, problemf(http.StatusForbidden, "params.attach", "this token may not have files read; one with the scope answer may")
	}
	given, err := texts(o.Settings)
	if err != nil {
		return nil, err
	}
	for name := range given {
		if !settable(config.Find(name), k.of) {
			return nil, problemf(http.StatusBadRequest, "settings."+name, "%s has no setting %s", k.name, name)
		}
	}
	opts, err := s.o.Settings(k.of, given)
	if err != nil {
		return nil, err
	}
	s.prepare(opts, c.Owner())
	b, err := k.begin(o, opts)
	if err != nil {
		return nil, err
	}
	return &prepared{b, k, opts, given, o.longest()}, nil
}

func (s *Server) startRun(w http.ResponseWriter, r *http.Request) error {
	p, err := s.prepareOrder(w, r)
	if err != nil {
		return err
	}
	held, err := s.o.Reserve(r.Context(), Spending{MaxUSD: p.options.Config.MaxUSD})
	if err != nil {
		return problemf(http.StatusForbidden, "settings.max_usd", "%v", err)
	}
	if held.USD > 0 {
		p.options.Config.MaxUSD = held.USD
	}
	engine, err := s.o.Engine.With(p.options)
	if err != nil {
		held.settle(new(float64))
		return err
	}
	run, err := s.begin(held, runs.Progress{}, func(ctx context.Context) (*maker.Run, error) { return p.start(ctx, engine) })
	if long, ok := errors.AsType[*runs.TooLongError](err); ok {
		return problemf(http.StatusRequestEntityTooLarge, p.longest, "%s is too long: with it the first event of the log has %d bytes, and at most %d fit; put large texts into files that the task names", p.longest, long.Length, long.Most)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/runs/"+run.ID())
	return give(w, http.StatusCreated, StartedRun{named(runs.Summarize(run.Dir())), p.command()})
}

func (s *Server) previewRun(w http.ResponseWriter, r *http.Request) error {
	p, err := s.prepareOrder(w, r)
	if err != nil {
		return err
	}
	if _, err := s.o.Engine.With(p.options); err != nil { // which checks them
		return err
	}
	return give(w, http.StatusOK, Preview{p.command()})
}

// command is the command line that does the same in the folder of the server.
func (p *prepared) command() string {
	words := append([]string{"maker", p.kind.name}, p.args...)
	for _, d := range config.Settings() {
		for _, text := range p.given[d.Name] {
			switch {
			case typeOf(d) == "switch" && text == "true":
				words = append(words, "--"+d.Flag())
			case typeOf(d) == "switch", strings.HasPrefix(text, "-"):
				words = append(words, "--"+d.Flag()+"="+text)
			default:
				words = append(words, "--"+d.Flag(), text)
			}
		}
	}
	for i := range words {
		words[i] = quoted(words[i])
	}
	line := strings.Join(words, " ")
	if p.stdin == "" {
		return line
	}
	end := "END"
	for strings.Contains("\n"+p.stdin+"\n", "\n"+end+"\n") {
		end += "_"
	}
	return line + " <<'" + end + "'\n" + strings.TrimSuffix(p.stdin, "\n") + "\n" + end
}

// quoted is a word as a shell wants it.
func quoted(word string) string {
	safe := func(r rune) bool {
		return strings.ContainsRune("/.-_=:,@%+", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !safe(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// paramsOf reads the parameters of an order.
func paramsOf[P any](o order) (P, error) {
	var p P
	if len(o.Params) == 0 || string(o.Params) == "null" {
		return p, nil
	}
	return p, decode(o.Params, &p, "params")
}

// word is a text as an argument: one that a command would take for something else is given
// otherwise.
func word(text string) (args []string, stdin string) {
	if strings.HasPrefix(text, "-") {
		return []string{"-"}, text
	}
	return []string{text}, ""
}

// bad names a parameter that is wrong.
func bad(name, format string, args ...any) error {
	return problemf(http.StatusBadRequest, "params."+name, "params.%s: %s", name, fmt.Sprintf(format, args...))
}

func source(name, kind string) string { return cmp.Or(name, kind) }
