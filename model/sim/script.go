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

// A rule answers the questions that meet all of its conditions. A condition that
// is absent is met.
type rule struct {
	Match       string         `json:"match" yaml:"match"`               // the prompt
	MatchResult *string        `json:"match_result" yaml:"match_result"` // the tool results of the last turn
	After       *int           `json:"after" yaml:"after"`               // how many tool results there are so far
	Sequence    bool           `json:"sequence" yaml:"sequence"`
	Answers     []scriptAnswer `json:"answers" yaml:"answers"`

	pattern *regexp.Regexp
	result  *regexp.Regexp // nil without MatchResult
	hash    uint64         // of the conditions
	weight  float64        // of all answers
}

type scriptAnswer struct {
	Text      string           `json:"text" yaml:"text"`
	ToolCalls []scriptCall     `json:"tool_calls" yaml:"tool_calls"`
	Weight    *float64         `json:"weight" yaml:"weight"`
	Stop      model.StopReason `json:"stop" yaml:"stop"`
	Tokens    int              `json:"tokens" yaml:"tokens"` // 0: as many as text and calls have

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

func (r *rule) prepare() error {
	var err error
	if r.pattern, err = regexp.Compile(r.Match); err != nil {
		return fmt.Errorf("match: %w", err)
	}
	if r.MatchResult != nil {
		if r.result, err = regexp.Compile(*r.MatchResult); err != nil {
			return fmt.Errorf("match_result: %w", err)
		}
	}
	if r.After != nil && *r.After < 0 {
		return errors.New("after is negative")
	}
	r.hash = r.conditions()
	if len(r.Answers) == 0 {
		return errors.New("there are no answers")
	}
	for i := range r.Answers {
		if err := r.Answers[i].prepare(r); err != nil {
			return fmt.Errorf("answer %d: %w", i+1, err)
		}
		r.weight += r.Answers[i].weight
	}
	if r.weight == 0 {
		return errors.New("all weights are 0")
	}
	return nil
}

// conditions stands for the conditions of the rule, wherever in a script it is.
func (r *rule) conditions() uint64 {
	h := hash(r.Match)
	if r.MatchResult != nil {
		h = mix(h ^ hash(*r.MatchResult))
	}
	if r.After != nil {
		h = mix(h + uint64(*r.After+1)*golden)
	}
	return h
}

func (a *scriptAnswer) prepare(r *rule) error {
	switch a.Stop {
	case "":
		a.Stop = model.StopEnd
		if len(a.ToolCalls) > 0 {
			a.Stop = model.StopToolUse
		}
	case model.StopEnd, model.StopLength, model.StopRefusal:
	case model.StopToolUse:
		if len(a.ToolCalls) == 0 {
			return errors.New("stop is tool_use, but there are no tool_calls")
		}
	default:
		return fmt.Errorf("stop %q is none of end, length, refusal, tool_use", a.Stop)
	}
	if a.Tokens < 0 {
		return errors.New("tokens is negative")
	}
	a.weight = 1
	if a.Weight != nil {
		a.weight = *a.Weight
	}
	if !(a.weight >= 0 && a.weight <= 1e9) {
		return fmt.Errorf("weight %v is out of range", a.weight)
	}
	for i := range a.ToolCalls {
		if err := a.ToolCalls[i].check(r); err != nil {
			return fmt.Errorf("tool call %d: %w", i+1, err)
		}
	}
	return r.checkReferences(a.Text)
}

func (r *rule) checkReferences(text string) error {
	for _, ref := range references.FindAllStringSubmatch(text, -1) {
		pattern := r.pattern
		if ref[1] != "" {
			pattern = r.result
		}
		if group(pattern, ref[2]) < 0 {
			return fmt.Errorf("the pattern captures no group %s", ref[0])
		}
	}
	return nil
}

// group returns the number of a captured group, or -1.
func group(pattern *regexp.Regexp, name string) int {
	if pattern == nil {
		return -1
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 0 && n <= pattern.NumSubexp() {
		return n
	}
	return slices.Index(pattern.SubexpNames(), name)
}

// find returns the first rule that matches, with what it captured; none has no rule.
func (s *script) find(q *question) match {
	if s == nil {
		return match{}
	}
	for i := range s.rules {
		if s.rules[i].matches(q) {
			return s.rules[i].capture(q)
		}
	}
	return match{}
}

func (r *rule) matches(q *question) bool {
	return (r.After == nil || *r.After == q.after) &&
		(r.result == nil || len(q.results) > 0 && r.result.MatchString(q.result())) &&
		r.pattern.MatchString(q.prompt)
}

// A match is a rule that answers a question, and what its patterns captured.
type match struct {
	rule     *rule
	inPrompt []string
	inResult []string
}

func (r *rule) capture(q *question) match {
	m := match{rule: r, inPrompt: r.pattern.FindStringSubmatch(q.prompt)}
	if r.result != nil {
		m.inResult = r.result.FindStringSubmatch(q.result())
	}
	return m
}

// problem stands for the rule and what it captured: all that the prompts which it
// matches differ in, as far as the script cares.
func (m *match) problem() uint64 {
	h := m.rule.hash
	for _, captured := range [...][]string{m.inPrompt, m.inResult} {
		for i := 1; i < len(captured); i++ { // the whole match is a matter of wording
			h = mix(h ^ hash(captured[i]))
		}
		h = mix(h + golden)
	}
	return h
}

// expand fills in what the patterns captured.
func (m *match) expand(text string) string {
	return references.ReplaceAllStringFunc(text, func(ref string) string {
		parts := references.FindStringSubmatch(ref)
		if parts[1] != "" {
			return m.inResult[group(m.rule.result, parts[2])]
		}
		return m.inPrompt[group(m.rule.pattern, parts[2])]
	})
}

// answer is the answer that the rule gives.
func (m *match) answer(d *decision) *answer {
	chosen := m.rule.choose(d)
	a := &answer{text: m.expand(chosen.Text), stop: chosen.Stop, tokens: chosen.Tokens}
	for i := range chosen.ToolCalls {
		a.calls = append(a.calls, chosen.ToolCalls[i].make(d.callID(i), m.expand))
	}
	return a
}

func (r *rule) choose(d *decision) *scriptAnswer {
	if r.Sequence {
		at := min(max(d.ordinal, 1), uint64(len(r.Answers)))
		return &r.Answers[at-1]
	}
	u := d.more.float() * r.weight
	chosen := 0
	for i := range r.Answers {
		weight := r.Answers[i].weight
		if weight == 0 {
			continue
		}
		chosen = i
		if u < weight {
			break
		}
		u -= weight
	}
	return &r.Answers[chosen]
}
