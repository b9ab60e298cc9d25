package redflag

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func (c *SelfContradictionCheck) check(p []sentence) *Flag {
	limit := max(c.Corrections, 1)
	count := 0
	phrases := slices.Concat(corrections, foldAll(c.Phrases))
	for _, s := range p {
		rest, _ := skip(s.own, thinking)
		phrase := cmp.Or(startsWith(s.own, phrases), startsWith(rest, phrases))
		if phrase == "" {
			continue
		}
		if count++; count >= limit {
			return New(SelfContradiction, "takes back what it said: %q, correction number %d", phrase, count)
		}
	}
	if hasParts(p) {
		return nil
	}
	// Working aloud, "the answer is" may be said of each step. So two claims
	// count if one follows the other at once, or if both are labelled as answers.
	var previous, label *claim
	for _, s := range p {
		now := claimOf(s)
		if now != nil {
			for _, earlier := range []*claim{previous, label} {
				if earlier != nil && earlier.contradicts(now) && (earlier == previous || now.label) {
					return New(SelfContradiction, "the answer is %q and then %q", clip(earlier.text, maxExcerpt/2), clip(now.text, maxExcerpt/2))
				}
			}
			if now.label && label == nil {
				label = now
			}
		}
		previous = now
	}
	return nil
}

// hasParts reports whether the text answers several questions: "Question 2",
// "part b)", "(b)", or a numbered list of answers. Then answers may differ.
func hasParts(p []sentence) bool {
	count := 0
	for _, s := range p {
		if name := startsWith(s.own, parts); name != "" {
			label := strings.TrimLeft(s.own[len(name):], "#(. ")
			r, size := utf8.DecodeRuneInString(label)
			if unicode.IsDigit(r) || isDense(r) || unicode.IsLetter(r) && !unicode.IsLetter(firstRune(label[size:])) {
				count++
			}
			continue
		}
		label := strings.TrimPrefix(s.own, "(")
		r, size := utf8.DecodeRuneInString(label)
		lettered := unicode.IsLetter(r) && strings.HasPrefix(label[size:], ")")
		numbered := unicode.IsDigit(firstRune(s.full)) && claimOf(s) != nil
		if lettered || numbered {
			count++
		}
	}
	return count >= 2
}

// A claim is what a sentence says the answer is.
type claim struct {
	text  string
	final bool // called the final answer
	label bool // called that, or written as "answer: 5" or "answer = 5"

	number   float64
	decimals int
	unit     string
	numeric  bool
}

// claimOf returns the claim of a sentence, nil if it makes none that is plain
// enough to compare.
func claimOf(s sentence) *claim {
	rest, _ := skip(s.own, thinking)
	intro := startsWith(rest, finalAnswers)
	if intro == "" {
		return nil
	}
	value := strings.TrimSpace(rest[len(intro):])
	stated := intro != "answer" && intro != "the answer" // "is" is part of the phrase
	labelled := false
	for _, mark := range []string{":", "=", "is:", "is =", "is", "—", "-"} {
		after, ok := strings.CutPrefix(value, mark)
		if ok && (mark[0] < 'a' || endsWell(mark, after, false)) {
			// "-5" is a number.
			if mark == "-" && !strings.HasPrefix(after, " ") {
				continue
			}
			value, stated, labelled = strings.TrimSpace(after), true, mark == ":" || mark == "="
			break
		}
	}
	value = strings.Trim(value, " .。!,;$\"")
	value = strings.TrimSuffix(strings.TrimPrefix(value, `\boxed{`), "}")
	if !stated || value == "" || contains(s.own, conditions) != "" || len(strings.Fields(value)) > 3 {
		return nil
	}
	for _, no := range []string{"not", "below", "above", "as follows", "given", "in", "to", "the same"} {
		if startsWith(value, []string{no}) != "" {
			return nil
		}
	}
	c := &claim{text: value, final: strings.Contains(intro, "final")}
	c.label = c.final || labelled
	c.parseNumber()
	return c
}

// parseNumber reads "1,024.5 km" as a number with a unit.
func (c *claim) parseNumber() {
	end := strings.IndexFunc(c.text, func(r rune) bool { return !strings.ContainsRune("+-−0123456789.,", r) })
	if end < 0 {
		end = len(c.text)
	}
	digits := strings.ReplaceAll(c.text[:end], "−", "-")
	// A comma is a thousands separator only before three digits; else it may be
	// a decimal comma or a list, and comparing would be a guess.
	groups := strings.Split(digits, ",")
	for _, g := range groups[1:] {
		if whole, _, _ := strings.Cut(g, "."); len(whole) != 3 {
			return
		}
	}
	number, err := strconv.ParseFloat(strings.Join(groups, ""), 64)
	if err != nil {
		return
	}
	c.number, c.numeric = number, true
	c.unit = strings.TrimSpace(c.text[end:])
	if _, fraction, found := strings.Cut(digits, "."); found {
		c.decimals = len(fraction)
	}
}

// contradicts reports whether two claims cannot both be right.
func (c *claim) contradicts(d *claim) bool {
	if c.numeric != d.numeric {
		return false // a value and a formula, or a value and a word
	}
	if c.numeric {
		// With different units or notations they may well be the same.
		if c.unit != d.unit {
			return false
		}
		rounding := 0.0
		if c.decimals != d.decimals {
			rounding = math.Pow(10, -float64(min(c.decimals, d.decimals)))
		}
		return math.Abs(c.number-d.number) > rounding
	}
	if opposite(c.text, d.text) {
		return true
	}
	// Two names can mean the same thing, so both must be called final.
	return c.final && d.final && isPlain(c.text) && isPlain(d.text) &&
		!strings.Contains(c.text, d.text) && !strings.Contains(d.text, c.text)
}

// isPlain reports whether s is made of letters and spaces: no formula, no list.
func isPlain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != ' '
	})
}

func opposite(a, b string) bool {
	for _, pair := range [][2]string{{"yes", "no"}, {"true", "false"}, {"correct", "incorrect"}} {
		if a == pair[0] && b == pair[1] || a == pair[1] && b == pair[0] {
			return true
		}
	}
	return false
}
