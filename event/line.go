package event

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// AppendLine appends the line of the event, without a newline. A long run has a
// million of it, so it is written without reflection; it cannot fail.
func (e *StepCompleted) AppendLine(b []byte, h Header) []byte {
	h.Type = TypeStepCompleted
	b = h.append(b)
	b = append(b, `,"step":`...)
	b = strconv.AppendInt(b, int64(e.Step), 10)
	b = appendText(b, "title", e.Title)
	b = appendText(b, "by", e.By)
	b = appendText(b, "class", e.Class)
	b = appendText(b, "pool", e.Pool)
	if e.First != nil {
		b = append(b, `,"first":`...)
		b = e.First.appendJSON(b)
	}
	b = append(b, `,"output":`...)
	b = appendValue(b, e.Output)
	b = append(b, `,"voting":`...)
	b = e.Voting.appendJSON(b)
	b = append(b, `,"cost_usd":`...)
	if e.CostUSD == nil || math.IsNaN(*e.CostUSD) {
		b = append(b, `null`...)
	} else {
		b = appendFloat(b, *e.CostUSD)
	}
	b = append(b, `,"duration_ms":`...)
	b = strconv.AppendInt(b, e.DurationMS, 10)
	b = append(b, `,"spent":`...)
	b = appendSpent(b, e.Spent)
	if e.Right != nil {
		b = strconv.AppendBool(append(b, `,"right":`...), *e.Right)
	}
	if e.Loop {
		b = append(b, `,"loop":true`...)
	}
	if e.Rule != nil {
		b = appendRule(append(b, `,"rule":`...), *e.Rule)
	}
	return append(b, '}')
}

// IsPlain reports whether a verdict is one that AppendLine can write: most of those on which
// voters agreed at once.
func (e *VoteCompleted) IsPlain() bool {
	return e.Answer.Ref == nil && !looksStored(e.Answer.JSON) && isCompact(e.Answer.JSON) &&
		e.Intent == nil && len(e.Candidates) == 0 && len(e.Leads) == 0 && len(e.Asked) == 0 &&
		(e.CostUSD == nil || !math.IsNaN(*e.CostUSD) && !math.IsInf(*e.CostUSD, 0))
}

// AppendLine appends the line of a verdict that is plain, without a newline and, as there may
// be a million of them in a script that loops, without reflection. It is the line that
// encoding/json gives.
func (e *VoteCompleted) AppendLine(b []byte, h Header) []byte {
	h.Type = TypeVoteCompleted
	b = append(h.append(b), `,"question":`...)
	b = appendString(b, e.Question)
	b = strconv.AppendInt(append(b, `,"step":`...), int64(e.Step), 10)
	b = appendText(b, "scope", e.Scope)
	b = appendString(append(b, `,"status":`...), e.Status)
	b = append(append(b, `,"answer":`...), e.Answer.JSON...)
	b = appendText(b, "reason", e.Reason)
	b = e.Voting.appendJSON(append(b, `,"voting":`...))
	if b = append(b, `,"cost_usd":`...); e.CostUSD == nil {
		b = append(b, `null`...)
	} else {
		b = appendFloat(b, *e.CostUSD)
	}
	b = strconv.AppendInt(append(b, `,"duration_ms":`...), e.DurationMS, 10)
	b = appendRule(append(b, `,"rule":`...), e.Rule)
	b = appendSpent(append(b, `,"spent":`...), e.Spent)
	if e.Repaired {
		b = append(b, `,"repaired":true`...)
	}
	b = appendText(b, "class", e.Class)
	b = appendText(b, "pool", e.Pool)
	if e.Second {
		b = append(b, `,"second":true`...)
	}
	b = appendText(b, "said", e.Said)
	return append(b, '}')
}

func appendRule(b []byte, r vote.Rule) []byte {
	b = appendString(append(b, `{"strategy":`...), string(r.Strategy))
	b = appendCount(b, "n", int64(r.N))
	b = appendCount(b, "k", int64(r.K))
	b = appendCount(b, "min_votes", int64(r.MinVotes))
	if r.Target != 0 {
		b = appendFloat(append(b, `,"target_error":`...), r.Target)
	}
	b = strconv.AppendInt(append(b, `,"max_samples":`...), int64(r.MaxSamples), 10)
	return append(b, '}')
}

