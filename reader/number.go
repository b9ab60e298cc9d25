package reader

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// Number reads a number, exactly, as 1,234.5 kg, ≈ 3, $12, 12 % and 3 million are
// written.
type Number struct {
	// Unit is what the number counts, such as kg or %. An answer in another unit is
	// discarded; one without a unit is in this one. Nothing is converted. If there is no
	// Unit, answers in two different units do not agree.
	Unit string `json:"unit,omitempty"`

	// Integer says that the number has no fraction.
	Integer bool `json:"integer,omitempty"`

	// Min and Max are the least and the greatest number that is an answer.
	Min json.Number `json:"min,omitempty"`
	Max json.Number `json:"max,omitempty"`

	// Tolerance and RelativeTolerance say how far apart numbers may be and still
	// agree, see [vote.KeyOptions].
	Tolerance         json.Number `json:"tolerance,omitempty"`
	RelativeTolerance json.Number `json:"relative_tolerance,omitempty"`
}

// Validate implements [Reader].
func (n Number) Validate() error {
	if strings.ContainsAny(n.Unit, "0123456789\n") && !strings.ContainsAny(n.Unit, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return fmt.Errorf("reader: %q is no unit", n.Unit)
	}
	for _, bound := range []json.Number{n.Min, n.Max} {
		if _, err := vote.Canonical(json.RawMessage(bound), vote.KeyOptions{}); bound != "" && (err != nil || rational(string(bound)) == nil) {
			return fmt.Errorf("reader: the bound %q is not a number", bound)
		}
	}
	if n.Min != "" && n.Max != "" && rational(string(n.Min)).Cmp(rational(string(n.Max))) > 0 {
		return fmt.Errorf("reader: no number is between %s and %s", n.Min, n.Max)
	}
	return n.keys().Validate()
}

// rational is a number as a fraction. One that is so far from 1 that nobody means it is
// beyond all bounds, or 0.
func rational(number string) *big.Rat {
	const longest = 5 // characters of an exponent
	if digits, exponent, _ := strings.Cut(number, "e"); len(exponent) > longest {
		number = digits
		if exponent[0] == '-' {
			number = "1e-9999"
		} else {
			number = "1e9999"
		}
		if digits[0] == '-' {
			number = "-" + number
		}
	}
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		return nil
	}
	return r
}

func (n Number) keys() vote.KeyOptions {
	return vote.KeyOptions{Tolerance: n.Tolerance, RelativeTolerance: n.RelativeTolerance}
}

// Format implements [Reader].
func (n Number) Format() flow.Format { return format(nameNumber, n) }

// JSONSchema implements [Reader].
func (n Number) JSONSchema() json.RawMessage {
	kind := "number"
	if n.Integer {
		kind = "integer"
	}
	if n.Unit == "" {
		return encode(map[string]any{"type": kind})
	}
	return encode(map[string]any{"type": kind, "description": "in " + n.Unit})
}

// Instruction implements [Reader].
func (n Number) Instruction() string {
	kind := "number"
	if n.Integer {
		kind = "whole number"
	}
	if n.Unit == "" {
		return fmt.Sprintf("Answer with one %s in digits and nothing else.", kind)
	}
	return fmt.Sprintf("Answer with one %s in digits, in the unit %s, and nothing else.", kind, n.Unit)
}

func (n Number) open() (form, error) {
	clusters, err := vote.NewClusters(n.keys())
	if err != nil {
		return nil, err
	}
	return &numbers{Number: n, clusters: clusters, asked: canonicalUnit(n.Unit)}, nil
}

// numbers reads those of one question.
type numbers struct {
	Number
	clusters *vote.Clusters
	asked    string // the unit, in its canonical form

	// seen is the first unit that an answer had, if none was asked for: numbers without
	// one are taken to be in it.
	seen string
}

func (n *numbers) again() form {
	return &numbers{Number: n.Number, clusters: n.clusters.Again(), asked: n.asked}
}

// formula finds LaTeX between dollar signs that are no currency.
var formula = regexp.MustCompile(`\$([^$\n]+)\$([^0-9]|$)`)

func (n *numbers) text(said string) (item, *redflag.Flag) {
	it, flag := readText(formula.ReplaceAllString(said, "$1$2"), n.want(), n, n.member)
	return n.counted(it, flag)
}

func (n *numbers) field(raw json.RawMessage) (item, *redflag.Flag) {
	it, flag := n.member(raw)
	return n.counted(it, flag)
}

