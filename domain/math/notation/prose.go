package notation

import (
	"slices"
	"strings"
)

// A Claim is a chain of equations and inequalities that a text contains, in each of
// its readings.
type Claim struct {
	Readings [][]Statement
	Rounded  bool // a side is a decimal, which may be rounded
}

// The words around a claim. Before and after others it is not certain where the
// claim begins and ends: in "17 mod 5 = 2" it does not begin with the 5, and in
// "17/5 = 3 remainder 2" it does not end with the 3.
var (
	wordsBefore = []string{
		"so", "then", "thus", "hence", "therefore", "that", "gives", "give", "get", "gets", "have", "now", "finally", "since",
		"because", "compute", "calculate", "check", "verify", "yields", "yield", "obtain", "obtains", "find", "solve", "equation", "equations", "given", "if", "where", "when", "with", "satisfy", "satisfies",
		"satisfying", "let", "suppose", "system", "following", "implies", "means", "knowing", "again", "indeed", "also",
	}
	wordsAfter = []string{
		"so", "and", "then", "which", "thus", "hence", "therefore", "because", "since", "but", "as", "where", "while",
		"find", "what", "solve", "for", "if", "when", "determine", "is", "has", "holds", "gives", "with", "at",
	}
	solutionWords = []string{"root", "roots", "solution", "solutions", "zeros"}

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

// Claims returns what a text claims.
func Claims(text string) []Claim {
	if len(text) > MaxBytes {
		return nil
	}
	var out []Claim
	tokens := lexProse(text)
	related := false // the run before had a relation in it
	for start := 0; start < len(tokens) && len(out) < maxClaims; {
		end := runEnd(tokens, start)
		if end == start {
			start++
			continue
		}
		has := slices.ContainsFunc(tokens[start:end], isRelation)
		if has && beginsBefore(tokens, start, related) && endsAfter(tokens, end) {
			if c, ok := attempt(func() Claim { return readItem(tokens[start:end]) }); ok {
				out = append(out, c)
			}
		}
		related, start = has, end
	}
	return out
}

func isRelation(t token) bool { return t.isOp(relations...) && !t.isOp('∈') }

// runEnd returns where the mathematics that begins at start ends.
func runEnd(tokens []token, start int) int {
	depth := 0
	for i := start; i < len(tokens); i++ {
		t := tokens[i]
		if t.isOp('(', '[', '{', ')', ']', '}') {
			depth += nesting(t)
		}
		if depth < 0 || t.kind == wordToken || t.isOp(opOther, ':', ';', '\n', '∈', '∅') || t.isOp(',') && depth == 0 && !isGroupAt(tokens, i) {
			return i
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
	afterWord := i >= 2 && tokens[i-2].kind == wordToken
	switch {
	case before.kind == wordToken:
		return before.isWord(wordsBefore...) || before.isWord("and") && related ||
			before.isWord("of") && i >= 2 && tokens[i-2].isWord(solutionWords...)
	case before.isOp('\n'):
		return !continues(tokens, i, related)
	case before.isOp(')'): // 1) 3 + 4 = 7
		return i >= 2 && tokens[i-2].kind == numberToken && (i == 2 || tokens[i-3].isOp('\n'))
	case before.isOp(':'):
		return tokens[i].space && afterWord
	case before.isOp(','):
		return tokens[i].space && (related || afterWord)
	case before.isOp(opOther): // the end of a sentence
		return tokens[i].space && i >= 2 && !before.space
	}
	return before.isOp(';')
}

// continues reports whether the line that begins at i goes on with the mathematics
// of the line before.
func continues(tokens []token, i int, related bool) bool {
	j := i - 1
	for j >= 0 && tokens[j].isOp('\n') {
		j--
	}
	if j < 0 || tokens[j].kind == wordToken || tokens[j].isOp(opOther, ':', ',') {
		return false
	}
	sign := tokens[i].kind == opToken && !tokens[i].isOp('(', '√')
	return tokens[j].isOp('+', '-', '*', '/', '^', '=', '<', '>', '≤', '≥', '(') || sign && !related
}

// endsAfter reports whether a claim can end before i.
func endsAfter(tokens []token, i int) bool {
	return i == len(tokens) || tokens[i].isWord(wordsAfter...) || tokens[i].isOp('\n', ';', ',') || tokens[i].isOp(opOther) && !tokens[i].space
}

// readItem reads a claim that may be an item of a list, with a mark before it.
func readItem(run []token) Claim {
	first := run[0]
	marked := first.isOp('+', '-', '*') && len(run) > 1 && run[1].space
	if !marked && !first.isOp('+', '*', '/', '^', '!', '%') {
		return readClaim(run)
	}
	plain := readClaim(run[1:])
	// In a sum that is written in a column the last line is + 3 = 15.
	if !marked || plain.Readings[0][0].Left.Op == Num {
		refuse()
	}
	if first.isOp('-') { // or else a minus sign
		signed, _ := attempt(func() Claim { return readClaim(run) })
		plain.Readings = append(plain.Readings, signed.Readings...)
	}
	return plain
}

// readClaim reads a run as a chain of relations.
func readClaim(run []token) (c Claim) {
	// 100 - 30% = 70 is said, but not meant as it is written.
	if slices.ContainsFunc(run, func(t token) bool { return t.isOp('%', '±', '∓') }) {
		refuse()
	}
	readings := []Reading{{}}
	for n := 0; n < len(readings); n++ {
		p := &answer{reading: readings[n]}
		holds, sides := p.sides(run, outside(run, isRelation))
		holds = slices.DeleteFunc(holds, func(s Statement) bool { return s.Op == '≈' })
		if len(holds) == 0 {
			refuse()
		}
		c.Rounded = c.Rounded || slices.ContainsFunc(sides, func(v *Value) bool { return v.Decimals > 0 })
		c.Readings = append(c.Readings, holds)
		if n == 0 {
			readings = append(readings, p.open.Others()...)
		}
	}
	return c
}

// UsesOtherArithmetic reports whether a text may be about remainders, other bases
// or the like.
func UsesOtherArithmetic(text string) bool { return hasWord(text, otherArithmetic) }

// hasWord reports whether one of the words is in a text.
func hasWord(text string, words []string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if slices.Contains(words, word) {
			return true
		}
	}
	return false
}

// Points returns the points without variables in a text, in plain notation.
func Points(text string) []string {
	if len(text) > MaxBytes {
		return nil
	}
	var out []string
	tokens := lexProse(text)
	for i := 0; i < len(tokens) && len(out) < maxClaims; i++ {
		t := tokens[i]
		if !t.isOp('(') || i > 0 && !t.space && (tokens[i-1].kind == nameToken || tokens[i-1].kind == numberToken) {
			continue // a function or a product
		}
		near := tokens[i:min(len(tokens), i+maxPoint)]
		ends := outside(near, func(t token) bool { return nesting(t) < 0 })
		if len(ends) == 0 {
			continue
		}
		v, _ := attempt(func() *Value { return new(answer).enclosed(near[:ends[0]+1]) })
		if v == nil || v.Kind != Point || len(v.Items) > 4 ||
			slices.ContainsFunc(near[:ends[0]], func(t token) bool { return t.kind == wordToken || t.isOp('\n', '∈') }) ||
			slices.ContainsFunc(v.Items, func(item *Value) bool { return item.Expr == nil || len(Variables(item.Expr)) > 0 }) {
			continue
		}
		out = append(out, v.String())
		i += ends[0]
	}
	return out
}
