package notation

import (
	"slices"
	"strings"
)

// The words of problems.
var (
	computeWords = []string{
		"please", "compute", "calculate", "evaluate", "find", "determine", "what", "is", "are", "the", "exact", "value", "of",
		"result", "expression", "how", "much", "work", "out", "following", "numerically", "s", "give", "me", "exactly",
		"calculation", "solve", "problem",
	}
	rewriteWords = []string{"simplify", "expand", "factor", "factorise", "factorize", "rewrite"}
	solveWords   = []string{
		"solve", "the", "equation", "for", "find", "all", "real", "solutions", "solution", "roots", "root", "of", "please", "a", "quadratic",
		"cubic", "polynomial", "following", "what", "are", "x", "values", "over", "reals", "numbers", "every", "set",
	}
)

// Computation returns the expression that a problem asks to compute, if it asks
// for that and nothing else.
func Computation(problem string) (*Expr, bool) {
	return attempt(func() *Expr {
		tokens, ok := lex(wordMarks.Replace(clean(onlyMathematics(problem))))
		rewrite := false
		begin := slices.IndexFunc(tokens, func(t token) bool {
			rewrite = rewrite || t.isWord(rewriteWords...)
			return !t.isWord(rewriteWords...) && !t.isWord(computeWords...) && !t.isOp(':', '\n') && !(t.kind == nameToken && t.text == "s")
		})
		if !ok || begin < 0 {
			refuse()
		}
		tokens = tokens[begin:]
		// ", rounded to two decimals"
		at := slices.IndexFunc(tokens, func(t token) bool { return t.isWord("rounded", "round", "correct", "to") })
		if at > 0 && MayRound(problem) {
			tokens = tokens[:at]
		}
		for len(tokens) > 0 && tokens[len(tokens)-1].isOp('=', '\n', ',') {
			tokens = tokens[:len(tokens)-1]
		}
		e := operation(tokens)
		if e.Op == Sym || !rewrite && len(Variables(e)) > 0 {
			refuse()
		}
		return e
	})
}

// onlyMathematics returns the one sentence of a problem that has mathematics in
// it. There may be others without ("Show your work."), but not a second one.
func onlyMathematics(problem string) (found string) {
	for sentence := range strings.SplitSeq(sentenceEnds.Replace(problem), "\n") {
		if strings.ContainsAny(sentence, "0123456789=^*/+√π²³½") {
			if found != "" {
				refuse()
			}
			found = sentence
		}
	}
	return found
}

// operation reads "sum of 3 and 4", "subtract 3 from 4" and whatever is no words.
func operation(tokens []token) *Expr {
	if len(tokens) == 0 || tokens[0].kind != wordToken {
		return parseOnly(tokens)
	}
	verb, rest := strings.ToLower(tokens[0].text), tokens[1:]
	if len(rest) > 0 && rest[0].isWord("of") {
		rest = rest[1:]
	}
	at := slices.IndexFunc(rest, func(t token) bool { return t.isWord("and", "by", "from", "to") })
	if at < 0 && (verb == "sum" || verb == "product") {
		return parseOnly(rest)
	}
	if at < 0 {
		refuse()
	}
	a, b := parseOnly(rest[:at]), parseOnly(rest[at+1:])
	switch verb + " " + strings.ToLower(rest[at].text) {
	case "sum and", "add and", "add to":
		return Make(Add, a, b)
	case "product and", "multiply and", "multiply by":
		return Make(Mul, a, b)
	case "subtract from":
		return Minus(b, a)
	case "divide by", "quotient and":
		return Make(Div, a, b)
	}
	return refuse()
}

// MayRound reports whether a problem speaks of rounding.
func MayRound(problem string) bool {
	lower := strings.ToLower(problem)
	return slices.ContainsFunc([]string{"round", "approx", "decimal", "nearest", "estimate", "significant", "about how"}, func(w string) bool {
		return strings.Contains(lower, w)
	})
}

