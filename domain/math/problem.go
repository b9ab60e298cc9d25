package math

import (
	"slices"
	"strings"
)

// The words of a problem that is a computation and nothing else.
var (
	computeWords = []string{
		"please", "compute", "calculate", "evaluate", "find", "determine", "what", "is", "are", "the", "exact", "value", "of",
		"result", "expression", "how", "much", "work", "out", "following", "numerically", "s", "give", "me", "exactly",
		"product", "calculation", "solve", "problem",
	}
	rewriteWords = []string{"simplify", "expand", "factor", "factorise", "factorize", "rewrite"}
)

// computation returns the expression that a problem asks to compute, if it asks
// for that and nothing else.
func computation(problem string) (*Expr, bool) {
	sentence, ok := onlyMathematics(problem)
	if !ok {
		return nil, false
	}
	tokens, err := lex(strings.NewReplacer("?", "", "’", " ", "'", " ").Replace(clean(sentence)))
	if err != nil {
		return nil, false
	}
	rewrite := false
	var verbs []string
	for len(tokens) > 0 {
		t := tokens[0]
		word := strings.ToLower(t.text)
		isRewrite := t.kind == wordToken && slices.Contains(rewriteWords, word)
		isFiller := t.kind == wordToken && slices.Contains(computeWords, word) || t.kind == opToken && t.op == ':' || t.kind == nameToken && t.text == "s"
		if t.kind == opToken && t.op == '\n' {
			isFiller = true
		}
		if !isRewrite && !isFiller {
			break
		}
		rewrite = rewrite || isRewrite
		verbs = append(verbs, word)
		tokens = tokens[1:]
	}
	// ", rounded to two decimals"
	if at := slices.IndexFunc(tokens, func(t token) bool {
		return t.kind == wordToken && slices.Contains([]string{"rounded", "round", "correct", "to"}, strings.ToLower(t.text))
	}); at > 0 && mayRound(problem) {
		tokens = tokens[:at]
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].kind == opToken && strings.ContainsRune("=\n,", tokens[len(tokens)-1].op) {
		tokens = tokens[:len(tokens)-1]
	}
	e, ok := namedOperation(tokens, verbs)
	if !ok {
		var open reading
		if e, open, err = parseExpr(tokens, reading{}); err != nil || open != (reading{}) {
			return nil, false
		}
	}
	if len(variables(e)) > 0 && !rewrite || e.Op == Sym {
		return nil, false
	}
	return e, true
}

// onlyMathematics returns the one sentence of a problem that has mathematics in
// it. There may be others without ("Show your work."), but not a second one.
func onlyMathematics(problem string) (string, bool) {
	found := ""
	for _, line := range strings.Split(strings.TrimSpace(problem), "\n") {
		for _, sentence := range sentences(line) {
			if !strings.ContainsAny(sentence, "0123456789=^*/+√π²³½") {
				continue
			}
			if found != "" {
				return "", false
			}
			found = sentence
		}
	}
	return found, found != ""
}

// sentences cuts a line after a full stop or a question mark that has a space
// behind it.
func sentences(line string) []string {
	var out []string
	start := 0
	for i := 0; i+1 < len(line); i++ {
		if (line[i] == '.' || line[i] == '?') && line[i+1] == ' ' {
			out = append(out, line[start:i+1])
			start = i + 1
		}
	}
	return append(out, line[start:])
}

// namedOperation reads "the sum of 3 and 4" and "subtract 3 from 4".
func namedOperation(tokens []token, verbs []string) (*Expr, bool) {
	if len(tokens) == 0 {
		return nil, false
	}
	verb, rest := strings.ToLower(tokens[0].text), tokens[1:]
	if n := len(verbs); tokens[0].kind != wordToken && n >= 2 && verbs[n-1] == "of" && verbs[n-2] == "product" {
		verb, rest = "product", tokens
	} else if tokens[0].kind != wordToken {
		return nil, false
	}
	if len(rest) > 0 && rest[0].kind == wordToken && rest[0].text == "of" {
		rest = rest[1:]
	}
	at := slices.IndexFunc(rest, func(t token) bool {
		return t.kind == wordToken && slices.Contains([]string{"and", "by", "from", "to"}, t.text)
	})
	if at < 0 {
		return nil, false
	}
	a, openA, err := parseExpr(rest[:at], reading{})
	if err != nil {
		return nil, false
	}
	b, openB, err := parseExpr(rest[at+1:], reading{})
	if err != nil || openA != (reading{}) || openB != (reading{}) {
		return nil, false
	}
	switch verb + " " + rest[at].text {
	case "sum and", "add and", "add to":
		return binary(Add, a, b), true
	case "product and", "multiply and", "multiply by":
		return binary(Mul, a, b), true
	case "subtract from":
		return minus(b, a), true
	case "divide by", "quotient and":
		return binary(Div, a, b), true
	}
	return nil, false
}
