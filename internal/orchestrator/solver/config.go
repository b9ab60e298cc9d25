package solver

import (
	"fmt"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/vote"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// Config is how a problem is solved, complete: what is left out is 0.
type Config struct {
	Domain  string         // the name of Adapter, under which the readers know it
	Adapter domain.Adapter // of the family of problems; required
	Prompts *prompts.Set

	flow.Terms     // of every question
	AtomOutput int // tokens of an answer to a problem that is not split
	Models     Models

	// NoDirect leaves out the cheap attempt at the problem as it is, before it is split.
	NoDirect bool

	MaxDepth int // of the tree; the problem itself is at depth 0
	MaxNodes int // of the tree

	// MaxFillRounds bounds the rounds of filling gaps in the answer, and
	// MaxStagnant those among them in a row that change nothing.
	MaxFillRounds int
	MaxStagnant   int

	// Escalate says what is done, in this order, when voters do not agree.
	Escalate []Escalation

	// ComposeByCode lets the adapter put solutions together where it can. The
	// way to do it is then part of what proposals are voted on.
	ComposeByCode bool

	// VerifyVotes discards answers that the adapter knows to be wrong before they
	// are counted. Otherwise it looks only at what won.
	VerifyVotes bool

	// RequireWork discards solutions that do not show how they were found.
	RequireWork bool

	// Facts are what everybody who works on a part may know: at most MaxFacts.
	Facts []string
}

// Models name the groups of voters: see [flow.Question]. Empty is the default one.
type Models struct {
	Reasoning  string // splits, chooses, composes and checks
	Execution  string // solves what is not split
	Escalation string // is asked when the others do not agree; empty if there is none
}

// An Escalation is what is done when voters do not agree.
type Escalation = flow.Escalation

// The escalations.
const (
	Diversity = flow.Diversity // ask in other words, at a higher temperature
	Model     = flow.Second    // ask Models.Escalation
	Split     = flow.Split     // split what could not be solved as it is
	Person    = flow.Person    // ask the person for the solution
)

// maxGrowth is by how many characters a part may be longer than the whole: a short
// problem may need more words for its parts than for itself.
const maxGrowth = 120

// check says what a configuration lacks.
func (c *Config) check() error {
	if c.Adapter == nil {
		return fmt.Errorf("solver: there is no adapter: set Adapter, for example to that of domain/text")
	}
	if err := c.Rule.Validate(); err != nil {
		return fmt.Errorf("solver: Rule: %w", err)
	}
	return nil
}

// directRule is the rule of the direct attempt. It is held to the same margin as every
// vote, and saves samples by giving up early: it may take two more than the margin.
func (c *Config) directRule() vote.Rule {
	rule := c.Rule
	if rule.Strategy == vote.Adaptive {
		rule.MaxSamples = min(adaptive.Options{Target: rule.Target}.Clean()+2, rule.MaxSamples)
		return rule
	}
	rule.MaxSamples = min(vote.NewTally(c.Rule).Decision().Need+2, c.Rule.MaxSamples)
	return rule
}
