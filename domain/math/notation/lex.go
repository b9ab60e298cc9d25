package notation

import (
	"cmp"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A token is a word of mathematics.
type token struct {
	kind tokenKind
	op   rune   // of an operator
	text string // of a number its digits, of a name or a word its letters

	value    *big.Rat // of a number
	decimals int      // digits after its point
	fraction bool     // it is a character such as ½

	space bool // there is white space before it
	cross bool // it is a multiplication sign that looks like an x
}

type tokenKind uint8

const (
	endToken tokenKind = iota
	opToken
	numberToken
	nameToken // a variable, a constant or a function
	wordToken // other letters
)

// Operators that have no character of their own.
const (
	opSetOpen  rune = 'S' // \{
	opSetClose rune = 'E' // \}
	opFrac     rune = 'F' // \frac
	opText     rune = 'T' // \text
	opBinding  rune = '_' // a subscript
	opOther    rune = '?' // a character that means nothing here; only prose has it
)

// isOp reports whether the token is one of some operators.
func (t token) isOp(ops ...rune) bool { return t.kind == opToken && slices.Contains(ops, t.op) }

// isWord reports whether the token is one of some words.
func (t token) isWord(words ...string) bool {
	return t.kind == wordToken && slices.Contains(words, strings.ToLower(t.text))
}

// A lexer takes a text apart.
type lexer struct {
	in     string // what is left
	space  bool
	tokens []token
}

// lex returns the tokens of a text. Spelling is gone: LaTeX, Unicode and words
// such as "plus" have become operators.
func lex(text string) (tokens []token, ok bool) {
	tokens = lexProse(text)
	return tokens, !slices.ContainsFunc(tokens, func(t token) bool { return t.isOp(opOther) })
}

// lexProse returns the tokens of a text that is not all mathematics.
func lexProse(text string) []token {
	l := &lexer{in: plain(text)}
	for l.in != "" {
		if !l.next() {
			l.emit(token{kind: opToken, op: opOther})
		}
	}
	return timesSigns(l.tokens)
}

var (
	superscripts = regexp.MustCompile(`[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿˣ]+`)
	subscripts   = regexp.MustCompile(`[₀₁₂₃₄₅₆₇₈₉]+`)
	bareFrac     = regexp.MustCompile(`(\\[dtc]?frac) ?(\d) ?(\d)`)
)

// plain writes x² as x^(2), x₁ as x_{1}, \frac12 as \frac{1}{2}, and signs for
// phrases.
func plain(text string) string {
	for sign, phrase := range phrases {
		text = phrase.ReplaceAllString(text, sign)
	}
	text = superscripts.ReplaceAllStringFunc(text, func(s string) string { return "^(" + norm.NFKC.String(s) + ")" })
	text = subscripts.ReplaceAllStringFunc(text, func(s string) string { return "_{" + norm.NFKC.String(s) + "}" })
	return bareFrac.ReplaceAllString(text, "$1{$2}{$3}")
}

func (l *lexer) emit(t token) {
	t.space, l.space = l.space, false
	l.tokens = append(l.tokens, t)
}

// next reads a token, and reports whether it is one of mathematics.
func (l *lexer) next() bool {
	if found := numeral.FindStringSubmatch(l.in); found[1]+found[2] != "" {
		return l.number(found[0], found[1], found[2], found[3])
	}
	all := l.in
	r, size := utf8.DecodeRuneInString(all)
	op, ok := operators[r]
	if two, found := digraphs[all[:min(2, len(all))]]; found {
		op, ok, size = two, two != 0, 2
	}
	l.in = all[size:]
	switch {
	case ok:
		l.emit(token{kind: opToken, op: op, cross: r == '×' || r == '✕'})
	case unicode.IsSpace(r) || strings.ContainsRune("$\u200b\u2061\u2062", r):
		l.space = true
	case r == '\\':
		return l.command()
	case unicode.IsLetter(r):
		l.in = strings.TrimLeftFunc(all, unicode.IsLetter)
		letters := all[:len(all)-len(l.in)]
		if sign, ok := signs[strings.ToLower(letters)]; ok {
			l.in = sign + l.in
			break
		}
		for _, t := range names(letters) {
			l.emit(t)
		}
	default: // a character such as ½, which is written 1⁄2
		n, d, _ := strings.Cut(norm.NFKD.String(string(r)), "⁄")
		value, ok := new(big.Rat).SetString(n + "/" + d)
		if ok {
			l.emit(token{kind: numberToken, value: value, fraction: true})
		}
		return ok
	}
	return true
}

// digraphs are operators of two characters; those without a meaning are 0.
var digraphs = map[string]rune{
	"**": '^', "==": '=', "<=": '≤', ">=": '≥', "!=": '≠', "~=": '≈', "=>": 0, "->": 0, "||": 0, "//": 0,
}

// operators are the characters that are operators, and what they mean.
var operators = map[rune]rune{
	'+': '+', '-': '-', '−': '-', '–': '-', '‑': '-', '‐': '-', '﹣': '-', '－': '-', '＋': '+',
	'*': '*', '×': '*', '·': '*', '⋅': '*', '∙': '*', '•': '*', '✕': '*', '∗': '*', '＊': '*',
	'/': '/', '÷': '/', '∕': '/', '⁄': '/', '／': '/',
	'^': '^', '!': '!', '%': '%', '°': '°', '_': opBinding, '\n': '\n',
	'(': '(', ')': ')', '[': '[', ']': ']', '{': '{', '}': '}', '|': '|',
	'（': '(', '）': ')',
	',': ',', ';': ';', ':': ':', '=': '=', '＝': '=', '<': '<', '>': '>',
	'≤': '≤', '⩽': '≤', '≥': '≥', '⩾': '≥', '≠': '≠', '≈': '≈', '≃': '≈', '≅': '≈',
	'±': '±', '∓': '∓', '√': '√', '∛': '∛', '∈': '∈', '∅': '∅', '∞': '∞',
}

// maxDigits bounds the length of a number.
const maxDigits = 10_000

// numeral has a point, an exponent, and separators of thousands that cannot be
// anything else. Commas are left to whoever knows what is around them.
var numeral = regexp.MustCompile(`^(\d+(?:(?:[\x{a0}\x{202f}\x{2009}_]|\{,\}|\\,|\{\\,\})\d{3})*)?(\.\d+)?(?:[eE]([+-]?\d+))?`)

var noDigits = regexp.MustCompile(`\D+`)

// number reads a text that consists of a whole number, a fraction and an exponent.
func (l *lexer) number(text, whole, fraction, power string) bool {
	l.in = l.in[len(text):]
	digits := noDigits.ReplaceAllString(whole, "")
	n := len(l.tokens)
	group := len(digits) == 3 && !l.space && n > 0 && l.tokens[n-1].op == ',' // of thousands
	if len(digits) > 1 && digits[0] == '0' && !group || text == "0" && l.in != "" && strings.IndexByte("xXbBoO", l.in[0]) >= 0 {
		return false // a code, or a number to another base
	}
	exponent, err := strconv.Atoi(cmp.Or(power, "0"))
	if err != nil || len(digits)+len(fraction)+max(exponent, -exponent) > maxDigits {
		return false
	}
	value, _ := new(big.Rat).SetString("0" + digits + fraction + "e" + strconv.Itoa(exponent))
	l.emit(token{kind: numberToken, text: digits + text[len(whole):], value: value, decimals: max(0, len(fraction)-1-exponent)})
	return true
}

// command reads what comes after a backslash.
func (l *lexer) command() bool {
	name := command.FindString(l.in)
	l.in = l.in[len(name):]
	op, ok := commands[name]
	switch known := names(name); {
	case ok && op == ' ':
		l.space = true
	case ok && op == opText: // what is in the braces is read as it stands
		inner, after, ok := strings.Cut(strings.TrimLeft(l.in, " "), "}")
		if !ok || !strings.HasPrefix(inner, "{") || strings.ContainsAny(inner, `\$`) {
			return false
		}
		l.in = " " + inner[1:] + " " + after
	case ok:
		l.emit(token{kind: opToken, op: op, cross: name == "times"})
	case len(name) > 1 && len(known) == 1 && known[0].kind == nameToken:
		l.emit(known[0])
	default:
		return false
	}
	return true
}

var command = regexp.MustCompile(`^(?:[a-zA-Z]+|[ -~\n])?`)

// commands are those of LaTeX that are operators. A space is white space.
var commands = map[string]rune{
	"cdot": '*', "times": '*', "ast": '*', "div": '/', "pm": '±', "mp": '∓',
	"le": '≤', "leq": '≤', "leqslant": '≤', "ge": '≥', "geq": '≥', "geqslant": '≥', "lt": '<', "gt": '>',
	"ne": '≠', "neq": '≠', "approx": '≈', "simeq": '≈', "in": '∈', "infty": '∞', "emptyset": '∅', "varnothing": '∅',
	"frac": opFrac, "dfrac": opFrac, "tfrac": opFrac, "cfrac": opFrac, "sqrt": '√',
	"lbrace": opSetOpen, "rbrace": opSetClose, "{": opSetOpen, "}": opSetClose, "lvert": '|', "rvert": '|', "vert": '|',
	"circ": '°', "degree": '°', "%": '%', "\\": '\n',
	"left": ' ', "right": ' ', "big": ' ', "Big": ' ', "bigl": ' ', "bigr": ' ', "Bigl": ' ', "Bigr": ' ',
	"quad": ' ', "qquad": ' ', "displaystyle": ' ', "textstyle": ' ', "limits": ' ',
	" ": ' ', ",": ' ', ";": ' ', ":": ' ', "!": ' ', "(": ' ', ")": ' ', "[": ' ', "]": ' ', "$": ' ', "\n": ' ',
	"text": opText, "mathrm": opText, "textbf": opText, "mathbf": opText, "operatorname": opText, "mbox": opText, "textrm": opText,
}

// Words that are operators.
var (
	signs = map[string]string{
		"plus": "+", "minus": "-", "negative": "-", "times": "*", "squared": "^2 ", "cubed": "^3 ", "percent": "%", "degrees": "°", "degree": "°",
	}
	phrases = map[string]*regexp.Regexp{
		"√": regexp.MustCompile(`(?i)\b(?:the\s+)?square\s+root\s+of\b`), "∛": regexp.MustCompile(`(?i)\b(?:the\s+)?cube\s+root\s+of\b`),
		"^": regexp.MustCompile(`(?i)\bto\s+the\s+power\s+of\b`),
		"*": regexp.MustCompile(`(?i)\bmultiplied\s+by\b`), "/": regexp.MustCompile(`(?i)\bdivided\s+by\b`),
	}
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
	if products.MatchString(letters) && !slices.Contains(words, letters) {
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

// products are variables side by side, as in xy, and with a coefficient, as in ax.
// There is no d, which would be a differential. Only what cannot be a word of
// English or a unit counts: cat is not the same as act.
var (
	products = regexp.MustCompile(`^(?:[xyz]{2,4}|[abc]{2,4}|[mn]{2,4}|[pqr]{2,4}|[uvw]{2,4}|[rst]{2,4}|[ijk]{2,4}|[abckmnpqrtuvw][xyz]{1,3})$`)
	words    = []string{"cab", "mm", "nm", "ss", "rs", "st", "by", "my"}
)