// appendText appends a field that is left out if it is empty.
func appendText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	b = append(append(b, `,"`...), name...)
	return appendString(append(b, `":`...), text)
}

// appendValue appends a value on one line. A value that is not JSON, which no
// reader should give, or that is too deep to be read again, is kept as a string: a
// line must stay an event.
func appendValue(b []byte, v Value) []byte {
	raw, err := v.MarshalJSON() // never fails for a Ref or raw JSON
	if err != nil {
		raw = nil
	}
	if TooDeep(raw) {
		return appendString(b, string(raw))
	}
	if isCompact(raw) {
		return append(b, raw...)
	}
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 && json.Valid(raw) {
		return append(b, raw...)
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) == nil {
		return append(b, compact.Bytes()...)
	}
	return appendString(b, string(raw))
}

// isCompact reports whether raw is JSON of the simplest kind: whole numbers, plain strings,
// lists and objects, without white space. Most outputs are, and it is several times as fast
// as json.Valid; of what it does not know it says no.
func isCompact(raw []byte) bool {
	depth, objects := 0, uint64(0) // which of the levels are objects, the innermost in the last bit
	for i := 0; i < len(raw); {
		// Here a value begins.
		switch c := raw[i]; {
		case '0' <= c && c <= '9':
			start := i
			for i++; i < len(raw) && '0' <= raw[i] && raw[i] <= '9'; i++ {
			}
			if c == '0' && i > start+1 {
				return false
			}
		case c == '"':
			if i = afterPlain(raw, i); i < 0 {
				return false
			}
		case c == '[' || c == '{':
			if i++; i < len(raw) && raw[i] == c+2 { // what closes it, in ASCII
				i++
				break
			}
			if depth++; depth > 64 {
				return false
			}
			if objects <<= 1; c == '{' {
				objects |= 1
				if i = afterName(raw, i); i < 0 {
					return false
				}
			}
			continue
		default:
			return false
		}
		// Here one has ended, and with it perhaps those around it.
		for {
			if depth == 0 {
				return i == len(raw)
			}
			if i == len(raw) {
				return false
			}
			object, c := objects&1 == 1, raw[i]
			i++
			if c == ',' {
				if object {
					if i = afterName(raw, i); i < 0 {
						return false
					}
				}
				break
			}
			if object && c != '}' || !object && c != ']' {
				return false
			}
			depth--
			objects >>= 1
		}
	}
	return false
}

// afterPlain is where a string without escapes that begins at i has ended, or -1.
func afterPlain(raw []byte, i int) int {
	if i >= len(raw) || raw[i] != '"' {
		return -1
	}
	for i++; i < len(raw) && isPlain[raw[i]]; i++ {
	}
	if i == len(raw) || raw[i] != '"' {
		return -1
	}
	return i + 1
}

// afterName is where the value of the field whose name begins at i does, or -1.
func afterName(raw []byte, i int) int {
	if i = afterPlain(raw, i); i < 0 || i == len(raw) || raw[i] != ':' {
		return -1
	}
	return i + 1
}

