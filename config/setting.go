package config

import (
	"slices"
	"strings"
)

// Kinds is a set of kinds of run.
type Kinds uint

// The kinds of run, and some sets of them.
const (
	Chain     Kinds = 1 << iota // many steps of one family in a row
	Run                         // plan, validate, execute
	PlanOnly                    // plan and validate
	Exec                        // execute a given plan
	Validate                    // check a given plan
	Do                          // do tasks as a person wrote them
	Solving                     // solve a problem without a plan
	Measuring                   // measure the voters
	Asking                      // one question
	Items                       // measure the voters with questions of one's own
	Mapping                     // the same question for many records
	Scripting                   // a procedure of one's own
	Sessions                    // requests of other programs

	Planning = Run | PlanOnly | Exec | Validate
	Agents   = Planning | Do | Scripting // whose steps are done by agents
	Voting   = Chain | Agents | Solving | Asking | Mapping | Sessions
	All      = Voting | Measuring | Items
)

// A Setting describes something that can be set about a run.
type Setting struct {
	Name    string   // in maker.yaml; with dashes the flag, in capitals after MAKER_ the variable
	Aliases []string // older names that mean the same
	Letter  string   // of the short flag
	Help    string   // one line for people
	For     Kinds    // the kinds of run that it is about
	Group   string   // its part of the table in the documentation

	// Default is what it is if nobody says anything, as text, and Defaults what it is
	// for some kinds of run instead.
	Default  string
	Defaults map[Kinds]string

	// ZeroIsNone says that 0 means that there is no limit. A configuration that leaves it
	// open has none; the default is the command line's.
	ZeroIsNone bool

	Least, Most float64  // bounds of a number; no upper one if Most is 0
	Choices     []string // words that it can be

	// NeedsTrust says that it could run a program, let calls pass, move what is confined
	// or send data elsewhere: in a folder's maker.yaml it has to be trusted.
	NeedsTrust bool

	// Names says how its value names files, which agents must not change.
	Names Naming

	// Stays says that it stays as it is when a run is resumed.
	Stays bool

	// Needs says which other setting it depends on, as it must be: "voting first_to_k"; or
	// several, one of which is enough. Elsewhere it has no effect.
	Needs []string

	field func(*Config) any // where it is kept; nil for what is no part of a configuration
}

// Naming is how the value of a setting names files.
type Naming int

// The ways to name files.
const (
	Nothing   Naming = iota
	ByPath           // a path
	AsFlags          // a path, or the name of a preset of red flags
	InFolder         // a folder with templates
	InModels         // scripts of simulated models
	ToWriteTo        // a path that this program writes to
)

// Flag is its name on the command line.
func (s *Setting) Flag() string { return flagName(s.Name) }

// FlagAliases are its older names on the command line.
func (s *Setting) FlagAliases() []string {
	var names []string
	for _, name := range s.Aliases {
		names = append(names, flagName(name))
	}
	return names
}

func flagName(name string) string { return strings.ReplaceAll(name, "_", "-") }

// Variable is its name in the environment.
func (s *Setting) Variable() string { return VariablePrefix + strings.ToUpper(s.Name) }

// VariablePrefix is what the variables of settings begin with.
const VariablePrefix = "MAKER_"

// DefaultFor is its default for a kind of run.
func (s *Setting) DefaultFor(k Kinds) string {
	for kinds, text := range s.Defaults {
		if kinds&k != 0 {
			return text
		}
	}
	return s.Default
}

// Value is the place of the setting in a configuration. It is nil if it has none: then
// whoever reads the settings keeps it.
func (s *Setting) Value(c *Config) Value {
	if s.field == nil {
		return nil
	}
	return s.in(c)
}

func (s *Setting) in(c *Config) *value { return valueOf(s, s.field(c)) }

// ValueAt is a value of the setting at another place: a pointer to a text, a number, a
// truth value or a list.
func (s *Setting) ValueAt(at any) Value { return valueOf(s, at) }

// Settings lists all settings, in the order in which they are shown.
func Settings() []*Setting { return settings }

// Find returns the setting of a name or an alias, with dashes or underscores.
func Find(name string) *Setting {
	name = strings.ReplaceAll(name, "-", "_")
	for _, s := range settings {
		if s.Name == name || slices.Contains(s.Aliases, name) {
			return s
		}
	}
	return nil
}
