package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/text/nearest"
	"github.com/maker-mdap/maker/model/served"
)

// Prefix is what the names of voted models begin with.
const Prefix = "maker/"

// A Model is who is asked, and how it is decided.
type Model struct {
	Name     string              // provider/model
	Settings map[string][]string // of package config, by name

	Meaning   bool              // texts are compared by what they say
	Undecided maker.OnUndecided // what is answered if voters do not agree; empty for the default
}

// Spec is the model in one line: two models with the same one are the same.
func (m *Model) Spec() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(m.Settings)) {
		parts = append(parts, name+"="+strings.Join(m.Settings[name], ","))
	}
	if len(parts) == 0 {
		return m.Name
	}
	return m.Name + " " + strings.Join(parts, " ")
}

// ofRequest are the settings that requests of one session may have each for itself.
var ofRequest = []string{
	"voting", "ahead_by", "voting_n", "max_samples", "first_temperature", "temperature", "max_output", "red_flags",
	"structured_mode", "max_faults", "voters", "model_reasoning", "model_cheap",
}

// Alone reports whether requests to the model have a run of their own, because it has settings
// that are those of a whole run: a limit on what is spent, say.
func (m *Model) Alone() bool {
	for name := range m.Settings {
		if !slices.Contains(ofRequest, name) {
			return true
		}
	}
	return false
}

// ParseModel reads the name of a model with its settings, as in
// openai/gpt-4.1-mini?k=3&voting=adaptive. What is no setting of a session belongs to the
// model's own name. Settings that need trust are not taken: a name comes from anywhere.
func ParseModel(text string) (*Model, error) {
	name, query, _ := strings.Cut(text, "?")
	if name == "" {
		return nil, fmt.Errorf("the model is not named; want %sPROVIDER/MODEL", Prefix)
	}
	m := &Model{Name: name, Settings: map[string][]string{}}
	var own []string // of the model
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if pair == "" {
			continue
		}
		text, err := url.QueryUnescape(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		taken, err := m.set(key, text)
		if err != nil {
			return nil, err
		}
		if !taken {
			own = append(own, pair)
		}
	}
	if len(own) > 0 {
		if !strings.HasPrefix(m.Name, "sim/") { // only these have settings of their own
			key, _, _ := strings.Cut(own[0], "=")
			return nil, fmt.Errorf("there is no setting %q; %s", key, nearest.Among(key, settingNames()))
		}
		m.Name += "?" + strings.Join(own, "&")
	}
	return m, nil
}

// settingOf finds a setting of a session by its name, its letter or an older name.
func settingOf(key string) *config.Setting {
	for _, s := range config.Settings() {
		if s.For&config.Sessions != 0 && (s.Name == key || s.Letter == key || slices.Contains(s.Aliases, key) || s.Flag() == key) {
			return s
		}
	}
	return nil
}

// undecided is the name of the setting of what is answered without agreement.
const undecided = "undecided"

func settingNames() []string {
	names := []string{undecided}
	for _, s := range config.Settings() {
		if s.For&config.Sessions != 0 && !s.NeedsTrust {
			names = append(names, s.Name)
		}
	}
	return names
}

// set takes a setting, and reports whether it is one.
func (m *Model) set(key, value string) (bool, error) {
	if key == undecided {
		switch m.Undecided = maker.OnUndecided(value); m.Undecided {
		case maker.SayUndecided, maker.TakeFirst, maker.TakeJudged:
			return true, nil
		}
		return false, fmt.Errorf("%s is %q, want error, first or judge", undecided, value)
	}
	s := settingOf(key)
	switch {
	case s == nil:
		return false, nil
	case s.NeedsTrust || s.Name == "model":
		return false, fmt.Errorf("%s cannot be set by the name of a model", s.Name)
	case s.Name == "compare":
		if value != "exact" && value != config.ByMeaning {
			return false, fmt.Errorf("compare is %q, want exact or %s", value, config.ByMeaning)
		}
		m.Meaning = value == config.ByMeaning
		return true, nil
	}
	if m.Settings[s.Name] != nil {
		return false, fmt.Errorf("%s is there twice", s.Name)
	}
	m.Settings[s.Name] = []string{value}
	return true, nil
}

// find is the model that a request names.
func (g *Gateway) find(name string) (*Model, error) {
	spec := name
	if known, ok := g.o.Named[name]; ok {
		spec = known
	} else if name == strings.TrimSuffix(Prefix, "/") && g.o.Default != "" {
		spec = Prefix + g.o.Default
	}
	text, ok := strings.CutPrefix(spec, Prefix)
	if !ok && spec == name {
		known := append(slices.Sorted(maps.Keys(g.o.Named)), Prefix+cmp.Or(g.o.Default, "PROVIDER/MODEL"))
		return nil, fmt.Errorf("there is no model %q here; there are %s; and %s before any other model has it voted on", name, strings.Join(known, ", "), Prefix)
	}
	if !ok {
		text = spec // in a file of our own the prefix goes without saying
	}
	m, err := ParseModel(text)
	if err != nil {
		return nil, fmt.Errorf("the model %q: %w", name, err)
	}
	return m, nil
}

// list are the models that have a name, and the default.
func (g *Gateway) list() []served.Model {
	var list []served.Model
	for _, name := range slices.Sorted(maps.Keys(g.o.Named)) {
		list = append(list, served.Model{ID: name, Name: g.o.Named[name] + ", voted", Owner: "maker"})
	}
	if g.o.Default != "" {
		list = append(list, served.Model{ID: Prefix + g.o.Default, Name: g.o.Default + ", voted", Owner: "maker"})
	}
	return list
}
