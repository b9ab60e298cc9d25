package budget

import (
	"context"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/usage"
)

// WrapAgent returns an agent whose attempts are kept on the ledger as one call
// each, for agents that make their own calls where we cannot see them. worstUSD is
// the most that one attempt can cost.
func (l *Ledger) WrapAgent(a agent.Agent, worstUSD float64) agent.Agent {
	return &meteredAgent{l, a, amount{money: price.FromUSD(worstUSD)}}
}

type meteredAgent struct {
	ledger *Ledger
	agent  agent.Agent
	worst  amount
}

// Attempt implements [agent.Agent].
func (m *meteredAgent) Attempt(ctx context.Context, t *agent.Task) (*agent.Result, error) {
	need := m.ledger.limited(m.worst)
	if err := m.ledger.reserve(ctx, need); err != nil {
		return nil, err
	}
	// Until it ends, and if it is given up, it counts in full.
	c := charge{held: m.worst, abandoned: 1}
	defer func() { m.ledger.settle(need, &c) }()
	result, err := m.agent.Attempt(ctx, t)
	if err != nil {
		if !gaveUp(ctx, err) {
			c = charge{}
		}
		return nil, err
	}
	if bad := usage.Check(result.Usage, result.CostUSD); bad != nil {
		return nil, &model.Error{Kind: model.BadUsage, Message: bad.Error()} // it counts in full too
	}
	c = charge{tokens: result.Usage}
	if result.CostUSD == nil {
		c.unreported, c.held.money = 1, m.worst.money
	} else {
		c.money = price.FromUSD(*result.CostUSD)
	}
	return result, nil
}
