package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/maker-mdap/maker/model"
)

// maxScript bounds a script file. YAML libraries take minutes over large ones.
const maxScript = 256 << 10

// A script answers prompts by rules. A nil script has none.
type script struct {
	rules []rule
}

type rule struct {
	Match    string         `json:"match" yaml:"match"`
	Sequence bool           `json:"sequence" yaml:"sequence"`
	Answers  []scriptAnswer `json:"answers" yaml:"answers"`

	pattern *regexp.Regexp
	weight  float64 // of all answers
}

type scriptAnswer struct {
	Text   string           `json:"text" yaml:"text"`
	Weight *float64         `json:"weight" yaml:"weight"`
	Stop   model.StopReason `json:"stop" yaml:"stop"`
	Tokens int              `json:"tokens" yaml:"tokens"` // 0: as many as the text has

	weight float64
}

func loadScript(file string) (*script, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("sim: script: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxScript+1))
	if err != nil {
		return nil, fmt.Errorf("sim: script: %w", err)
	}
	s, err := parseScript(data)
	if err != nil {
		return nil, fmt.Errorf("sim: script %s: %w", file, err)
	}
	return s, nil
}

func parseScript(data []byte) (*script, error) {
	if len(data) > maxScript {
		return nil, fmt.Errorf("larger than %d KB", maxScript>>10)
	}
	var rules []rule
	var err error
	if json.Valid(data) { // YAML parsers refuse tabs, which JSON allows
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		err = d.Decode(&rules)
	} else {
		d := yaml.NewDecoder(bytes.NewReader(data))
		d.KnownFields(true)
		err = d.Decode(&rules)
	}
	if err != nil {
		return nil, err
	}
	if len(rules) == 0 {
		return nil, errors.New("there are no rules")
	}
	for i := range rules {
		if err := rules[i].prepare(); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return &script{rules: rules}, nil
}

var reference = regexp.MustCompile(`\$\{(\w+)\}`)

func (r *rule) prepare() error {
	var err error
	if r.pattern, err = regexp.Compile(r.Match); err != nil {
		return fmt.Errorf("match: %w", err)
	}
	if len(r.Answers) == 0 {
		return errors.New("there are no answers")
	}
	for i := range r.Answers {
		a := &r.Answers[i]
		switch a.Stop {
		case "":
			a.Stop = model.StopEnd
		case model.StopEnd, model.StopLength, model.StopRefusal:
		default:
			return fmt.Errorf("answer %d: stop %q is none of end, length, refusal", i+1, a.Stop)
		}
		if a.Tokens < 0 {
			return fmt.Errorf("answer %d: tokens is negative", i+1)
		}
		a.weight = 1
		if a.Weight != nil {
			a.weight = *a.Weight
		}
		if !(a.weight >= 0 && a.weight <= 1e9) {
			return fmt.Errorf("answer %d: weight %v is out of range", i+1, a.weight)
		}
		r.weight += a.weight
		for _, ref := range reference.FindAllStringSubmatch(a.Text, -1) {
			if r.group(ref[1]) < 0 {
				return fmt.Errorf("answer %d: the pattern captures no group %s", i+1, ref[0])
			}
		}
	}
	if r.weight == 0 {
		return errors.New("all weights are 0")
	}
	return nil
}

// group returns the number of a captured group, or -1.
func (r *rule) group(name string) int {
	if n, err := strconv.Atoi(name); err == nil && n >= 0 && n <= r.pattern.NumSubexp() {
		return n
	}
	return slices.Index(r.pattern.SubexpNames(), name)
}

// find returns the first rule that matches, or nil.
func (s *script) find(prompt string) *rule {
	if s == nil {
		return nil
	}
	for i := range s.rules {
		if s.rules[i].pattern.MatchString(prompt) {
			return &s.rules[i]
		}
	}
	return nil
}

// sequential reports whether the samples of the prompt are answered in order.
func (s *script) sequential(prompt string) bool {
	r := s.find(prompt)
	return r != nil && r.Sequence
}

// answer returns the scripted answer, or nil if no rule matches.
func (s *script) answer(prompt string, d *decision) *scriptAnswer {
	r := s.find(prompt)
	if r == nil {
		return nil
	}
	a := r.choose(d)
	groups := r.pattern.FindStringSubmatch(prompt)
	a.Text = reference.ReplaceAllStringFunc(a.Text, func(ref string) string {
		return groups[r.group(ref[2:len(ref)-1])]
	})
	return &a
}

func (r *rule) choose(d *decision) scriptAnswer {
	if r.Sequence {
		at := min(max(d.ordinal, 1), uint64(len(r.Answers)))
		return r.Answers[at-1]
	}
	u := d.script.float() * r.weight
	chosen := 0
	for i, a := range r.Answers {
		if a.weight == 0 {
			continue
		}
		chosen = i
		if u < a.weight {
			break
		}
		u -= a.weight
	}
	return r.Answers[chosen]
}
