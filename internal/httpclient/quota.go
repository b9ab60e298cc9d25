package httpclient

import (
	"strconv"
	"strings"
	"time"

	"github.com/maker-mdap/maker/model"
)

// An Allowance is one of the limits that a provider tells with its answers: how much
// there is in all, how much of it is left, how long it takes until all is there again,
// and how much of it a call takes. The zero value is none.
type Allowance struct {
	Limit, Left float64
	Reset       time.Duration
	Cost        float64
}

// UnknownCost stands for what a call takes that was refused: a tenth of the limit, which
// is that of a minute, as a rule.
const UnknownCost = -1

// Allowance reads an allowance from the headers with these names, if they are there and
// make sense: servers without a limit say that it is -1 or 0.
func (a *Reply) Allowance(limit, left, reset string, cost float64) Allowance {
	l, err := strconv.ParseFloat(a.Header.Get(limit), 64)
	if err != nil || !(l > 0) {
		return Allowance{}
	}
	r, err := strconv.ParseFloat(a.Header.Get(left), 64)
	if err != nil || !(r >= 0) {
		return Allowance{}
	}
	if cost == UnknownCost {
		cost = l / 10
	}
	return Allowance{Limit: l, Left: min(r, l), Reset: until(a.Header.Get(reset), time.Now()), Cost: cost}
}

// until reads a time that is left: a duration such as 6m0s, a number of seconds, or a
// time in RFC 3339. It is 0 if it is none of them.
func until(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	if d, err := time.ParseDuration(text); err == nil {
		return max(d, 0)
	}
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		d, _ := duration(s, time.Second)
		return d
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// Quota is how many calls the tightest of some allowances lets through, and how long it
// takes until that is one more: they fill continuously. It is nil if there is none.
func Quota(list ...Allowance) *model.Quota {
	var least *model.Quota
	for _, a := range list {
		if a.Limit == 0 || a.Cost <= 0 || a.Reset <= 0 {
			continue
		}
		q := model.Quota{Left: int(min(a.Left/a.Cost, 1e9)), Every: a.Reset}
		if missing := a.Limit - a.Left; missing > a.Cost {
			q.Every = time.Duration(float64(a.Reset) * a.Cost / missing)
		}
		if least == nil || q.Left < least.Left || q.Left == least.Left && q.Every > least.Every {
			least = &q
		}
	}
	return least
}

// AskedToWait notes in an error how long the answer that it is about asks to wait. If it
// was too much and the answer does not say, that follows from what is left.
func (a *Reply) AskedToWait(e *model.Error, left ...Allowance) {
	wait, asked := RetryAfter(a.Header, time.Now())
	if !asked && e.Kind == model.RateLimited {
		if q := Quota(left...); q != nil && q.Left == 0 {
			wait = q.Every
		}
	}
	e.RetryAfter, e.RetryNow = wait, asked && wait == 0
}
