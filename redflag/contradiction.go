package redflag

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/internal/text/clip"
)

func (c *SelfContradictionCheck) check(said *said) *Flag {
	p := said.sentences
	count := 0
	phrases := with(corrections, c.Phrases)
	for _, s := range p {
		phrase := cmp.Or(startsWith(s.own, phrases), startsWith(skip(s.own, thinking), phrases))
		if phrase == "" {
			continue
		}
		if count++; count >= max(c.Corrections, 1) {
			return New(SelfContradiction, "takes back what it said: %q, correction number %d", phrase, count)
		}
	}
	if hasParts(p) {
		return nil
	}
	for i := 1; i < len(p); i++ {
		was, is := itIs.FindStringSubmatch(p[i-1].own), itIs.FindStringSubmatch(p[i].own)
		if was != nil && is != nil && is[1] != "" && was[2] != is[2] {
			return New(SelfContradiction, "it is %s and then actually %s", was[2], is[2])
		}
	}
	// Working aloud, "the answer is" may be said of each step. So two claims
	// count if one follows the other at once, or if both are labelled as answers.
	var previous, label *claim
	for _, s := range p {
		now := claimOf(s)
		if now != nil {
			for _, earlier := range []*claim{previous, label} {
				if earlier != nil && earlier.contradicts(now) && (earlier == previous || now.label) {
					return New(SelfContradiction, "the answer is %q and then %q", clip.Line(earlier.text, maxExcerpt/2), clip.Line(now.text, maxExcerpt/2))
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

// itIs says what a number is, after another one actually.
var itIs = regexp.MustCompile(`^(actually,? )?it is ([+-]?\d+(?:[.,]\d+)*)\W*$`)

// part is what numbers the pieces of an answer to several questions: "Question 2",
// "part b)", "(b)".
var part = regexp.MustCompile(`^(?:question|problem|part|exercise|case|task|puzzle|item|q|example|scenario|step)[#(. ]*(?:\d|\pL(?:\PL|$))|^\(?\pL\)`)

// hasParts reports whether the text answers several questions, perhaps in a
// numbered list of answers. Then answers may differ.
func hasParts(p []sentence) bool {
	count := 0
	for _, s := range p {
		if part.MatchString(s.own) || '0' <= s.full[0] && s.full[0] <= '9' && claimOf(s) != nil {
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

var (
	theAnswer = regexp.MustCompile(`^(?:the )?(final |correct )?answer( is)?\s*(:|=|—|- )?\s*(.*)$`)
	noValue   = regexp.MustCompile(`^(?:not|below|above|as follows|given|in|to|the same)\b`)
	amount    = regexp.MustCompile(`^([+-]?\d+(?:,\d{3})*(?:\.(\d+))?)\s*([^\d.,].*)?$`)
)

// claimOf returns the claim of a sentence, nil if it makes none that is plain
// enough to compare.
func claimOf(s sentence) *claim {
	found := theAnswer.FindStringSubmatch(skip(s.own, thinking))
	if found == nil || found[2]+found[3] == "" || contains(s.own, conditions) != "" {
		return nil
	}
	value := strings.Trim(found[4], " .。!,;$\"")
	value = strings.TrimSuffix(strings.TrimPrefix(value, `\boxed{`), "}")
	if value == "" || noValue.MatchString(value) || len(strings.Fields(value)) > 3 {
		return nil
	}
	c := &claim{text: value, final: found[1] == "final "}
	c.label = c.final || found[3] == ":" || found[3] == "="
	// 1,024.5 km is a number with a unit. Before other than three digits a comma may
	// be a decimal comma or a list, and comparing would be a guess.
	if a := amount.FindStringSubmatch(strings.ReplaceAll(value, "−", "-")); a != nil {
		c.number, _ = strconv.ParseFloat(strings.ReplaceAll(a[1], ",", ""), 64)
		c.decimals, c.unit, c.numeric = len(a[2]), a[3], true
	}
	return c
}

// contradicts reports whether two claims cannot both be right.
func (c *claim) contradicts(d *claim) bool {
	switch {
	case c.numeric != d.numeric || c.unit != d.unit:
		return false // a value and a formula, or other units, in which they may well be the same
	case c.numeric:
		rounding := 0.0
		if c.decimals != d.decimals {
			rounding = math.Pow(10, -float64(min(c.decimals, d.decimals)))
		}
		return math.Abs(c.number-d.number) > rounding
	case opposites[c.text] == d.text || opposites[d.text] == c.text:
		return true
	}
	// Two names can mean the same thing, so both must be called final.
	return c.final && d.final && plain.MatchString(c.text) && plain.MatchString(d.text) &&
		!strings.Contains(c.text, d.text) && !strings.Contains(d.text, c.text)
}

var (
	opposites = map[string]string{"yes": "no", "true": "false", "correct": "incorrect"}
	plain     = regexp.MustCompile(`^[\pL\pM ]+$`) // no formula, no list
)
