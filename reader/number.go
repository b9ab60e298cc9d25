package reader

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/text/clip"
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
	return n.keys().Validate()
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

// formula finds LaTeX between dollar signs that are no currency.
var formula = regexp.MustCompile(`\$([^$\n]+)\$([^0-9]|$)`)

func (n *numbers) text(said string) (item, *redflag.Flag) {
	it, flag := readText(formula.ReplaceAllString(said, "$1$2"), "number", n, n.member)
	return n.counted(it, flag)
}

func (n *numbers) field(raw json.RawMessage) (item, *redflag.Flag) {
	it, flag := n.member(raw)
	return n.counted(it, flag)
}

// member reads a value; its key is not yet that of its cluster.
func (n *numbers) member(raw json.RawMessage) (item, *redflag.Flag) {
	var quantity struct {
		Value json.RawMessage `json:"value"`
		Unit  string          `json:"unit"`
	}
	if json.Unmarshal(raw, &quantity) == nil && quantity.Unit != "" && len(quantity.Value) > 0 {
		raw = encode(strings.Trim(string(quantity.Value), `"`) + " " + quantity.Unit)
	}
	return scalar(raw, 0, func(text string) (item, *redflag.Flag) { return find(text, "number", n) })
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

// around finds what may stand before and after a number that is all of an answer.
var around = regexp.MustCompile(`(?i)^(?:[\s*_"'=:≈~≅≃]|about|approximately|approx\.?|around|roughly|circa|ca\.|exactly|precisely|equals?|equal to|is|etwa|rund|ungefähr|environ|aproximadamente)*`)

func (n *numbers) exact(phrase string) (item, bool) {
	const longest = 2000
	if len(phrase) > longest || !strings.ContainsAny(phrase, "0123456789") {
		return item{}, false
	}
	found := n.quantities(phrase)
	if len(found) != 1 || found[0].odd {
		return item{}, false
	}
	q := found[0]
	before := strings.Trim(latexText.ReplaceAllString(phrase[:q.start], "$1"), "*_`\"'“”([{\\$ ")
	after := strings.Trim(phrase[q.end:], "*_`\"'“”)]}\\$ .,;:!\n")
	if around.FindString(before) != before || after != "" {
		// x = 5 is 5.
		if i := strings.LastIndexByte(before, '='); i < 0 || i != len(before)-1 || strings.ContainsAny(before, "\n") || after != "" {
			return item{}, false
		}
	}
	return q.item(), true
}

func (n *numbers) lead(phrase string) (item, bool) {
	phrase = clip.Text(phrase, maxLead)
	found := n.quantities(phrase)
	if len(found) == 0 || found[0].odd {
		return item{}, false
	}
	q := found[0]
	before := strings.Trim(phrase[:q.start], "*_`\"'“”([{\\$ ")
	if around.FindString(before) != before {
		return item{}, false
	}
	rest := strings.TrimLeft(phrase[q.end:], "*_`\"'“”)]}")
	after := fold(strings.TrimLeft(rest, " "))
	switch {
	case strings.HasPrefix(rest, ", ") || strings.HasPrefix(rest, "; ") || strings.HasPrefix(after, "("):
		// 3, 4 is a list.
		next := strings.TrimLeft(rest, ",; (")
		return q.item(), next == "" || next[0] < '0' || next[0] > '9'
	case strings.HasPrefix(rest, ". ") && q.unit != "", strings.HasPrefix(rest, "\n") && !strings.Contains(phrase[q.end:], "\n"+phrase[:q.start]):
		return q.item(), q.unit != "" || strings.HasPrefix(rest, "\n\n")
	}
	for _, r := range reasons {
		if strings.HasPrefix(after, r) {
			return q.item(), true
		}
	}
	return item{}, false
}

// bounds finds words that make a number something else than the answer.
var bounds = regexp.MustCompile(`(?i)(?:at least|at most|more than|less than|fewer than|greater than|up to|over|under|between|mindestens|höchstens|mehr als|weniger als|au moins|plus de|al menos|más de)\s*[^\pL\d\s]*\s*$|[<>≤≥±]\s*$`)

// longestBound is how many bytes before a number can say so.
const longestBound = 40

func (n *numbers) mentions(text string) []item {
	const longest = 2000
	if len(text) > longest {
		return nil
	}
	var all []item
	for _, q := range n.quantities(text) {
		if q.odd || bounds.MatchString(text[max(0, q.start-longestBound):q.start]) {
			return nil
		}
		all = append(all, q.item())
	}
	if denial.MatchString(text) {
		return nil
	}
	return all
}

// A quantity is a number in a text, with its unit.
type quantity struct {
	start, end int
	number     string // in JSON's syntax, canonical
	unit       string // canonical; "" if there is none that is known
	odd        bool   // a part of something else: a fraction, a range, a time, a name
}

func (q quantity) item() item {
	// The key is not JSON yet: counted makes one of it.
	return item{value: json.RawMessage(q.number), key: strings.TrimSuffix(q.number+" "+q.unit, " ")}
}

var (
	digits   = regexp.MustCompile(`[0-9]{1,3}(?:[ \x{a0}\x{202f}][0-9]{3})+(?:[.,][0-9]+)?|[0-9]+(?:[.,'’][0-9]+)*|\.[0-9]+`)
	exponent = regexp.MustCompile(`^(?:[eE]([+-]?[0-9]{1,6})|\s*(?:×|x|\*|·|\\times)\s*10\s*(?:\^|\*\*)\s*[{(]?([-−+]?[0-9]{1,6})[)}]?)`)
	scale    = regexp.MustCompile(`(?i)^[ \x{a0}-]?(thousand|million|billion|trillion|tausend|millionen|millions|milliarden|milliards?|mn|bn|mio|mrd)\b\.?`)
	scales   = map[string]int{
		"thousand": 3, "tausend": 3, "million": 6, "millions": 6, "millionen": 6, "mn": 6, "mio": 6,
		"billion": 9, "bn": 9, "milliarden": 9, "milliard": 9, "milliards": 9, "mrd": 9, "trillion": 12,
	}
)

// quantities are the numbers in a text, in their order.
func (n *numbers) quantities(text string) []quantity {
	var all []quantity
	end := 0
	for _, at := range digits.FindAllStringIndex(text, -1) {
		if at[0] < end { // the exponent of the one before
			continue
		}
		q := n.quantityAt(text, at[0], at[1])
		end = q.end
		all = append(all, q)
	}
	return all
}

func (n *numbers) quantityAt(text string, start, end int) quantity {
	q := quantity{start: start, end: end}
	plain, ok := plainDigits(text[start:end])
	if m := exponent.FindStringSubmatch(text[q.end:]); m != nil {
		power := strings.TrimPrefix(strings.ReplaceAll(m[1]+m[2], "−", "-"), "+")
		plain += "e" + power
		q.end += len(m[0])
	}
	if m := scale.FindStringSubmatch(text[q.end:]); m != nil && !strings.Contains(plain, "e") {
		plain += fmt.Sprintf("e%d", scales[strings.ToLower(m[1])])
		q.end += len(m[0])
	}
	sign, unit := q.before(text)
	if sign {
		plain = "-" + plain
	}
	after := n.unitAfter(text[q.end:])
	q.end += len(after)
	if unit == "" {
		unit = canonicalUnit(strings.Trim(after, " \u00a0\u202f\\-"))
	}
	q.unit = unit
	key, err := vote.Canonical(json.RawMessage(plain), vote.KeyOptions{})
	q.number, q.odd = key, !ok || err != nil || partOfMore(text, q.start, q.end)
	return q
}

// before takes the sign and the currency before a number into it.
func (q *quantity) before(text string) (negative bool, unit string) {
	head := text[:q.start]
	if currency, rest := currencyBefore(head); currency != "" {
		unit, head = currency, rest
	}
	for _, minus := range []string{"-", "−", "+"} {
		rest, ok := strings.CutSuffix(head, minus)
		if !ok {
			continue
		}
		if r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(rest, " ")); rest == "" || rest[len(rest)-1] != ' ' && !isWord(r) && r != ')' || strings.HasSuffix(rest, " ") && !isWord(r) {
			head, negative = rest, minus != "+"
			break
		}
		if strings.HasSuffix(rest, " ") { // 7 -3: a sign after a space
			head, negative = rest, minus != "+"
		}
		break
	}
	q.start = len(head)
	return negative, unit
}

// partOfMore reports whether a number belongs to something that is not a number: a name, a
// fraction, a range, a time, a date, a product.
func partOfMore(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	if start > 0 && (isWord(before) || strings.ContainsRune("/:^_#", before) || strings.ContainsRune("-–", before)) {
		return true
	}
	rest := text[end:]
	next, size := utf8.DecodeRuneInString(rest)
	if rest == "" {
		return false
	}
	if isWord(next) || next == '_' {
		return true
	}
	tail := strings.TrimLeft(rest[size:], " ")
	digitFollows := tail != "" && tail[0] >= '0' && tail[0] <= '9'
	if strings.ContainsRune("/:^-–−", next) && digitFollows {
		return true
	}
	trimmed := strings.TrimLeft(rest, " ")
	for _, to := range []string{"to ", "bis ", "à ", "a ", "- ", "–", "/ ", "±", "×", "x ", "* ", "+ ", "÷"} {
		after, ok := strings.CutPrefix(trimmed, to)
		if after = strings.TrimLeft(after, " $€£"); ok && after != "" && after[0] >= '0' && after[0] <= '9' {
			return true
		}
	}
	return false
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
