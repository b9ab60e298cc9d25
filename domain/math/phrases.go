package math

import (
	"math/big"
	"slices"
	"strings"
)

// timesSigns reads the letter between two numbers as a sign, as in 3 x 4.
func timesSigns(tokens []token) []token {
	for i := 1; i+1 < len(tokens); i++ {
		t := &tokens[i]
		if t.kind == nameToken && (t.text == "x" || t.text == "X") &&
			tokens[i-1].kind == numberToken && tokens[i+1].kind == numberToken && t.space == tokens[i+1].space {
			*t = token{kind: opToken, op: '*', space: t.space, cross: true}
		}
	}
	return tokens
}

// phrases are words that are operators. Longer ones come first.
var phrases = []struct {
	words []string
	with  []token
}{
	{[]string{"the", "square", "root", "of"}, []token{{kind: opToken, op: '√', space: true}}},
	{[]string{"square", "root", "of"}, []token{{kind: opToken, op: '√', space: true}}},
	{[]string{"the", "cube", "root", "of"}, []token{{kind: opToken, op: '∛', space: true}}},
	{[]string{"cube", "root", "of"}, []token{{kind: opToken, op: '∛', space: true}}},
	{[]string{"to", "the", "power", "of"}, []token{{kind: opToken, op: '^', space: true}}},
	{[]string{"multiplied", "by"}, []token{{kind: opToken, op: '*', space: true}}},
	{[]string{"divided", "by"}, []token{{kind: opToken, op: '/', space: true}}},
	{[]string{"plus"}, []token{{kind: opToken, op: '+', space: true}}},
	{[]string{"minus"}, []token{{kind: opToken, op: '-', space: true}}},
	{[]string{"negative"}, []token{{kind: opToken, op: '-', space: true}}},
	{[]string{"times"}, []token{{kind: opToken, op: '*', space: true}}},
	{[]string{"squared"}, []token{{kind: opToken, op: '^'}, {kind: numberToken, text: "2", value: big.NewRat(2, 1)}}},
	{[]string{"cubed"}, []token{{kind: opToken, op: '^'}, {kind: numberToken, text: "3", value: big.NewRat(3, 1)}}},
	{[]string{"percent"}, []token{{kind: opToken, op: '%'}}},
	{[]string{"degrees"}, []token{{kind: opToken, op: '°'}}},
	{[]string{"degree"}, []token{{kind: opToken, op: '°'}}},
}

// wordOperators replaces words that are operators.
func wordOperators(tokens []token) []token {
	if !slices.ContainsFunc(tokens, func(t token) bool { return t.kind == wordToken }) {
		return tokens
	}
	out := make([]token, 0, len(tokens))
	for i := 0; i < len(tokens); {
		n := len(out)
		for _, p := range phrases {
			if matchWords(tokens[i:], p.words) {
				out = append(out, p.with...)
				i += len(p.words)
				break
			}
		}
		if len(out) == n {
			out = append(out, tokens[i])
			i++
		}
	}
	return out
}

func matchWords(tokens []token, words []string) bool {
	if len(tokens) < len(words) {
		return false
	}
	for i, w := range words {
		if tokens[i].kind != wordToken || !strings.EqualFold(tokens[i].text, w) {
			return false
		}
	}
	return true
}
