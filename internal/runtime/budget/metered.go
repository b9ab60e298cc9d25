package budget

import (
	"context"
	"errors"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/price"
	"github.com/maker-mdap/maker/usage"
)

// Wrap returns m with its calls kept on the ledger. The price p is nil if it is
// not known. An answer whose cost the provider did not report gets the one that
// p gives. If the limits cannot be kept with p, every call fails with what
// [Ledger.Check] says.
func (l *Ledger) Wrap(m model.Model, p *price.Price) model.Model {
	w := &metered{ledger: l, model: m, refusal: l.Check(p)}
	if p != nil {
		w.price, w.priced = *p, true
		return w
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noPrice = true
	return w
}

type metered struct {
	ledger  *Ledger
	model   model.Model
	price   price.Price
	priced  bool
	refusal error
}

// Generate implements [model.Model].
func (m *metered) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	if m.refusal != nil {
		return nil, m.refusal
	}
	need := m.need(req, 1)
	if err := m.ledger.reserve(ctx, need); err != nil {
		return nil, err
	}
	// Until the call returns, and if it panics, it counts as given up.
	var c charge
	known := false
	defer func() {
		if !known {
			c = m.givenUp(req, 1)
		}
		m.ledger.settle(need, &c)
	}()

	resp, err := m.model.Generate(ctx, req)
	if err != nil {
		known = !gaveUp(ctx, err)
		return nil, err
	}
	if bad := model.CheckUsage(req, 1, resp); bad != nil {
		return nil, bad // it counts in full, as if it had been given up
	}
	if m.understated(resp) {
		resp = withoutCost(resp)
	}
	resp = m.priceOf(resp, req, 1, &c)
	known = true
	return resp, nil
}

// GenerateN implements [model.Batcher]: one call that reads once and may write n
// answers.
func (m *metered) GenerateN(ctx context.Context, req *model.Request, n int) ([]*model.Response, error) {
	if m.refusal != nil {
		return nil, m.refusal
	}
	need := m.need(req, n)
	if err := m.ledger.reserve(ctx, need); err != nil {
		return nil, err
	}
	var c charge
	known := false
	defer func() {
		if !known {
			c = m.givenUp(req, n)
		}
		m.ledger.settle(need, &c)
	}()

	list, err := m.model.(model.Batcher).GenerateN(ctx, req, n) // see model.AsBatcher
	if err != nil {
		known = !gaveUp(ctx, err)
		return nil, err
	}
	if bad := model.CheckUsage(req, n, list...); bad != nil {
		return nil, bad
	}
	c = m.priceAll(list, req, n)
	known = true
	return list, nil
}

// priceAll prices the answers of one call. It is the call whose usage is known or
// not: an empty answer among others has no tokens of its own.
func (m *metered) priceAll(list []*model.Response, req *model.Request, n int) (sum charge) {
	if m.understated(list...) {
		for i, resp := range list {
			list[i] = withoutCost(resp)
		}
	}
	var total usage.Tokens
	for _, resp := range list {
		total = total.Add(resp.Usage)
	}
	if total.Total() == 0 {
		list[0] = m.priceOf(list[0], req, n, &sum)
		return sum
	}
	for i, resp := range list {
		if resp.Usage.Total() == 0 && resp.CostUSD == nil {
			free := 0.0
			empty := *resp
			empty.CostUSD = &free
			resp = &empty
		}
		var c charge
		list[i] = m.priceOf(resp, nil, 0, &c)
		sum = sum.plus(c)
	}
	return sum
}

// Unwrap implements [model.Wrapper].
func (m *metered) Unwrap() model.Model { return m.model }

// worstCase is the most that the request can use with n answers.
func (m *metered) worstCase(req *model.Request, n int) amount {
	input := int64(req.Bytes() + messageTokens*req.Parts())
	if len(req.Tools) > 0 {
		input += toolPrompt
	}
	output := int64(req.MaxOutput)
	if output <= 0 {
		output = DefaultOutput
		if m.price.MaxOutput > 0 {
			output = m.price.MaxOutput
		}
	}
	output *= int64(n)
	return amount{plus(input, output), m.price.WorstCost(input, output)}
}

// need is what a request reserves.
func (m *metered) need(req *model.Request, n int) amount {
	if l := &m.ledger.limits; l.MaxTokens == 0 && l.MaxUSD == 0 {
		return amount{}
	}
	return m.ledger.limited(m.worstCase(req, n))
}

// limited returns the part of an amount that some limit is about.
func (l *Ledger) limited(a amount) amount {
	if l.limits.MaxTokens == 0 {
		a.tokens = 0
	}
	if l.limits.MaxUSD == 0 {
		a.money = 0
	}
	return a
}

// givenUp is the charge of a call of which nobody says what it used.
func (m *metered) givenUp(req *model.Request, n int) charge {
	return charge{held: m.worstCase(req, n), abandoned: 1}
}

// gaveUp reports whether a failed call may be billed: it was ended by its caller,
// so that the provider may still be at work on it, or its answer broke on the way.
// In doubt it may.
func gaveUp(ctx context.Context, err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		return ctx.Err() != nil
	}
	switch e.Kind {
	case model.Cancelled, model.BadUsage:
		return true
	case model.Transient:
		return e.Status < 300 && !e.NotSent
	}
	return false
}

// understated reports whether the provider says that a call cost less than its tokens
// do, where there is a limit on money: the larger of the two counts, or a server that
// calls its answers free would know no limit.
func (m *metered) understated(list ...*model.Response) bool {
	if !m.priced || m.ledger.limits.MaxUSD == 0 || list[0].CostUSD == nil {
		return false
	}
	var reported, computed price.Money
	for _, resp := range list {
		if resp.CostUSD != nil {
			reported = reported.Plus(price.FromUSD(*resp.CostUSD))
		}
		computed = computed.Plus(m.price.Cost(resp.Usage))
	}
	return reported < computed
}

// withoutCost returns an answer as if the provider had reported none.
func withoutCost(resp *model.Response) *model.Response {
	r := *resp
	r.CostUSD = nil
	return &r
}

// priceOf says in c what an answer used and returns the answer with its cost, if that is
// known. The provider's own answer stays as it is, because it may be shared. An answer
// without any usage has the worst case of its request held, if that is given.
func (m *metered) priceOf(resp *model.Response, req *model.Request, n int, c *charge) *model.Response {
	*c = charge{tokens: resp.Usage}
	var worst amount
	unknown := c.tokens.Total() == 0
	if unknown && req != nil {
		worst = m.worstCase(req, n)
		c.held.tokens = worst.tokens
	}
	switch {
	case resp.CostUSD != nil:
		c.money = price.FromUSD(*resp.CostUSD)
		if unknown && m.ledger.limits.MaxUSD > 0 {
			c.held.money = max(worst.money-c.money, 0) // nothing but the provider's word says that it cost less
		}
	case !m.priced:
		c.unpriced = 1
	case unknown && worst.money > 0:
		c.unreported = 1
		c.held.money = worst.money
	default:
		c.money = m.price.Cost(c.tokens)
		filled := &struct {
			model.Response
			usd float64
		}{*resp, c.money.USD()}
		filled.CostUSD = &filled.usd
		return &filled.Response
	}
	return resp
}
