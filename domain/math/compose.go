package math

import (
	"math/big"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain"
)

// Compose combines two numbers if how is certain to be arithmetic on them: a
// formula in a and b ("10*a + b"), or plain words ("add the two results",
// "subtract b from a"). The result is exact. Whether code may compose at all is
// up to the caller: what is computed here is not voted on.
func (a *Adapter) Compose(problem, how string, x, y domain.Part) (string, bool) {
	if len(how) > 200 {
		return "", false
	}
	formula, ok := formulaOf(how)
	if !ok {
		return "", false
	}
	p, ok := partValue(x.Solution)
	if !ok {
		return "", false
	}
	q, ok := partValue(y.Solution)
	if !ok {
		return "", false
	}
	c := newComparer(Options{})
	r := c.exact(formula, map[string]*big.Rat{"a": p.exact, "b": q.exact})
	if r == nil {
		return "", false
	}
	if places, terminates := r.FloatPrec(); !r.IsInt() && terminates && p.decimal && q.decimal {
		return r.FloatString(places), true
	}
	return r.RatString(), true
}

// A part is the number that a partial solution is.
type part struct {
	exact   *big.Rat
	decimal bool // it was not written as a fraction
}

func partValue(solution string) (part, bool) {
	v, open, err := parseText(solution, reading{})
	if err != nil || open != (reading{}) || v.approximate {
		return part{}, false
	}
	c := newComparer(Options{})
	if v = c.worked(v); v == nil || v.kind != Expression || len(variables(v.expr)) > 0 {
		return part{}, false
	}
	r := c.exact(v.expr, nil)
	return part{r, v.expr.Op == Num || v.expr.Op == Neg}, r != nil
}

// formulaOf returns what how says as an expression in a and b.
func formulaOf(how string) (*Expr, bool) {
	how = strings.ToLower(strings.Trim(strings.TrimSpace(how), ".`\"' "))
	if _, body, ok := strings.Cut(how, "lambda a, b:"); ok {
		how = body
	}
	how = strings.NewReplacer(
		"return ", "", "result_a", "a", "result_b", "b", "a_result", "a", "b_result", "b", "solution_a", "a", "solution_b", "b",
		"subproblem_a", "a", "subproblem_b", "b", "part_a", "a", "part_b", "b", "the first", "a", "the second", "b",
	).Replace(how)
	if left, right, ok := strings.Cut(how, "="); ok {
		if !slices.Contains([]string{"result", "answer", "total", "final", "c", "f(a, b)", "f(a,b)"}, strings.TrimSpace(left)) {
			return nil, false
		}
		how = right
	}
	if f, ok := spokenFormula(how); ok {
		return f, true
	}
	tokens, err := lex(how)
	if err != nil {
		return nil, false
	}
	e, open, err := parseExpr(tokens, reading{})
	if err != nil || open != (reading{}) || !slices.Equal(variables(e), []string{"a", "b"}) {
		return nil, false
	}
	return e, true
}

// fillers are words of an instruction that do not change what is done.
var fillers = []string{
	"the", "two", "both", "together", "results", "result", "parts", "part", "partial", "products", "sums", "numbers", "values",
	"answers", "solutions", "subproblems", "sub-results", "outputs", "of", "and", "a", "b", "them", "up", "these", "to", "get", "final",
	"answer", "obtain", "by", "with", "intermediate",
}

// spokenFormula understands plain words.
func spokenFormula(how string) (*Expr, bool) {
	words := strings.FieldsFunc(how, func(r rune) bool { return r == ' ' || r == ',' || r == ':' })
	if len(words) == 0 {
		return nil, false
	}
	a, b := symbol("a"), symbol("b")
	rest := slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return slices.Contains([]string{"the", "result", "part", "of"}, w) })
	switch sentence := words[0] + " " + strings.Join(rest, " "); sentence {
	case "subtract b from a":
		return minus(a, b), true
	case "subtract a from b":
		return minus(b, a), true
	case "divide a by b":
		return binary(Div, a, b), true
	case "divide b by a":
		return binary(Div, b, a), true
	}
	if slices.ContainsFunc(words[1:], func(w string) bool { return !slices.Contains(fillers, w) }) {
		return nil, false
	}
	// "Add a and a" is something else.
	mentions := map[string]int{}
	for _, w := range words {
		mentions[w]++
	}
	if mentions["a"] != mentions["b"] || mentions["a"] > 1 {
		return nil, false
	}
	switch words[0] {
	case "add", "sum", "addition":
		return binary(Add, a, b), true
	case "multiply", "product", "multiplication":
		return binary(Mul, a, b), true
	}
	return nil, false
}
