package outline

import (
	"encoding/json"
	"fmt"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// SummaryConfig is how summaries are asked for.
type SummaryConfig struct {
	Prompts          *prompts.Set
	Rule             vote.Rule
	Flags            redflag.Config
	FirstTemperature *float64
	Temperature      *float64
	MaxOutput        int
	MaxFaults        int
}

// Summaries keep what the steps of a run found out within a budget, with the help
// of the voters. They are for orchestrators: what they ask has stable keys.
type Summaries struct {
	config    SummaryConfig
	compactor *Compactor
}

// NewSummaries returns the summaries of a run for a budget of tokens.
func NewSummaries(budget int, c SummaryConfig) (*Summaries, error) {
	compactor, err := NewCompactor(budget)
	if err != nil {
		return nil, err
	}
	return &Summaries{config: c, compactor: compactor}, nil
}

// Expect says that a step that is still to come has this text; see
// [Compactor.Expect]. Steps count from 0 here.
func (s *Summaries) Expect(step int, text string) { s.compactor.Expect(step+1, text) }

// Decided takes in what a person decided for a step.
func (s *Summaries) Decided(step int, a Answer) { s.compactor.Decided(step+1, a) }

// Context is what a prompt says about the steps so far.
func (s *Summaries) Context() string { return s.compactor.Context() }

// Add takes in what came of a step and brings the context back into its budget. The
// keys of what it asks begin with key.
func (s *Summaries) Add(f flow.Flow, key string, step int, title, result string) error {
	s.compactor.Add(step+1, title, result)
	for n := 0; ; n++ {
		request := s.compactor.Request()
		if request == nil {
			return nil
		}
		before := s.compactor.size
		key := fmt.Sprintf("%s/summary/%d", key, n)
		summary, err := s.ask(f, key, step, request)
		if err != nil {
			return err
		}
		if err := s.compactor.Accept(summary); err != nil {
			s.compactor.Fallback() // sentences of the text itself
		}
		f.Emit(key, event.ContextCompacted{
			Step: step, Before: before, After: s.compactor.size, Summary: event.TextValue(s.compactor.summary.text),
		})
	}
}

// ask has the voters write a summary. It is empty if there is none to be had.
func (s *Summaries) ask(f flow.Flow, key string, step int, request *SummaryRequest) (string, error) {
	c := &s.config
	words := prompts.OutlineSummary{Text: request.Text, MaxWords: wordsIn(request.MaxTokens)}
	for _, m := range request.Must {
		words.Must = append(words.Must, m.Text)
	}
	prompt, err := c.Prompts.Render(words)
	if err != nil {
		return "", err
	}
	params, err := json.Marshal(request)
	if err != nil {
		return "", fmt.Errorf("outline: %w", err)
	}
	v, err := f.Decide(key, &flow.Question{
		Step: step, Prompt: prompt, Answer: flow.Format{Reader: SummaryReader, Params: params},
		Rule: c.Rule, Flags: c.Flags, FirstTemperature: c.FirstTemperature, Temperature: c.Temperature,
		MaxOutput: max(c.MaxOutput, request.MaxTokens), MaxFaults: c.MaxFaults,
	})
	if err != nil || v.Status != flow.Decided {
		return "", err
	}
	var summary string
	if err := json.Unmarshal(v.Answer, &summary); err != nil {
		return "", fmt.Errorf("outline: %w", err)
	}
	return summary, nil
}

// wordsIn is how many words surely fit into a number of tokens as
// [EstimateTokens] counts them: a word with its space has six to seven bytes.
func wordsIn(tokens int) int { return max(tokens*2/5, 20) }