// Conditions returns what has to hold in a problem. A problem that has several
// readings, or gives alternatives, has no conditions.
func Conditions(problem string) []Statement {
	if UsesOtherArithmetic(problem) || hasWord(problem, []string{"or", "either", "not", "unless", "except", "false", "whether"}) {
		return nil
	}
	var out []Statement
	for _, c := range Claims(problem) {
		if len(c.Readings) > 1 {
			return nil
		}
		for _, s := range c.Readings[0] {
			if len(Variables(s.Left, s.Right)) > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

// AsksFor reports whether a problem with this one variable asks to solve for it or
// to find it, so that a bare number stands for it.
func AsksFor(problem, name string) bool {
	tokens := lexProse(problem)
	asked := false
	for i, t := range tokens {
		switch {
		case t.isWord("solve") && i == 0, t.isWord(solutionWords...):
			asked = true
			continue
		case t.isWord("find", "determine", "is", "for"), t.isWord("of") && i > 0 && tokens[i-1].isWord("value", "values"):
		default:
			continue
		}
		if rest := tokens[i+1:]; len(rest) > 0 && rest[0].kind == nameToken && rest[0].text == name {
			// "find x" asks for x, and "find x + 1" does not.
			if len(rest) > 1 && rest[1].kind == opToken && !rest[1].isOp(opOther, '\n', ',', ';', ':') {
				return false
			}
			asked = true
		}
	}
	return asked
}

// AsksForAll reports whether a problem asks for all solutions of its equation, and
// for nothing else.
func AsksForAll(problem string) bool {
	all := false
	for _, t := range lexProse(problem) {
		if t.kind == wordToken && !t.isWord(solveWords...) {
			return false
		}
		all = all || t.isWord("solve", "all", "solutions", "roots")
	}
	return all
}

// Formula returns what the words for putting two results together say, as an
// expression in a and b.
func Formula(how string) (*Expr, bool) {
	const longest = 200
	return attempt(func() *Expr {
		if len(how) > longest {
			refuse()
		}
		how = partNames.Replace(strings.ToLower(strings.Trim(how, ".`\"' \n\t")))
		if _, body, ok := strings.Cut(how, "lambda a, b:"); ok {
			how = body
		}
		if left, right, ok := strings.Cut(how, "="); ok {
			if how = right; !slices.Contains([]string{"result", "answer", "total", "final", "c", "f(a, b)", "f(a,b)"}, strings.TrimSpace(left)) {
				refuse()
			}
		}
		how, _, _ = strings.Cut(strings.ReplaceAll(how, " to obtain", " to get"), " to get")
		words := slices.DeleteFunc(strings.Fields(how), func(w string) bool { return slices.Contains(fillers, strings.TrimRight(w, ",:")) })
		switch how = strings.Join(words, " "); how {
		case "add", "sum", "addition":
			return Make(Add, Symbol("a"), Symbol("b"))
		case "multiply", "product", "multiplication":
			return Make(Mul, Symbol("a"), Symbol("b"))
		}
		tokens, ok := lex(how)
		e := operation(tokens)
		if !ok || !slices.Equal(Variables(e), []string{"a", "b"}) {
			refuse()
		}
		return e
	})
}

// Marks that are no mathematics, and where a sentence ends.
var (
	wordMarks    = strings.NewReplacer("?", "", "’", " ", "'", " ")
	sentenceEnds = strings.NewReplacer(". ", ".\n", "? ", "?\n")
)

var partNames = strings.NewReplacer(
	"return ", "", "result_a", "a", "result_b", "b", "a_result", "a", "b_result", "b", "solution_a", "a", "solution_b", "b",
	"subproblem_a", "a", "subproblem_b", "b", "part_a", "a", "part_b", "b", "the first", "a", "the second", "b",
)

// fillers are words of an instruction that do not change what is done.
var fillers = []string{
	"the", "two", "both", "together", "results", "result", "parts", "part", "partial", "products", "sums", "numbers", "values",
	"answers", "solutions", "subproblems", "sub-results", "outputs", "them", "up", "these", "final", "answer", "with", "intermediate",
}