// member reads a value; its key is not yet that of its cluster.
func (n *numbers) member(raw json.RawMessage) (item, *redflag.Flag) {
	raw = withUnit(raw)
	return scalar(raw, 0, func(text string) (item, *redflag.Flag) { return find(text, n.want(), n) })
}

// want says what is looked for.
func (n *numbers) want() string { return strings.TrimSuffix("number in "+n.Unit, " in ") }

// withUnit puts a number and its unit, which are fields of an object, into one text.
func withUnit(raw json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return raw
	}
	for name, value := range fields {
		var unit string
		if lower := strings.ToLower(name); lower == "unit" || lower == "units" || lower == "currency" {
			delete(fields, name)
			number, ok := unwrap(encode(fields))
			if !ok || json.Unmarshal(value, &unit) != nil {
				return raw
			}
			return encode(strings.Trim(string(number), `"`) + " " + unit)
		}
	}
	return raw
}

// counted gives a number the key that it is counted under. Whether it can be an answer
// at all is looked at here, when it is clear which one is meant.
func (n *numbers) counted(it item, flag *redflag.Flag) (item, *redflag.Flag) {
	if flag != nil {
		return it, flag
	}
	number, unit, _ := strings.Cut(it.key, " ")
	if n.asked != "" && unit != "" && unit != n.asked {
		return item{}, unreadable("%s is in %s, want %s", it.value, unit, n.Unit)
	}
	if n.Integer && strings.ContainsAny(number, ".") || n.Integer && strings.Contains(number, "e-") {
		return item{}, unreadable("%s is not a whole number", it.value)
	}
	switch value := rational(number); {
	case n.Min != "" && value.Cmp(rational(string(n.Min))) < 0:
		return item{}, unreadable("%s is less than %s", it.value, n.Min)
	case n.Max != "" && value.Cmp(rational(string(n.Max))) > 0:
		return item{}, unreadable("%s is more than %s", it.value, n.Max)
	}
	if n.asked == "" && unit != "" {
		if n.seen == "" {
			n.seen = unit
		}
		if unit != n.seen {
			number = fmt.Sprintf("[%s,%s]", number, encode(unit))
		}
	}
	return item{value: it.value, key: n.clusters.Key(number)}, nil
}

var (
	digits   = regexp.MustCompile(`^(?:[0-9]{1,3}(?:[ \x{a0}\x{202f}][0-9]{3})+(?:[.,][0-9]+)?|[0-9]+(?:[.,'’][0-9]+)*|\.[0-9]+)`)
	exponent = regexp.MustCompile(`^(?:[eE]([+-]?[0-9]{1,6})|\s*(?:×|x|\*|·|\\times)\s*10\s*(?:\^|\*\*)\s*[{(]?([-−+]?[0-9]{1,6})[)}]?)`)
	scale    = regexp.MustCompile(`(?i)^[ \x{a0}-]?(thousand|million|billion|trillion|tausend|millionen|millions|milliarden|milliards?|mn|bn|mio|mrd)\b\.?`)
	scales   = map[string]int{
		"thousand": 3, "tausend": 3, "million": 6, "millions": 6, "millionen": 6, "mn": 6, "mio": 6,
		"billion": 9, "bn": 9, "milliarden": 9, "milliard": 9, "milliards": 9, "mrd": 9, "trillion": 12,
	}
)

// around finds what may stand before a number that is all of an answer.
var around = regexp.MustCompile(`(?i)^(?:[=:≈~≅≃]\s*|ca\.\s*|[\pL][\pL\pN_]{0,20}\s*=\s*|(?:about|approximately|approx\.?|around|roughly|circa|exactly|precisely|equals?|equal to|is|etwa|rund|ungefähr|environ|aproximadamente)\s+)*`)

