package math

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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

// isOp reports whether the token is one of some operators.
func (t token) isOp(ops ...rune) bool { return t.kind == opToken && slices.Contains(ops, t.op) }

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
	opBinding  rune = '_' // a subscript
)

var errSymbol = errors.New("a character that mathematics does not use")

// A lexer takes a text apart.
type lexer struct {
	in     string
	at     int
	space  bool
	tokens []token
}

// opOther is a character that means nothing here. Only prose has it.
const opOther rune = '?'

// lexProse returns the tokens of a text that is not all mathematics.
func lexProse(text string) []token {
	l := &lexer{in: text}
	for l.at < len(l.in) {
		start := l.at
		if l.next() == nil {
			continue
		}
		_, size := utf8.DecodeRuneInString(l.in[start:])
		l.at = max(l.at, start+size)
		l.operator(opOther)
	}
	return timesSigns(wordOperators(l.tokens))
}

// lex returns the tokens of a text. Spelling is gone: LaTeX, Unicode and words
// such as "plus" have become operators.
func lex(text string) ([]token, error) {
	l := &lexer{in: text}
	if err := l.rest(); err != nil {
		return nil, err
	}
	return timesSigns(wordOperators(l.tokens)), nil
}

// rest reads all that is left.
func (l *lexer) rest() error {
	for l.at < len(l.in) {
		if err := l.next(); err != nil {
			return err
		}
	}
	return nil
}

func (l *lexer) emit(t token) {
	t.space, l.space = l.space, false
	l.tokens = append(l.tokens, t)
}

func (l *lexer) operator(op rune) { l.emit(token{kind: opToken, op: op}) }

func (l *lexer) next() error {
	r, size := utf8.DecodeRuneInString(l.in[l.at:])
	switch {
	case r == '\n':
		l.at += size
		l.operator('\n')
	case unicode.IsSpace(r) || r == '$' || r == '\u200b' || r == '\u2061' || r == '\u2062':
		l.at += size
		l.space = true
	case r == '\\':
		return l.command()
	case isDigit(r) || r == '.' && l.at+1 < len(l.in) && isDigit(rune(l.in[l.at+1])):
		return l.number()
	case superscript(r) != 0: // before letters, for ⁿ is one
		l.superscripts()
	case unicode.IsLetter(r):
		l.letters()
	case subscript(r) != 0:
		l.subscripts()
	case l.doubled("**"):
		l.at += 2
		l.operator('^')
	case l.doubled("=="):
		l.at += 2
		l.operator('=')
	case l.doubled("<="), l.doubled(">="), l.doubled("!="), l.doubled("~="):
		l.operator(map[byte]rune{'<': '≤', '>': '≥', '!': '≠', '~': '≈'}[l.in[l.at]])
		l.at += 2
	case l.doubled("=>"), l.doubled("->"), l.doubled("||"), l.doubled("//"):
		return errSymbol
	default:
		if f, ok := vulgar[r]; ok {
			l.at += size
			l.emit(token{kind: numberToken, value: big.NewRat(f[0], f[1]), fraction: true})
			return nil
		}
		op, ok := operators[r]
		if !ok {
			return fmt.Errorf("%w: %q", errSymbol, r)
		}
		l.at += size
		l.emit(token{kind: opToken, op: op, cross: r == '×' || r == '✕'})
	}
	return nil
}

func (l *lexer) doubled(s string) bool { return strings.HasPrefix(l.in[l.at:], s) }

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// operators are the characters that are operators, and what they mean.
var operators = map[rune]rune{
	'+': '+', '-': '-', '−': '-', '–': '-', '‑': '-', '‐': '-', '﹣': '-', '－': '-', '＋': '+',
	'*': '*', '×': '*', '·': '*', '⋅': '*', '∙': '*', '•': '*', '✕': '*', '∗': '*', '＊': '*',
	'/': '/', '÷': '/', '∕': '/', '⁄': '/', '／': '/',
	'^': '^', '!': '!', '%': '%', '°': '°', '_': opBinding,
	'(': '(', ')': ')', '[': '[', ']': ']', '{': '{', '}': '}', '|': '|',
	'（': '(', '）': ')',
	',': ',', ';': ';', ':': ':', '=': '=', '＝': '=', '<': '<', '>': '>',
	'≤': '≤', '⩽': '≤', '≥': '≥', '⩾': '≥', '≠': '≠', '≈': '≈', '≃': '≈', '≅': '≈',
	'±': '±', '∓': '∓', '√': '√', '∛': '∛', '∈': '∈', '∅': '∅', '∞': '∞',
}

