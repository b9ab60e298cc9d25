package notation

import (
	"slices"
	"strings"
)

// The words before an answer. Those of a label that say nothing are dropped, and
// what is left is the name of the value: "The area of the garden is 12" names an
// area.
var (
	copulas     = []string{"is", "are", "equals", "equal", "be"}
	connectives = []string{"so", "thus", "hence", "therefore", "then", "finally", "now", "and", "that", "we", "get", "have", "obtain", "find", "gives", "yields", "is", "means"}
	denials     = []string{"not", "never", "no", "cannot", "neither", "nor", "without", "except", "isn", "aren", "false", "wrong", "if", "unless"}
	estimates   = []string{"approximately", "about", "roughly", "around", "nearly", "almost"}
	plainLabels = []string{
		"the", "a", "an", "our", "final", "correct", "exact", "simplified", "answer", "answers", "result", "results", "solution",
		"solutions", "value", "values", "root", "roots", "of", "it", "this", "that", "sum", "total", "product", "number",
		"equation", "expression", "problem", "calculation", "computation", "so", "thus", "hence", "therefore", "then", "finally",
		"now", "and", "we", "get", "have", "find", "for", "to", "real", "set",
	}
)

// cutConnectives removes words such as "therefore" and the comma after them.
func cutConnectives(tokens []token) []token {
	for len(tokens) > 1 && tokens[0].isWord(connectives...) {
		if tokens = tokens[1:]; tokens[0].isOp(',', ':') {
			tokens = tokens[1:]
		}
	}
	return tokens
}

// cutLabel takes the words before an answer off: "The answer is", "Result:".
func cutLabel(tokens []token) (rest, label []token, approximate bool) {
	const longest = 12
	rest = tokens
	for i, t := range tokens[:min(len(tokens), longest)] {
		if i > 0 && (t.isOp(':') || t.isWord(copulas...)) {
			label, rest = tokens[:i], tokens[i+1:]
			break
		}
		if t.isWord(denials...) {
			refuse()
		}
		commaAfterWord := t.isOp(',') && i > 0 && tokens[i-1].kind == wordToken
		if t.kind != wordToken && (t.kind != nameToken || isFunction(t)) && !commaAfterWord {
			break
		}
	}
	// is equal to, is:, is approximately
	for len(rest) > 0 {
		switch t := rest[0]; {
		case label != nil && (t.isOp(':') || t.isWord("to") || t.isWord(copulas...)):
		case t.isWord(estimates...):
			approximate = true
		default:
			return rest, label, approximate
		}
		rest = rest[1:]
	}
	refuse()
	return nil, nil, false
}

// isLabel reports whether tokens are words, with variables among them at most.
func isLabel(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return t.kind == wordToken }) &&
		!slices.ContainsFunc(tokens, func(t token) bool {
			return t.isWord(denials...) || t.kind != wordToken && t.kind != nameToken || isFunction(t)
		})
}

// labelName is what a label names, and whether that is more than a variable.
func labelName(label []token) (name string, words bool) {
	var parts []string
	for _, t := range label {
		switch {
		case t.kind == nameToken && !strings.EqualFold(t.text, "a"):
			parts = append(parts, t.text)
		case t.kind == wordToken && !t.isWord(plainLabels...):
			parts = append(parts, strings.ToLower(t.text))
			words = true
		}
	}
	return strings.Join(parts, " "), words || len(parts) > 1
}
