package notation

import (
	"regexp"
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
	Point      Kind = "point"      // values in round brackets, in order
	List       Kind = "list"       // values in square brackets or none, in order
	Interval   Kind = "interval"   // two bounds in brackets that do not match
	Set        Kind = "set"        // values in any order
	Assignment Kind = "assignment" // several variables with their values
	Equation   Kind = "equation"   // equations or inequalities that hold together
)

// A Value is what an answer says. It does not change.
type Value struct {
	Kind  Kind
	Name  string // of what it is the value, such as x; "" if that was not said
	Words bool   // the name is more than a variable
	Expr  *Expr  // of an expression
	Items []*Value
	Holds []Statement // of an equation, all of which hold
	Ends  string      // of an interval its two brackets

	Approximate bool // it was introduced with ≈ or a word like that
	Decimals    int  // digits after the point, if it is written as a decimal
	Commas      bool // a comma may have been between thousands, or between values
	Bare        bool // a list without brackets
}

// A Statement says how two expressions compare. The operators are = < ≤ ≠ and ≈.
type Statement struct {
	Op          rune
	Left, Right *Expr
}

// state is the statement left op right; > and ≥ are turned round.
func state(left *Expr, op rune, right *Expr) Statement {
	switch op {
	case '>':
		return Statement{'<', right, left}
	case '≥':
		return Statement{'≤', right, left}
	}
	return Statement{op, left, right}
}

// String writes the statement in plain notation.
func (s Statement) String() string {
	return s.Left.String() + " " + string(s.Op) + " " + s.Right.String()
}

// Statements are what a value claims: the equations, or x = 5.
func (v *Value) Statements() []Statement {
	if v.Kind == Expression && v.Name != "" && !v.Words {
		return []Statement{{'=', Symbol(v.Name), v.Expr}}
	}
	return v.Holds
}

// String writes the value in a plain form, which [Parse] reads unless there is a
// unit in it.
func (v *Value) String() string {
	var parts []string
	for _, s := range v.Holds {
		parts = append(parts, s.String())
	}
	for _, item := range v.Items {
		parts = append(parts, item.String())
	}
	text := strings.Join(parts, ", ")
	switch v.Kind {
	case Expression:
		text = v.Expr.String()
	case Point, List, Set, Interval:
		ends := map[Kind]string{Point: "()", List: "[]", Set: "{}", Interval: v.Ends}[v.Kind]
		text = ends[:1] + text + ends[1:]
	}
	if v.Name != "" {
		return v.Name + " = " + text
	}
	return text
}

// Parse reads an answer in its usual reading. It refuses text that is not
// mathematics.
func Parse(text string) (v *Value, ok bool) {
	v, _, ok = Read(text, Reading{})
	return v, ok
}

// Read reads an answer in some reading, and reports what it leaves open.
func Read(text string, r Reading) (v *Value, open Reading, ok bool) {
	if len(text) > MaxBytes || !utf8.ValidString(text) {
		return nil, Reading{}, false
	}
	if slices.Contains([]string{"no solution", "no solutions", "empty set", "the empty set"}, Canonical(text)) {
		return &Value{Kind: Set}, Reading{}, true
	}
	p := &answer{reading: r}
	if tokens, mathematics := lex(clean(text)); mathematics {
		v, ok = attempt(func() *Value { return p.whole(tokens) })
	}
	return v, p.open, ok
}

// Final is what a solution comes to: all of it, or the line that calls itself the
// answer. It is nil if there is none, or one with several readings.
func Final(solution string) *Value {
	v, open, ok := Read(solution, Reading{})
	if !ok && len(solution) <= MaxBytes {
		for _, line := range slices.Backward(strings.Split(solution, "\n")) {
			line = strings.ReplaceAll(strings.Trim(strings.TrimSpace(line), "#*_ "), "**", "")
			if lower := strings.ToLower(line); strings.Contains(lower, "answer") || strings.HasPrefix(lower, "result") {
				v, open, ok = Read(line, Reading{})
				break
			}
		}
	}
	if !ok || open.Wide || open.Natural {
		return nil
	}
	return v
}

// boxed is \boxed{} with up to three braces inside each other.
var boxed = regexp.MustCompile(`\\boxed\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}`)

// surroundings are what an answer may be put into.
var surroundings = [][2]string{
	{"```", "```"}, {"`", "`"}, {"**", "**"}, {`"`, `"`}, {"“", "”"}, {"$$", "$$"}, {"$", "$"}, {`\(`, `\)`}, {`\[`, `\]`},
}

// clean removes what surrounds an answer: fences, quotation marks, emphasis, a
// box, a full stop.
func clean(text string) string {
	text = strings.TrimSpace(norm.NFC.String(text))
	if all := boxed.FindAllStringSubmatch(text, -1); all != nil {
		text = strings.TrimSpace(all[len(all)-1][1])
	}
	for before := ""; text != before; {
		before = text
		for _, pair := range surroundings {
			inner, opened := strings.CutPrefix(text, pair[0])
			inner, closed := strings.CutSuffix(inner, pair[1])
			if opened && closed && !strings.Contains(inner, pair[1]) {
				text = strings.TrimSpace(inner)
			}
		}
		text = strings.TrimRight(text, " \t\r\n;")
		if strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "..") {
			text = strings.TrimSpace(strings.TrimSuffix(text, "."))
		}
	}
	// Emphasis inside a sentence: The answer is **5**.
	if before, inner, ok := strings.Cut(text, " **"); ok && strings.Count(inner, "**") == 1 && strings.HasSuffix(inner, "**") && !strings.Contains(before, "**") {
		text = before + " " + strings.TrimSuffix(inner, "**")
	}
	return text
}

// Canonical is the form in which texts that are not mathematics are compared. In
// formulas, also those that are not understood, letter case counts.
func Canonical(text string) string {
	text = strings.Join(strings.Fields(clean(text)), " ")
	text = strings.TrimRight(text, " .!?,;:")
	if strings.ContainsAny(text, "0123456789=+*/^_<>\\'") {
		return text
	}
	return strings.ToLower(text)
}
