package math

import (
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain"
)

// A claim is an equation or an inequality that a text contains, in each of its
// readings.
type claim struct {
	readings [][]relation
	rounded  bool // a side is a decimal, which may be rounded
}

// The words around a claim. Before and after others it is not certain where the
// claim begins and ends: in "17 mod 5 = 2" it does not begin with the 5, and in
// "17/5 = 3 remainder 2" it does not end with the 3.
var (
	wordsBefore = []string{
		"so", "then", "thus", "hence", "therefore", "that", "gives", "give", "get", "gets", "have", "now", "finally", "since", "because", "compute", "calculate", "check", "verify", "yields", "yield", "obtain",
		"obtains", "find", "solve", "equation", "equations", "given", "if", "where", "when", "with", "satisfy", "satisfies",
		"satisfying", "let", "suppose", "system", "following", "implies", "means", "knowing", "again", "indeed", "also",
	}
	wordsAfter = []string{
		"so", "and", "then", "which", "thus", "hence", "therefore", "because", "since", "but", "as", "where", "while",
		"find", "what", "solve", "for", "if", "when", "determine", "is", "has", "holds", "gives", "with", "at",
	}

	// otherArithmetic are words of a text in which numbers do not mean what they
	// usually do.
	otherArithmetic = []string{
		"mod", "modulo", "modulus", "modular", "remainder", "base", "binary", "hexadecimal", "hex", "octal", "clock", "xor",
		"bitwise", "roman", "boolean", "saturating", "overflow",
	}
)

// The limits of what is looked for in one text.
const (
	maxClaims = 200
	maxPoint  = 200 // tokens of a point
)

// claims returns what a text claims.
func claims(text string) []claim {
	if len(text) > MaxBytes {
		return nil
	}
	var out []claim
	tokens := lexProse(text)
	related := false // the run before had a relation in it
	for start := 0; start < len(tokens) && len(out) < maxClaims; {
		end := runEnd(tokens, start)
		if end == start {
			start++
			continue
		}
		run := tokens[start:end]
		has := slices.ContainsFunc(run, isRelation)
		if has && beginsBefore(tokens, start, related) && endsAfter(tokens, end) {
			if c, ok := readItem(run); ok {
				out = append(out, c)
			}
		}
		related = has
		start = end
	}
	return out
}

func isRelation(t token) bool { return t.isOp(relations...) && t.op != '∈' }

// runEnd returns where the mathematics that begins at start ends.
func runEnd(tokens []token, start int) int {
	depth := 0
	for i := start; i < len(tokens); i++ {
		switch t := tokens[i]; t.kind {
		case wordToken:
			return i
		case opToken:
			switch t.op {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				if depth--; depth < 0 {
					return i
				}
			case opOther, ':', ';', '\n', '∈', '∅':
				return i
			case ',':
				if depth == 0 && !isGroupAt(tokens, i) {
					return i
				}
			}
		}
	}
	return len(tokens)
}

// beginsBefore reports whether a claim can begin at i, going by what is before.
func beginsBefore(tokens []token, i int, related bool) bool {
	if i == 0 {
		return true
	}
	before := tokens[i-1]
	word := func(j int) bool { return j >= 0 && tokens[j].kind == wordToken }
	switch {
	case before.kind == wordToken:
		text := strings.ToLower(before.text)
		return slices.Contains(wordsBefore, text) || text == "and" && related ||
			text == "of" && i >= 2 && slices.Contains([]string{"root", "roots", "solution", "solutions", "zeros"}, strings.ToLower(tokens[i-2].text))
	case before.op == '\n':
		return !continues(tokens, i, related)
	case before.op == ';':
		return true
	case before.op == ')': // 1) 3 + 4 = 7
		return i >= 2 && tokens[i-2].kind == numberToken && (i == 2 || tokens[i-3].op == '\n')
	case before.op == ':':
		return tokens[i].space && word(i-2)
	case before.op == ',':
		return tokens[i].space && (related || word(i-2))
	case before.op == opOther: // the end of a sentence
		return tokens[i].space && i >= 2 && !before.space
	}
	return false
}

// continues reports whether the line that begins at i goes on with the mathematics
// of the line before.
func continues(tokens []token, i int, related bool) bool {
	j := i - 1
	for j >= 0 && tokens[j].op == '\n' {
		j--
	}
	if j < 0 || tokens[j].kind == wordToken || tokens[j].op == opOther || tokens[j].op == ':' || tokens[j].op == ',' {
		return false
	}
	sign := tokens[i].kind == opToken && tokens[i].op != '(' && tokens[i].op != '√'
	open := tokens[j].kind == opToken && strings.ContainsRune("+-*/^=<>≤≥(", tokens[j].op)
	return open || sign && !related
}