var vulgar = map[rune][2]int64{
	'½': {1, 2}, '⅓': {1, 3}, '⅔': {2, 3}, '¼': {1, 4}, '¾': {3, 4}, '⅕': {1, 5}, '⅖': {2, 5}, '⅗': {3, 5}, '⅘': {4, 5},
	'⅙': {1, 6}, '⅚': {5, 6}, '⅐': {1, 7}, '⅛': {1, 8}, '⅜': {3, 8}, '⅝': {5, 8}, '⅞': {7, 8}, '⅑': {1, 9}, '⅒': {1, 10},
}

const (
	superscriptDigits = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿˣ"
	subscriptDigits   = "₀₁₂₃₄₅₆₇₈₉"
	superscriptPlain  = "0123456789+-nx"
)

// translate returns what a character of from stands for in to, 0 if it is not
// there.
func translate(r rune, from, to string) rune {
	i := 0
	for _, f := range from {
		if f == r {
			return rune(to[i])
		}
		i++
	}
	return 0
}

func superscript(r rune) rune { return translate(r, superscriptDigits, superscriptPlain) }
func subscript(r rune) rune   { return translate(r, subscriptDigits, "0123456789") }

// translated reads characters as long as they stand for something, and returns
// that.
func (l *lexer) translated(plain func(rune) rune) string {
	out := ""
	for l.at < len(l.in) {
		r, size := utf8.DecodeRuneInString(l.in[l.at:])
		p := plain(r)
		if p == 0 {
			break
		}
		out += string(p)
		l.at += size
	}
	return out
}

// superscripts reads x² as x^(2).
func (l *lexer) superscripts() {
	exponent := lexer{in: l.translated(superscript)}
	l.operator('^')
	l.operator('(')
	_ = exponent.rest() // digits, signs and letters are always understood
	l.tokens = append(l.tokens, exponent.tokens...)
	l.operator(')')
}

// subscripts reads x₁ as the variable x_1.
func (l *lexer) subscripts() {
	digits := l.translated(subscript)
	l.operator(opBinding)
	value, _ := new(big.Rat).SetString(digits)
	l.emit(token{kind: numberToken, text: digits, value: value})
}

// maxDigits bounds the length of a number.
const maxDigits = 10_000

// number reads digits with a point, an exponent, and separators of thousands that
// cannot be anything else. Commas are left to whoever knows what is around them.
func (l *lexer) number() error {
	start := l.at
	whole := l.digits()
	n := len(l.tokens)
	group := len(whole) == 3 && !l.space && n > 0 && l.tokens[n-1].op == ',' // of thousands
	if len(whole) > 1 && whole[0] == '0' && !group || whole == "0" && l.at < len(l.in) && strings.IndexByte("xXbBoO", l.in[l.at]) >= 0 {
		return errors.New("a code or a number to another base")
	}
	for whole != "" && len(whole) <= maxDigits {
		group, length := l.thousands()
		if group == "" {
			break
		}
		whole += group
		l.at += length
	}
	fraction := ""
	if l.at+1 < len(l.in) && l.in[l.at] == '.' && isDigit(rune(l.in[l.at+1])) {
		l.at++
		fraction = l.digits()
	}
	exponent := 0
	if n, length := l.exponent(); length > 0 {
		exponent = n
		l.at += length
	}
	if len(whole)+len(fraction)+max(exponent, -exponent) > maxDigits {
		return fmt.Errorf("a number of more than %d digits", maxDigits)
	}
	digits, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return fmt.Errorf("%q is no number", l.in[start:l.at])
	}
	value := new(big.Rat).SetInt(digits)
	scale := exponent - len(fraction)
	power := new(big.Rat).SetInt(powerOfTen(max(scale, -scale)))
	if scale >= 0 {
		value.Mul(value, power)
	} else {
		value.Quo(value, power)
	}
	text := l.in[start:l.at]
	if fraction == "" && exponent == 0 {
		text = whole
	}
	l.emit(token{kind: numberToken, text: text, value: value, decimals: max(0, -scale)})
	return nil
}