func (v *Voting) appendJSON(b []byte) []byte {
	b = append(b, `{"strategy":`...)
	b = appendString(b, string(v.Strategy))
	b = append(b, `,"samples":`...)
	b = strconv.AppendInt(b, int64(v.Samples), 10)
	b = append(b, `,"red_flagged":`...)
	b = strconv.AppendInt(b, int64(v.RedFlagged), 10)
	b = append(b, `,"faults":`...)
	b = strconv.AppendInt(b, int64(v.Faults), 10)
	if v.Cancelled != 0 {
		b = append(b, `,"cancelled":`...)
		b = strconv.AppendInt(b, int64(v.Cancelled), 10)
	}
	b = append(b, `,"votes":`...)
	if len(v.Votes) == 1 {
		for key, n := range v.Votes {
			b = append(b, '{')
			b = appendString(b, key)
			b = append(b, ':')
			b = strconv.AppendInt(b, int64(n), 10)
			b = append(b, '}')
		}
	} else if votes, err := json.Marshal(v.Votes); err == nil { // sorts the keys; never fails for this type
		b = append(b, votes...)
	}
	b = append(b, `,"margin":`...)
	b = strconv.AppendInt(b, int64(v.Margin), 10)
	if len(v.Unvoted) > 0 {
		if paths, err := json.Marshal(v.Unvoted); err == nil { // never fails for this type
			b = append(b, `,"unvoted":`...)
			b = append(b, paths...)
		}
	}
	if len(v.ByModel) > 0 {
		if votes, err := json.Marshal(v.ByModel); err == nil { // never fails for this type
			b = append(b, `,"by_model":`...)
			b = append(b, votes...)
		}
	}
	if len(v.Shares) > 0 {
		if shares, err := json.Marshal(v.Shares); err == nil { // never fails: costs are finite
			b = append(b, `,"shares":`...)
			b = append(b, shares...)
		}
	}
	if len(v.Answers) > 0 {
		b = appendRare(b, `,"answers":`, v.Answers)
	}
	if len(v.Discarded) > 0 {
		b = appendRare(b, `,"discarded":`, v.Discarded)
	}
	b = appendCount(b, "policy", int64(v.Policy))
	b = appendCount(b, "disputed", int64(v.Disputed))
	if v.GivenUp {
		b = append(b, `,"given_up":true`...)
	}
	return append(b, '}')
}

// appendRare appends a field that few events have.
func appendRare[T any](b []byte, name string, list []T) []byte {
	text, err := json.Marshal(list)
	if err != nil { // never: answers are JSON
		return b
	}
	return append(append(b, name...), text...)
}

func appendSpent(b []byte, s usage.Spent) []byte {
	b = append(b, `{"calls":`...)
	b = strconv.AppendInt(b, s.Calls, 10)
	b = append(b, `,"tokens":{"input":`...)
	b = strconv.AppendInt(b, s.Tokens.Input, 10)
	b = appendCount(b, "cache_read", s.Tokens.CacheRead)
	b = appendCount(b, "cache_write", s.Tokens.CacheWrite)
	b = append(b, `,"output":`...)
	b = strconv.AppendInt(b, s.Tokens.Output, 10)
	b = appendCount(b, "reasoning", s.Tokens.Reasoning)
	b = append(b, `},"usd":`...)
	b = appendFloat(b, s.USD)
	b = appendCount(b, "unpriced", s.Unpriced)
	if s.NoPrice {
		b = append(b, `,"no_price":true`...)
	}
	b = appendCount(b, "unreported", s.Unreported)
	b = appendCount(b, "abandoned", s.Abandoned)
	if s.HeldUSD != 0 {
		b = append(b, `,"held_usd":`...)
		b = appendFloat(b, s.HeldUSD)
	}
	b = appendCount(b, "held_tokens", s.HeldTokens)
	b = appendCount(b, "wasted", s.Wasted)
	return append(b, '}')
}

// appendCount appends a field that is left out at zero.
func appendCount(b []byte, name string, n int64) []byte {
	if n == 0 {
		return b
	}
	b = append(b, `,"`...)
	b = append(b, name...)
	b = append(b, `":`...)
	return strconv.AppendInt(b, n, 10)
}

// appendFloat appends a number. JSON has none that are not finite: no sum should come
// to one, and the largest there is stands for it.
func appendFloat(b []byte, f float64) []byte {
	// Most are amounts of money in whole picodollars. With at most 15 digits their decimals
	// are the shortest that stand for them, and need not be searched for.
	const dollar = 1e12
	if pico := math.Round(f * dollar); 1e8 <= pico && pico < 1e15 && pico/dollar == f {
		whole, part := uint64(pico)/dollar, uint64(pico)%dollar
		b = strconv.AppendUint(b, whole, 10)
		if part == 0 {
			return b
		}
		point := len(b)
		b = strconv.AppendUint(b, dollar+part, 10) // the 1 in front keeps the zeros
		b[point] = '.'
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
		return b
	}
	if math.IsNaN(f) {
		f = 0
	}
	return strconv.AppendFloat(b, min(max(f, -math.MaxFloat64), math.MaxFloat64), 'g', -1, 64)
}
