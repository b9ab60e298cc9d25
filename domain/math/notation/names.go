package notation

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// functions are the names of functions, and which function it is. Those that are
// not functions of [Call] are made from others by the parser.
var functions = map[string]string{
	"sqrt": "sqrt", "cbrt": "cbrt", "abs": "abs", "exp": "exp",
	"sin": "sin", "cos": "cos", "tan": "tan", "cot": "cot", "sec": "sec", "csc": "csc",
	"asin": "asin", "acos": "acos", "atan": "atan", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
	"sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "ln": "ln", "log": "log", "lg": "lg",
}

// constants are the names of constants and of Greek letters.
var constants = map[string]string{
	"pi": Pi, "π": Pi, "e": E, "oo": Infinity,
	"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "theta": "θ", "lambda": "λ", "mu": "μ",
	"rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "omega": "ω",
}

// names takes a row of letters apart: a function, a constant, a variable, a
// product of variables as in 2xy, or a word.
func names(letters string) []token {
	if t, ok := known(letters); ok {
		return []token{t}
	}
	if utf8.RuneCountInString(letters) == 1 {
		return []token{{kind: nameToken, text: letters}}
	}
	// sinx, lny, pir, but not cost or sine
	if last := len(letters) - 1; last > 1 && strings.IndexByte("rxyz", letters[last]) >= 0 {
		if t, ok := known(letters[:last]); ok && (isFunction(t) && letters[last] != 'r' || t.text == Pi) {
			return []token{t, {kind: nameToken, text: letters[last:]}}
		}
	}
	if isProduct(letters) {
		var out []token
		for _, r := range letters {
			out = append(out, token{kind: nameToken, text: string(r)})
		}
		return out
	}
	return []token{{kind: wordToken, text: letters}}
}

// known returns the token of a function or a constant. Names of more than one
// letter may be capitalised.
func known(name string) (token, bool) {
	if len(name) > 1 && name[0] >= 'A' && name[0] <= 'Z' {
		name = strings.ToLower(name)
	}
	text := functions[name] + constants[name]
	return token{kind: nameToken, text: text}, text != ""
}

func isFunction(t token) bool { return t.kind == nameToken && functions[t.text] != "" }

// isProduct reports whether letters are variables side by side. Only what cannot
// be a word of English or a unit counts: cat is not the same as act.
func isProduct(letters string) bool {
	if len(letters) < 2 || len(letters) > 4 {
		return false
	}
	for _, set := range []string{"xyz", "abc", "mn", "pqr", "uvw", "rst", "ijk"} {
		if strings.Trim(letters, set) == "" {
			return !slices.Contains([]string{"cab", "mm", "nm", "ss", "rs", "st"}, letters)
		}
	}
	// A coefficient before variables, as in ax and kxy. There is no d, which
	// would be a differential.
	rest := letters[1:]
	return strings.IndexByte("abckmnpqrtuvw", letters[0]) >= 0 && strings.Trim(rest, "xyz") == "" &&
		!slices.Contains([]string{"by", "my"}, letters)
}
