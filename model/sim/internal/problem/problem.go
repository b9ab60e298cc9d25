// Package problem holds the problems that the simulator can solve and split:
// calculations and lists to sort. It says what is right, how much work that is, and
// what goes wrong when somebody makes a mistake. Whether a mistake is made is not its
// business.
package problem

import (
	"regexp"
	"strings"
)

// A Problem is one that the simulator knows how to go about.
type Problem interface {
	// String states the problem in words that Read reads.
	String() string

	// Operations is how many of the smallest operations it takes to solve the
	// problem as it is: 1 for one that nobody would split.
	Operations() int

	// Solution returns what comes out with some mistakes, the right solution with
	// none and a wrong one otherwise; false if there is no solution.
	Solution(mistakes []Slip) (string, bool)

	// Split returns the problem in two parts, if it is to be split; must says that
	// an atom is to be split too, if there is a way.
	Split(must bool) (Split, bool)

	// Spoil returns a split of the problem with a mistake in it.
	Spoil(s Split, mistake Slip) Split

	// Confuse returns what somebody could think that the problem also asks for.
	Confuse() Problem
}

// A Split is a problem in two parts, and how to put their solutions together.
type Split struct {
	A, B Problem
	How  string
}

const maxProblem = 100_000 // bytes of one that is looked at

// Read reads a problem in a usual form; nil if it is of another kind.
func Read(text string) Problem {
	if len(text) > maxProblem {
		return nil
	}
	text = withoutAdvice(text)
	for _, read := range []func(string) Problem{readOrdering, readEquation, readCalculation} {
		if p := read(text); p != nil {
			return p
		}
	}
	return nil
}

// advice is a last sentence about the form of the answer.
var advice = regexp.MustCompile(`(?is)[.?]\s+(?:answer|reply|show|give|explain)\b[^.?\[\]]*[.?]?$`)

func withoutAdvice(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(advice.ReplaceAllString(text, ""))
}

var (
	sortForm  = regexp.MustCompile(`(?is)^(?:please\s+)?sort\b([^\[\]\d]*?)(\[[^\[\]]*\]|-?\d[-\d,\s]*)(.*)$`)
	mergeForm = regexp.MustCompile(`(?is)^(?:please\s+)?merge\b[^\[\]\d]*(\[[^\[\]]*\])\s*(?:and|with|,)\s*[^\[\]\d]*(\[[^\[\]]*\])(.*)$`)

	otherOrder = regexp.MustCompile(`(?i)\b(?:descending|decreasing|reverse|backwards|largest|highest|by)\b`)

	// What may follow a list and adds nothing.
	ascending = regexp.MustCompile(`(?i)^\s*,?\s*(?:in (?:ascending|increasing|rising|numerical) order|from smallest to largest|smallest first|numerically)?[\s.!?]*$`)
)

func readOrdering(text string) Problem {
	if m := sortForm.FindStringSubmatch(text); m != nil && ascending.MatchString(m[3]) && !otherOrder.MatchString(m[1]) {
		if l, ok := readNumbers(m[2]); ok {
			return Ordering{numbers: l}
		}
	}
	if m := mergeForm.FindStringSubmatch(text); m != nil && ascending.MatchString(m[3]) {
		a, ok := readNumbers(m[1])
		b, also := readNumbers(m[2])
		if ok && also {
			return Ordering{numbers: a, with: b, merge: true}
		}
	}
	return nil
}

// readNumbers reads a list of whole numbers, in brackets or not.
func readNumbers(text string) (List, bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "[") {
		fields := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' || r == '\r' })
		text = "[" + strings.Join(fields, ",") + "]"
	}
	return ParseList(text)
}

var equationForm = regexp.MustCompile(`(?i)^(?:please\s+)?solve\b\s*:?\s*([^=]+)=([^=]+?)(?:\s+for\s+[a-z])?[\s.?]*$`)

func readEquation(text string) Problem {
	m := equationForm.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	left, ok := parseExpression(m[1], true)
	right, also := parseExpression(m[2], true)
	if !ok || !also {
		return nil
	}
	c := Calculation{expr: left, equals: right}
	if _, ok := c.value(); !ok { // it has no unknown, or is not linear
		return nil
	}
	return c
}

