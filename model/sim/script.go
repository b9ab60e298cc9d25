package sim

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"

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
	Match       string   `json:"match" yaml:"match"`               // the prompt
	And         []string `json:"and" yaml:"and"`                   // the prompt too, before or behind what Match is about
	MatchResult *string  `json:"match_result" yaml:"match_result"` // the tool results of the last turn
	After       *int     `json:"after" yaml:"after"`               // how many tool results there are so far

	// Either there is a right answer, perhaps with wrong ones, and the settings say
	// how often which of them is given; or there are answers that the script has drawn
	// by weight or given in order.
	Right    *scriptAnswer  `json:"right" yaml:"right"`
	Wrong    []scriptAnswer `json:"wrong" yaml:"wrong"`
	Answers  []scriptAnswer `json:"answers" yaml:"answers"`
	Sequence bool           `json:"sequence" yaml:"sequence"`

	patterns []*regexp.Regexp // Match and And
	result   []*regexp.Regexp // MatchResult, if there is one
	whole    [2]bool          // whether an answer quotes all that Match, or MatchResult, matched
	hash     uint64           // of the conditions
	weight   float64          // of all answers
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

// The scripts that ship with the simulator are for the examples in README.md and docs,
// so that these run as they are printed; a test of cmd/maker holds them to that. They
// match our own prompts, and what no longer matches fails there.
//
//go:embed scripts/*.yaml
var scriptFiles embed.FS

// shipped is all of them together, in the order of their names.
var shipped = sync.OnceValue(func() *script {
	all := new(script)
	entries, err := scriptFiles.ReadDir("scripts")
	for _, e := range entries {
		data, readErr := scriptFiles.ReadFile("scripts/" + e.Name())
		s, parseErr := parseScript(data)
		if err = errors.Join(err, readErr, parseErr); err == nil {
			all.rules = append(all.rules, s.rules...)
		}
	}
	if err != nil {
		panic(err) // a test would have seen it
	}
	return all
})

