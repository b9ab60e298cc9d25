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
	return timesSigns(spoken(l.tokens))
}

var (
	superscripts = regexp.MustCompile(`[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿˣ]+`)
	subscripts   = regexp.MustCompile(`[₀₁₂₃₄₅₆₇₈₉]+`)
	bareFrac     = regexp.MustCompile(`(\\[dtc]?frac) ?(\d) ?(\d)`)
)

// plain writes x² as x^(2), x₁ as x_{1}, and \frac12 as \frac{1}{2}.
func plain(text string) string {
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
		for _, t := range names(all[:len(all)-len(l.in)]) {
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

// phrases are words that are operators. Longer ones come first.
var phrases = []struct{ words, sign string }{
	{"the square root of", "√"}, {"square root of", "√"}, {"the cube root of", "∛"}, {"cube root of", "∛"}, {"to the power of", "^"},
	{"multiplied by", "*"}, {"divided by", "/"}, {"plus", "+"}, {"minus", "-"}, {"negative", "-"}, {"times", "*"},
	{"squared", "^2"}, {"cubed", "^3"}, {"percent", "%"}, {"degrees", "°"}, {"degree", "°"},
}

// spoken replaces words that are operators.
func spoken(tokens []token) []token {
	var out []token
	for len(tokens) > 0 {
		read, as := 1, tokens[:1]
		for _, p := range phrases {
			if words := strings.Fields(p.words); beginsWith(tokens, words) {
				sign := lexer{in: p.sign, space: tokens[0].space}
				for sign.in != "" {
					_ = sign.next() // it is understood
				}
				read, as = len(words), sign.tokens
				break
			}
		}
		out, tokens = append(out, as...), tokens[read:]
	}
	return out
}

func beginsWith(tokens []token, words []string) bool {
	if len(tokens) < len(words) {
		return false
	}
	for i, w := range words {
		if !tokens[i].isWord(w) {
			return false
		}
	}
	return true
}

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