// exact reads a number from its sign to its unit. Whatever else there is may change its
// meaning: 5 hundred, 5 squared, 5 years ago.
func (n *numbers) exact(phrase string) (item, bool) {
	const longest = 2000
	if len(phrase) > longest {
		return item{}, false
	}
	rest := unmarked(phrase)
	before := around.FindString(rest)
	if rest = rest[len(before):]; denial.MatchString(before) {
		return item{}, false
	}
	rest, negative := signed(rest)
	currency, rest := currencyBefore(rest)
	if currency != "" && !negative {
		rest, negative = signed(rest)
	}
	found := digits.FindString(rest)
	plain, ok := plainDigits(found)
	if rest = rest[len(found):]; found == "" || !ok {
		return item{}, false
	}
	if m := exponent.FindStringSubmatch(rest); m != nil {
		plain += "e" + strings.TrimPrefix(strings.ReplaceAll(m[1]+m[2], "−", "-"), "+")
		rest = rest[len(m[0]):]
	} else if m := scale.FindStringSubmatch(rest); m != nil {
		plain += fmt.Sprintf("e%d", scales[strings.ToLower(m[1])])
		rest = rest[len(m[0]):]
	}
	if negative {
		plain = "-" + plain
	}
	unit, ok := n.unit(rest)
	if !ok || currency != "" && unit != "" && unit != currency {
		return item{}, false
	}
	key, err := vote.Canonical(json.RawMessage(plain), vote.KeyOptions{})
	if err != nil {
		return item{}, false
	}
	// The key is not JSON yet: counted makes one of it.
	return item{value: json.RawMessage(key), key: strings.TrimSuffix(key+" "+cmp.Or(unit, currency), " ")}, true
}

var latexMarks = strings.NewReplacer(`\(`, "", `\)`, "", `\[`, "", `\]`, "", `\,`, " ", `\ `, " ", `\%`, "%", `\$`, "$")

// unmarked is a phrase without emphasis, quotation marks and square brackets around it,
// and without the dot or comma at its end. Of (5), 5! and - 5 nobody knows what they mean.
func unmarked(s string) string {
	s = latexMarks.Replace(latexText.ReplaceAllString(s, "$1"))
	for {
		before := s
		s = strings.TrimRight(strings.Trim(s, "*_` \n\t"), ".,;:")
		for _, pair := range [][2]string{{"[", "]"}, {"{", "}"}, {`"`, `"`}, {"'", "'"}, {"“", "”"}} { // 5" are inches
			if inner, ok := strings.CutPrefix(s, pair[0]); ok {
				if inner, ok = strings.CutSuffix(inner, pair[1]); ok {
					s = inner
				}
			}
		}
		if s == before {
			return s
		}
	}
}

// signed takes the sign off a number.
func signed(s string) (rest string, negative bool) {
	for _, sign := range []string{"-", "−", "+"} {
		if rest, ok := strings.CutPrefix(s, sign); ok {
			return rest, sign != "+"
		}
	}
	return s, false
}

func (n *numbers) goesOn(it item, rest string) bool {
	// What has no unit and a dot behind it may be the number of a line.
	return reason.MatchString(rest) || isSentence(rest) && strings.Contains(it.key, " ")
}

var (
	groupsOfThree = regexp.MustCompile(`^[0-9]{1,3}(?:[,.'’ \x{a0}\x{202f}][0-9]{3})+$`)
	indianGroups  = regexp.MustCompile(`^[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}$`)
	separators    = strings.NewReplacer(",", "", ".", "", "'", "", "’", "", " ", "", "\u00a0", "", "\u202f", "")
)

// plainDigits writes digits with marks between them as JSON does. It is false where it
// cannot be told what the marks mean.
func plainDigits(s string) (string, bool) {
	if strings.HasPrefix(s, ".") {
		return "0" + s, true
	}
	whole, fraction := s, ""
	last := strings.LastIndexAny(s, ".,")
	switch {
	case last < 0:
	case strings.Count(s, s[last:last+1]) == 1 && strings.ContainsAny(s[:last], ",.'’ \u00a0\u202f"): // 1,234.5 and 1.234,5
		whole, fraction = s[:last], s[last+1:]
		if strings.ContainsAny(whole, ",") && s[last] == ',' {
			return "0", false
		}
	case s[last] == ',' && (groupsOfThree.MatchString(s) && s[0] != '0' || indianGroups.MatchString(s)): // 1,234
	case s[last] == '.' && strings.Count(s, ".") > 1 && groupsOfThree.MatchString(s): // 1.234.567
	case strings.Count(s, s[last:last+1]) == 1: // 3.14 and 3,14
		whole, fraction = s[:last], s[last+1:]
	default:
		return "0", false
	}
	if separators.Replace(whole) != whole && !groupsOfThree.MatchString(whole) && !indianGroups.MatchString(whole) {
		return "0", false
	}
	whole = strings.TrimLeft(separators.Replace(whole), "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		return whole + "." + fraction, true
	}
	return whole, true
}