func powerOfTen(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

func (l *lexer) digits() string {
	start := l.at
	for l.at < len(l.in) && isDigit(rune(l.in[l.at])) {
		l.at++
	}
	return l.in[start:l.at]
}

// thousands returns three digits after a separator that stands only between
// thousands: a narrow space, {,} or _.
func (l *lexer) thousands() (group string, length int) {
	for _, separator := range []string{"\u00a0", "\u202f", "\u2009", "{,}", `\,`, `{\,}`, "_"} {
		rest, ok := strings.CutPrefix(l.in[l.at:], separator)
		if !ok || len(rest) < 3 {
			continue
		}
		group := rest[:3]
		if strings.Trim(group, "0123456789") == "" && (len(rest) == 3 || !isDigit(rune(rest[3]))) {
			return group, len(separator) + 3
		}
	}
	return "", 0
}

// exponent reads the end of 1e5 and 2.5E-3.
func (l *lexer) exponent() (n, length int) {
	rest := l.in[l.at:]
	if len(rest) < 2 || rest[0] != 'e' && rest[0] != 'E' {
		return 0, 0
	}
	i := 1
	if rest[i] == '+' || rest[i] == '-' {
		i++
	}
	first := i
	for i < len(rest) && isDigit(rune(rest[i])) {
		if n < 1_000_000 {
			n = 10*n + int(rest[i]-'0')
		}
		i++
	}
	if i == first {
		return 0, 0
	}
	if rest[1] == '-' {
		n = -n
	}
	return n, i
}

func (l *lexer) letters() {
	start := l.at
	for l.at < len(l.in) {
		r, size := utf8.DecodeRuneInString(l.in[l.at:])
		if !unicode.IsLetter(r) || superscript(r) != 0 {
			break
		}
		l.at += size
	}
	for _, t := range names(l.in[start:l.at]) {
		l.emit(t)
	}
}

// command reads what begins with a backslash.
func (l *lexer) command() error {
	l.at++
	start := l.at
	for l.at < len(l.in) && ('a' <= l.in[l.at] && l.in[l.at] <= 'z' || 'A' <= l.in[l.at] && l.in[l.at] <= 'Z') {
		l.at++
	}
	name := l.in[start:l.at]
	if name == "" {
		return l.escaped()
	}
	if op, ok := commands[name]; ok {
		switch op {
		case ' ':
			l.space = true
		case '\n':
			return l.textCommand()
		default:
			l.emit(token{kind: opToken, op: op, cross: name == "times"})
		}
		return nil
	}
	if t := names(name); len(t) == 1 && t[0].kind == nameToken && utf8.RuneCountInString(name) > 1 {
		l.emit(t[0])
		return nil
	}
	return fmt.Errorf("the command \\%s is not known", name)
}

// escaped reads a backslash before something that is no letter.
func (l *lexer) escaped() error {
	if l.at == len(l.in) {
		return errSymbol
	}
	c := l.in[l.at]
	l.at++
	switch c {
	case ' ', ',', ';', ':', '!', '(', ')', '[', ']', '$', '\n':
		l.space = true
	case '{':
		l.operator(opSetOpen)
	case '}':
		l.operator(opSetClose)
	case '%':
		l.operator('%')
	case '\\':
		l.operator('\n')
	default:
		return errSymbol
	}
	return nil
}

// textCommand reads the words in \text{ cm}.
func (l *lexer) textCommand() error {
	rest := strings.TrimLeft(l.in[l.at:], " ")
	inner, _, ok := strings.Cut(rest, "}")
	if !ok || !strings.HasPrefix(rest, "{") || strings.ContainsAny(inner, `\$`) {
		return errSymbol
	}
	l.at = len(l.in) - len(rest) + len(inner) + 1
	inside := lexer{in: inner[1:]}
	if err := inside.rest(); err != nil {
		return err
	}
	if len(inside.tokens) > 0 {
		inside.tokens[0].space = true
	}
	l.tokens = append(l.tokens, inside.tokens...)
	l.space = true
	return nil
}

// commands are those of LaTeX that are operators. A space is white space, and a
// new line is words.
var commands = map[string]rune{
	"cdot": '*', "times": '*', "ast": '*', "div": '/', "pm": '±', "mp": '∓',
	"le": '≤', "leq": '≤', "leqslant": '≤', "ge": '≥', "geq": '≥', "geqslant": '≥', "lt": '<', "gt": '>',
	"ne": '≠', "neq": '≠', "approx": '≈', "simeq": '≈', "in": '∈', "infty": '∞', "emptyset": '∅', "varnothing": '∅',
	"frac": opFrac, "dfrac": opFrac, "tfrac": opFrac, "cfrac": opFrac, "sqrt": '√',
	"lbrace": opSetOpen, "rbrace": opSetClose, "lvert": '|', "rvert": '|', "vert": '|',
	"circ": '°', "degree": '°',
	"left": ' ', "right": ' ', "big": ' ', "Big": ' ', "bigl": ' ', "bigr": ' ', "Bigl": ' ', "Bigr": ' ',
	"quad": ' ', "qquad": ' ', "displaystyle": ' ', "textstyle": ' ', "limits": ' ',
	"text": '\n', "mathrm": '\n', "textbf": '\n', "mathbf": '\n', "operatorname": '\n', "mbox": '\n', "textrm": '\n',
}
