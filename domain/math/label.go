package math

import (
	"errors"
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

var errDenied = errors.New("words that may deny what they introduce")

// cutConnectives removes words such as "therefore" and the comma after them.
func cutConnectives(tokens []token) []token {
	for len(tokens) > 1 && tokens[0].kind == wordToken && slices.Contains(connectives, strings.ToLower(tokens[0].text)) {
		tokens = tokens[1:]
		if tokens[0].kind == opToken && (tokens[0].op == ',' || tokens[0].op == ':') {
			tokens = tokens[1:]
		}
	}
	return tokens
}

// cutLabel takes the words before an answer off: "The answer is", "Result:".
func cutLabel(tokens []token) (rest, label []token, approximate bool, err error) {
	const longest = 12
	for i, t := range tokens[:min(len(tokens), longest)] {
		isColon := t.kind == opToken && t.op == ':'
		isCopula := t.kind == wordToken && slices.Contains(copulas, strings.ToLower(t.text))
		if i > 0 && (isColon || isCopula) {
			label, rest = tokens[:i], tokens[i+1:]
			break
		}
		if t.kind == wordToken && slices.Contains(denials, strings.ToLower(t.text)) {
			return nil, nil, false, errDenied
		}
		isComma := t.kind == opToken && t.op == ','
		if t.kind != wordToken && t.kind != nameToken && (!isComma || i == 0 || tokens[i-1].kind != wordToken) || isFunction(t) {
			break
		}
	}
	if label == nil {
		rest = tokens
	}
	// is equal to, is:, is approximately
	for len(rest) > 0 {
		t := rest[0]
		word := strings.ToLower(t.text)
		switch {
		case label != nil && t.kind == opToken && t.op == ':':
		case label != nil && t.kind == wordToken && (word == "to" || slices.Contains(copulas, word)):
		case t.kind == wordToken && slices.Contains(estimates, word):
			approximate = true
		default:
			return rest, label, approximate, nil
		}
		rest = rest[1:]
	}
	return nil, nil, false, errEmpty
}

// isLabel reports whether tokens are words, with variables among them at most.
func isLabel(tokens []token) bool {
	words := 0
	for _, t := range tokens {
		switch {
		case t.kind == wordToken:
			if slices.Contains(denials, strings.ToLower(t.text)) {
				return false
			}
			words++
		case t.kind != nameToken || isFunction(t):
			return false
		}
	}
	return words > 0
}

// labelName is what a label names, and whether that is more than a variable.
func labelName(label []token) (name string, words bool) {
	var parts []string
	for _, t := range label {
		word := strings.ToLower(t.text)
		switch {
		case t.kind == nameToken && word != "a":
			parts = append(parts, t.text)
		case t.kind == wordToken && !slices.Contains(plainLabels, word):
			parts = append(parts, word)
			words = true
		}
	}
	return strings.Join(parts, " "), words || len(parts) > 1
}