// endsAfter reports whether a claim can end before i.
func endsAfter(tokens []token, i int) bool {
	if i == len(tokens) {
		return true
	}
	after := tokens[i]
	switch {
	case after.kind == wordToken:
		return slices.Contains(wordsAfter, strings.ToLower(after.text))
	case after.op == '\n', after.op == ';', after.op == ',':
		return true
	case after.op == opOther:
		return !after.space
	}
	return false
}

// readItem reads a claim that may be an item of a list, with a mark before it.
func readItem(run []token) (claim, bool) {
	first := run[0]
	marked := len(run) > 1 && first.kind == opToken && run[1].space
	switch {
	case marked && strings.ContainsRune("+-*", first.op):
		plain, ok := readClaim(run[1:])
		// In a sum that is written in a column the last line is + 3 = 15.
		if !ok || plain.readings[0][0].left.Op == Num {
			return claim{}, false
		}
		if first.op == '-' { // or else a minus sign
			if signed, ok := readClaim(run); ok {
				plain.readings = append(plain.readings, signed.readings...)
			}
		}
		return plain, true
	case first.kind == opToken && strings.ContainsRune("+*/^!%", first.op):
		return claim{}, false
	}
	return readClaim(run)
}

// readClaim reads a run as a chain of relations.
func readClaim(run []token) (claim, bool) {
	if isRelation(run[0]) || isRelation(run[len(run)-1]) {
		return claim{}, false
	}
	for _, t := range run {
		// 100 - 30% = 70 is said, but not meant as it is written.
		if t.kind == opToken && (t.op == '%' || t.op == '±' || t.op == '∓') {
			return claim{}, false
		}
	}
	var c claim
	readings := []reading{{}}
	for n := 0; n < len(readings); n++ {
		p := &answer{reading: readings[n]}
		relations, rounded, ok := p.chain(run)
		if !ok {
			return claim{}, false
		}
		c.readings = append(c.readings, relations)
		c.rounded = c.rounded || rounded
		if n == 0 {
			readings = append(readings, p.open.others()...)
		}
	}
	return c, true
}

// chain reads a = b = c. Approximations are left out.
func (p *answer) chain(run []token) (out []relation, rounded, ok bool) {
	start := 0
	var before *Value
	var op rune
	for i := range len(run) + 1 {
		if i < len(run) && !isRelation(run[i]) {
			continue
		}
		side := run[start:i]
		if isCallOf(side) {
			return nil, false, false
		}
		v, err := p.expression(side)
		if err != nil || v.kind != Expression {
			return nil, false, false
		}
		rounded = rounded || v.decimals > 0
		if op != 0 && op != '≈' {
			out = append(out, relate(before.expr, op, v.expr))
		}
		if i < len(run) {
			op = run[i].op
		}
		before, start = v, i+1
	}
	return out, rounded, len(out) > 0
}

// isCallOf reports whether a side is something like f(x), which is no product.
func isCallOf(side []token) bool {
	return len(side) >= 4 && side[0].kind == nameToken && strings.Contains("fghFGHPQ", side[0].text) && side[1].op == '('
}

// usesOtherArithmetic reports whether a text may be about remainders, other bases
// or the like.
func usesOtherArithmetic(text string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if slices.Contains(otherArithmetic, word) {
			return true
		}
	}
	return false
}

// Evidence returns the equations and the points that a text contains, in plain
// notation.
func (a *Adapter) Evidence(text string) domain.Evidence {
	var out domain.Evidence
	for _, c := range claims(text) {
		for _, r := range c.readings[0] {
			out.Equations = appendNew(out.Equations, r.String())
		}
	}
	for _, p := range pointsIn(text) {
		out.Points = appendNew(out.Points, p)
	}
	return out
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// pointsIn returns the points without variables in a text.
func pointsIn(text string) []string {
	if len(text) > MaxBytes {
		return nil
	}
	var out []string
	tokens := lexProse(text)
	for i := 0; i < len(tokens) && len(out) < maxClaims; i++ {
		if tokens[i].kind != opToken || tokens[i].op != '(' {
			continue
		}
		if i > 0 && !tokens[i].space && (tokens[i-1].kind == nameToken || tokens[i-1].kind == numberToken) {
			continue // a function or a product
		}
		near := tokens[:min(len(tokens), i+maxPoint)]
		end := runEnd(near, i+1)
		for end < len(near) && near[end].op == ',' {
			end = runEnd(near, end+1)
		}
		if end == len(near) || near[end].op != ')' {
			continue
		}
		p := &answer{}
		v, err := p.enclosed(tokens[i : end+1])
		if err != nil || v == nil || v.kind != Point || len(v.items) > 4 ||
			slices.ContainsFunc(v.items, func(item *Value) bool { return item.expr == nil || len(variables(item.expr)) > 0 }) {
			continue
		}
		out = append(out, v.String())
		i = end
	}
	return out
}
