package math

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Kind is the kind of thing that an answer is.
type Kind string

// The kinds.
const (
	Expression Kind = "expression" // one value, with variables or without
	Equation   Kind = "equation"   // equations or inequalities that hold together
	Point      Kind = "point"      // values in round brackets, in order
	List       Kind = "list"       // values in square brackets or none, in order
	Interval   Kind = "interval"   // two bounds in brackets that do not match
	Set        Kind = "set"        // values in any order
	Assignment Kind = "assignment" // several variables with their values
)

// A Value is what an answer says. It does not change.
type Value struct {
	kind  Kind
	name  string // of what it is the value, such as x; "" if that was not said
	words bool   // the name is more than a variable
	expr  *Expr  // of an expression
	items []*Value
	holds []relation // of an equation, all of which hold
	ends  string     // of an interval its two brackets

	approximate bool // it was introduced with ≈ or a word like that
	decimals    int  // digits after the point, if it is written as a decimal
	commas      bool // a comma may have been between thousands, or between values
	bare        bool // a list without brackets
}

// A relation says how two expressions compare. The operators are = < ≤ ≠ and ≈.
type relation struct {
	op          rune
	left, right *Expr
}

// relate is the relation left op right; > and ≥ are turned round.
func relate(left *Expr, op rune, right *Expr) relation {
	switch op {
	case '>':
		return relation{'<', right, left}
	case '≥':
		return relation{'≤', right, left}
	}
	return relation{op, left, right}
}

// String writes the relation in plain notation.
func (r relation) String() string {
	return r.left.String() + " " + string(r.op) + " " + r.right.String()
}

// Kind is what kind of thing the answer is.
func (v *Value) Kind() Kind { return v.kind }

// Expr is the expression that the answer is; nil if it is something else.
func (v *Value) Expr() *Expr { return v.expr }

// Items are the values in a point, a list, an interval, a set or an assignment.
func (v *Value) Items() []*Value { return slices.Clone(v.items) }

// Name is what the value is said to be the value of: x in x = 5. It is "" if
// that was not said.
func (v *Value) Name() string { return v.name }

// String writes the value in a plain form, which [Parse] reads unless there is a
// unit in it.
func (v *Value) String() string {
	var b strings.Builder
	if v.name != "" {
		b.WriteString(v.name + " = ")
	}
	switch v.kind {
	case Expression:
		b.WriteString(v.expr.String())
	case Equation:
		for i, r := range v.holds {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(r.String())
		}
	default:
		ends := map[Kind]string{Point: "()", List: "[]", Set: "{}", Interval: v.ends, Assignment: "  "}[v.kind]
		b.WriteString(strings.TrimSpace(ends[:1]))
		for i, item := range v.items {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(item.String())
		}
		b.WriteString(strings.TrimSpace(ends[1:]))
	}
	return b.String()
}

var errTooLong = fmt.Errorf("math: a text of more than %d bytes", MaxBytes)

// Parse reads an answer in its usual reading. Text that is not mathematics is an
// error.
func Parse(text string) (*Value, error) {
	v, _, err := parseText(text, reading{})
	return v, err
}

// parseText reads an answer, and reports what it leaves open.
func parseText(text string, r reading) (*Value, reading, error) {
	tokens, err := answerTokens(text)
	if err != nil {
		return nil, reading{}, err
	}
	p := &answer{reading: r}
	v, err := p.whole(tokens)
	if err != nil {
		return nil, reading{}, fmt.Errorf("math: %w", err)
	}
	return v, p.open, nil
}

func answerTokens(text string) ([]token, error) {
	if len(text) > MaxBytes {
		return nil, errTooLong
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("math: the text is not UTF-8")
	}
	tokens, err := lex(clean(text))
	if err == nil && len(tokens) == 0 {
		err = errEmpty
	}
	if err != nil {
		return nil, fmt.Errorf("math: %w", err)
	}
	return tokens, nil
}

// clean removes what surrounds an answer: fences, quotation marks, emphasis, a
// box, a full stop.
func clean(text string) string {
	text = strings.TrimSpace(norm.NFC.String(text))
	if inner, ok := boxed(text); ok {
		text = inner
	}
	for {
		before := text
		for _, pair := range [][2]string{
			{"```", "```"}, {"`", "`"}, {"**", "**"}, {`"`, `"`}, {"“", "”"}, {"$$", "$$"}, {"$", "$"}, {`\(`, `\)`}, {`\[`, `\]`},
		} {
			if inner, ok := strings.CutPrefix(text, pair[0]); ok {
				if inner, ok = strings.CutSuffix(inner, pair[1]); ok && !strings.Contains(inner, pair[1]) {
					text = strings.TrimSpace(inner)
				}
			}
		}
		text = strings.TrimRight(text, " \t\r\n;")
		if strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "..") {
			text = strings.TrimSpace(strings.TrimSuffix(text, "."))
		}
		if text == before {
			break
		}
	}
	// Emphasis inside a sentence: The answer is **5**.
	if i := strings.Index(text, "**"); i >= 0 && strings.HasSuffix(text, "**") && (i == 0 || text[i-1] == ' ') && strings.Count(text, "**") == 2 && i+2 < len(text)-2 {
		text = text[:i] + text[i+2:len(text)-2]
	}
	return text
}

// boxed returns what is in the last \boxed{} of a text.
func boxed(text string) (string, bool) {
	i := strings.LastIndex(text, `\boxed{`)
	if i < 0 {
		return "", false
	}
	inner := text[i+len(`\boxed{`):]
	depth := 1
	for at := 0; at < len(inner); at++ {
		switch inner[at] {
		case '\\':
			at++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return strings.TrimSpace(inner[:at]), true
			}
		}
	}
	return "", false
}

// canonicalText is the form in which texts that are not mathematics are compared.
// In formulas, also those that are not understood, letter case counts.
func canonicalText(text string) string {
	text = strings.Join(strings.Fields(clean(text)), " ")
	text = strings.TrimRight(text, " .!?,;:")
	if strings.ContainsAny(text, "0123456789=+*/^_<>\\'") {
		return text
	}
	return strings.ToLower(text)
}

var errSeveral = errors.New("several values that do not fit together")