func parseScript(data []byte) (*script, error) {
	if len(data) > maxScript {
		return nil, fmt.Errorf("larger than %d KB", maxScript>>10)
	}
	var rules []rule
	var err error
	if json.Valid(data) { // YAML parsers refuse tabs and control characters, which JSON allows
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
	for i, text := range append([]string{r.Match}, r.And...) {
		pattern, err := regexp.Compile(text)
		if err != nil {
			return fmt.Errorf("%s: %w", [...]string{"match", "and"}[min(i, 1)], err)
		}
		r.patterns = append(r.patterns, pattern)
	}
	if r.MatchResult != nil {
		pattern, err := regexp.Compile(*r.MatchResult)
		if err != nil {
			return fmt.Errorf("match_result: %w", err)
		}
		r.result = append(r.result, pattern)
	}
	if r.After != nil && *r.After < 0 {
		return errors.New("after is negative")
	}
	r.hash = r.conditions()
	switch {
	case r.Right == nil && len(r.Wrong) > 0:
		return errors.New("there are wrong answers and no right one")
	case r.Right == nil && len(r.Answers) == 0:
		return errors.New("there are no answers")
	case r.Right != nil && (len(r.Answers) > 0 || r.Sequence):
		return errors.New("answers and sequence do not go with right and wrong")
	case r.Right != nil:
		if err := r.Right.prepare(r); err != nil {
			return fmt.Errorf("right: %w", err)
		}
	}
	for i := range r.Wrong {
		if err := r.Wrong[i].prepare(r); err != nil {
			return fmt.Errorf("wrong answer %d: %w", i+1, err)
		}
	}
	for i := range r.Answers {
		if err := r.Answers[i].prepare(r); err != nil {
			return fmt.Errorf("answer %d: %w", i+1, err)
		}
		r.weight += r.Answers[i].weight
	}
	if r.weight == 0 && r.Right == nil {
		return errors.New("all weights are 0")
	}
	return nil
}

// conditions stands for the conditions of the rule, wherever in a script it is.
func (r *rule) conditions() uint64 {
	h := hash(r.Match)
	for _, also := range r.And {
		h = mix(h ^ hash(also))
	}
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
		if r.Right != nil {
			return errors.New("weight does not go with right and wrong: the settings say how often which is given")
		}
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

// find returns the first rule that matches, with what it captured; none has no rule.
func (s *script) find(q *question) match {
	if s == nil {
		return match{}
	}
	for i := range s.rules {
		if m := s.rules[i].match(q); m.rule != nil {
			return m
		}
	}
	return match{}
}

// A match is a rule that answers a question, and what its patterns captured.
type match struct {
	rule     *rule
	inPrompt []string
	inResult []string
}

// match is what the rule captures; without a rule if it does not answer the question.
func (r *rule) match(q *question) match {
	if r.After != nil && *r.After != q.after {
		return match{}
	}
	m := match{rule: r, inPrompt: captured(r.patterns, q.prompt)}
	if m.inPrompt == nil {
		return match{}
	}
	if r.MatchResult != nil {
		if m.inResult = captured(r.result, q.result()); m.inResult == nil || len(q.results) == 0 {
			return match{}
		}
	}
	return m
}

// problem stands for the rule and what it captured: all that the prompts which it
// matches differ in, as far as the script cares. A whole match is a matter of wording,
// unless an answer quotes it.
func (m *match) problem() uint64 {
	h := m.rule.hash
	for n, captured := range [...][]string{m.inPrompt, m.inResult} {
		for i := range captured {
			if i == 0 && !m.rule.whole[n] {
				continue
			}
			h = mix(h ^ hash(captured[i]))
		}
		h = mix(h + golden)
	}
	return h
}

// sequence stands for the rule, for what it matched and for what the tools said: the
// samples of a question are answered in order in whatever words it is put, as far as the
// script can tell.
func (m *match) sequence(q *question) uint64 {
	seen := *q
	seen.prompt = strings.Join(m.inPrompt, "\x00")
	if in := readInquiry(q.prompt); in != nil { // which says more than a pattern
		seen.prompt = strconv.FormatUint(in.hash(), 16)
	}
	return mix(mix(m.rule.hash) ^ seen.hash()) // they are equal if a pattern is just what it matches
}

// answer is the answer that the rule gives.
func (m *match) answer(d *decision) *answer {
	r := m.rule
	if r.Right == nil {
		return m.give(r.choose(d), d)
	}
	if d.quality == malformed {
		return m.garble(d)
	}
	chosen := r.Right
	if d.quality == wrong && len(r.Wrong) > 0 {
		chosen = &r.Wrong[slipOf(d).Among(len(r.Wrong))]
	}
	a := m.give(chosen, d)
	a.text = d.rambleBefore() + a.text
	return a
}

// give makes an answer of what the script has.
func (m *match) give(chosen *scriptAnswer, d *decision) *answer {
	a := &answer{text: m.expand(chosen.Text, asItIs), stop: chosen.Stop, tokens: chosen.Tokens}
	for i := range chosen.ToolCalls {
		a.calls = append(a.calls, chosen.ToolCalls[i].make(d.callID(i), m))
	}
	return a
}

func asItIs(text string) string { return text }

// garble is the right answer in a form that nobody asked for: talk about it, a bracket
// that does not close, or a list of its lines. Calls are not made.
func (m *match) garble(d *decision) *answer {
	text := m.expand(m.rule.Right.Text, asItIs)
	switch d.form % 3 {
	case 0:
		return say(string(d.chat(nil, "This is done, and it went well as far as I can see.")))
	case 1:
		return say(`{"answer": "` + text)
	default:
		return say("- " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n- "))
	}
}

func (r *rule) choose(d *decision) *scriptAnswer {
	if r.Sequence {
		at := min(max(d.ordinal, 1), uint64(len(r.Answers)))
		return &r.Answers[at-1]
	}
	u := d.more.float() * r.weight
	var chosen *scriptAnswer
	for i := range r.Answers {
		if a := &r.Answers[i]; a.weight > 0 && (chosen == nil || u >= 0) {
			chosen = a
			u -= a.weight
		}
	}
	return chosen
}