var (
	// The words before an expression that say no more than that it is to be worked
	// out.
	computeForm = regexp.MustCompile(`(?i)^(?:please\s+)?(?:compute|calculate|evaluate|work out|find|determine|what is|what's|how much is|give)?[\s:]*(?:the\s+)?(?:exact\s+)?(?:(?:value|result)\s+of\s+)?`)

	thousands = regexp.MustCompile(`\b\d{1,3}(?:,\d{3})+\b`)

	operationForms = []struct {
		form *regexp.Regexp
		as   string
	}{
		{regexp.MustCompile(`(?i)^(?:multiply|product of)\s+(.+?)\s+(?:by|and|with)\s+(.+)$`), "($1) * ($2)"},
		{regexp.MustCompile(`(?i)^(?:add|sum of)\s+(.+?)\s+(?:and|to)\s+(.+)$`), "($1) + ($2)"},
		{regexp.MustCompile(`(?i)^(?:difference (?:of|between))\s+(.+?)\s+and\s+(.+)$`), "($1) - ($2)"},
		{regexp.MustCompile(`(?i)^subtract\s+(.+?)\s+from\s+(.+)$`), "($2) - ($1)"},
		{regexp.MustCompile(`(?i)^(?:divide|quotient of)\s+(.+?)\s+(?:by|and)\s+(.+)$`), "($1) / ($2)"},
	}

	operationWords = []struct {
		form *regexp.Regexp
		as   string
	}{
		{regexp.MustCompile(`(?i)\s(?:times|multiplied by)\s`), " * "},
		{regexp.MustCompile(`(?i)\splus\s`), " + "},
		{regexp.MustCompile(`(?i)\sminus\s`), " - "},
		{regexp.MustCompile(`(?i)\sdivided by\s`), " / "},
	}
)

func readCalculation(text string) Problem {
	if len(text) > maxExpression {
		return nil
	}
	text = strings.TrimRight(text, "?.!= \t\n")
	text = computeForm.ReplaceAllString(text, "")
	text = thousands.ReplaceAllStringFunc(text, func(n string) string { return strings.ReplaceAll(n, ",", "") })
	for _, f := range operationForms {
		if f.form.MatchString(text) {
			text = f.form.ReplaceAllString(text, f.as)
			break
		}
	}
	for _, w := range operationWords {
		text = w.form.ReplaceAllString(text, w.as)
	}
	e, ok := parseExpression(text, false)
	if !ok {
		return nil
	}
	return Calculation{expr: e}
}

// Together is what it takes to make a solution from those of two parts; nil if
// they are neither numbers nor lists.
func Together(how, a, b string) Problem {
	if l, ok := ParseList(solutionText(a)); ok {
		if m, ok := ParseList(solutionText(b)); ok {
			return Ordering{numbers: l, with: m, merge: true}
		}
		return nil
	}
	x, ok := parseExpression(solutionText(a), false)
	if !ok {
		return nil
	}
	y, ok := parseExpression(solutionText(b), false)
	if !ok {
		return nil
	}
	switch how := strings.ToLower(strings.Join(strings.Fields(how), " ")); {
	case strings.Contains(how, "b - a") || strings.Contains(how, "subtract a from b"):
		return Calculation{expr: &expr{op: '-', left: y, right: x}}
	case strings.Contains(how, "a - b") || strings.Contains(how, "subtract"):
		return Calculation{expr: &expr{op: '-', left: x, right: y}}
	case strings.Contains(how, "a * b") || strings.Contains(how, "multiply") || strings.Contains(how, "product of"):
		return Calculation{expr: &expr{op: '*', left: x, right: y}}
	case strings.Contains(how, "a / b") || strings.Contains(how, "divide"):
		return Calculation{expr: &expr{op: '/', left: x, right: y}}
	}
	return Calculation{expr: &expr{op: '+', left: x, right: y}}
}

// solutionText is a solution without a name before it: "x = 5" is 5.
func solutionText(s string) string {
	return strings.TrimRight(strings.TrimSpace(s[strings.LastIndexByte(s, '=')+1:]), ".")
}
