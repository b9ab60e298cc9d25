package mcpserver

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/text/nearest"
)

// A Choice is what every tool that starts a run takes.
type Choice struct {
	K        int            `json:"k,omitempty" jsonschema:"votes by which an answer must lead to win; a larger one is surer and costs more. 3 is a good start"`
	Model    string         `json:"model,omitempty" jsonschema:"provider/model, such as openai/gpt-4.1-mini; leave it out for the one that the person has set"`
	MaxUSD   float64        `json:"max_usd,omitempty" jsonschema:"stop before spending more dollars than this; a limit that the person has set can only be lowered"`
	Settings map[string]any `json:"settings,omitempty" jsonschema:"further settings by name, such as {\"max_samples\": 30, \"temperature\": 0.5}; those about tools, files, addresses and approvals are the person's"`
}

// options are those of a run of a kind with what an agent chose over what the person has set.
func (s *Server) options(kind config.Kinds, c Choice) (*maker.Options, error) {
	given := map[string][]string{}
	for name, v := range c.Settings {
		d, err := settable(name, kind)
		if err != nil {
			return nil, err
		}
		if _, twice := given[d.Name]; twice {
			return nil, fmt.Errorf("the setting %s is there under two names", d.Name)
		}
		if given[d.Name], err = textsOf(d, v); err != nil {
			return nil, fmt.Errorf("the setting %s: %w", d.Name, err)
		}
	}
	for name, v := range map[string]any{"ahead_by": c.K, "model": c.Model, "max_usd": c.MaxUSD} {
		d := config.Find(name)
		text := fmt.Sprint(v)
		if f, ok := v.(float64); ok {
			text = strconv.FormatFloat(f, 'f', -1, 64)
		}
		if text == "0" || text == "" {
			continue
		}
		if given[d.Name] != nil {
			return nil, fmt.Errorf("%s is there twice: in settings and beside them", name)
		}
		if given[d.Name] = []string{text}; d.Names == config.InModels {
			if err := checkText(d, text); err != nil {
				return nil, fmt.Errorf("the setting %s: %w", d.Name, err)
			}
		}
	}
	o, err := s.o.Settings(kind, given)
	if err == nil {
		err = s.keepLimits(kind, given, o)
	}
	return o, err
}

// settable finds a setting that an agent may set.
func settable(name string, kind config.Kinds) (*config.Setting, error) {
	d := config.Find(name)
	if d == nil || d.For&kind == 0 || !d.OfRuns() {
		var names []string
		for _, d := range config.Settings() {
			if d.For&kind != 0 && !personal(d) {
				names = append(names, d.Name)
			}
		}
		return nil, fmt.Errorf("there is no setting %q of this kind of run; %s", name, nearest.Among(name, names))
	}
	if personal(d) {
		return nil, fmt.Errorf("the setting %s is the person's to set, because it is about tools, files, addresses or approvals: leave it out, or ask them to put it into maker.yaml", d.Name)
	}
	return d, nil
}

// personal reports whether a setting is the person's: what could run programs, let calls pass,
// send data elsewhere or open files, and what holds agents back.
func personal(d *config.Setting) bool {
	return d.NeedsTrust || d.Group == config.Find("approve").Group || !d.OfRuns() ||
		d.Names != config.Nothing && d.Names != config.InModels
}

// textsOf is the value of a setting as the command line takes it.
func textsOf(d *config.Setting, v any) ([]string, error) {
	texts, err := config.Texts(v)
	for _, text := range texts {
		err = errors.Join(err, checkText(d, text))
	}
	return texts, err
}

// checkText refuses values that name files.
func checkText(d *config.Setting, text string) error {
	switch {
	case d.Names == config.InModels && strings.Contains(text, "script="):
		return fmt.Errorf("a model whose answers are in a file is the person's to choose")
	case d.Name == "warm" && strings.ContainsAny(text, `/\`):
		return fmt.Errorf("want the name of a run")
	}
	return nil
}

// keepLimits refuses limits above those that the person has set.
func (s *Server) keepLimits(kind config.Kinds, given map[string][]string, o *maker.Options) error {
	limits := []string{"max_usd", "max_tokens", "max_calls", "deadline"}
	if !slices.ContainsFunc(limits, func(name string) bool { return given[name] != nil }) {
		return nil
	}
	own, err := s.o.Settings(kind, nil)
	if err != nil {
		return err
	}
	a, b := o.Config, own.Config
	for i, pair := range [][2]float64{
		{a.MaxUSD, b.MaxUSD}, {float64(a.MaxTokens), float64(b.MaxTokens)}, {float64(a.MaxCalls), float64(b.MaxCalls)}, {float64(a.Deadline), float64(b.Deadline)},
	} {
		if wants, has := pair[0], pair[1]; has > 0 && (wants <= 0 || wants > has) {
			d := config.Find(limits[i])
			return fmt.Errorf("the setting %s: the person allows %s, and that can only be lowered", limits[i], d.Value(&own.Config))
		}
	}
	return nil
}
