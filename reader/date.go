package reader

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/redflag"
)

// Date reads a day of the calendar, as 2025-03-04. The month may be written as a word. A
// date of three numbers such as 03/04/2025 is read only if it can mean one day, or if
// there is an Order.
type Date struct {
	// Order is that of day, month and year in dates of three numbers: "dmy" or "mdy".
	Order string `json:"order,omitempty"`
}

// Validate implements [Reader].
func (d Date) Validate() error {
	if d.Order != "" && d.Order != "dmy" && d.Order != "mdy" {
		return fmt.Errorf("reader: the order of a date is %q, want dmy or mdy", d.Order)
	}
	return nil
}

// Format implements [Reader].
func (d Date) Format() flow.Format { return format(nameDate, d) }

// JSONSchema implements [Reader].
func (Date) JSONSchema() json.RawMessage {
	return json.RawMessage(`{"type":"string","format":"date","description":"YYYY-MM-DD"}`)
}

// Instruction implements [Reader].
func (Date) Instruction() string {
	return "Answer with one date in the form YYYY-MM-DD and nothing else."
}

func (d Date) open() (form, error) { return dates{d.Order}, nil }

type dates struct{ order string }

func (d dates) again() form { return d }

func (d dates) text(said string) (item, *redflag.Flag) { return readText(said, "date", d, d.field) }

func (d dates) field(raw json.RawMessage) (item, *redflag.Flag) {
	return scalar(raw, 0, func(text string) (item, *redflag.Flag) { return find(text, "date", d) })
}

// A day is a date in a text.
type day struct {
	start, end int
	iso        string // "" if it cannot be told which day it is, or there is none such
}

func (d day) item() item { return textItem(d.iso, d.iso) }

var (
	beforeDate = regexp.MustCompile(`(?i)^(?:(?:on|le|am|el|il|den|the)\s+)?$`)
	afterDate  = regexp.MustCompile(`(?i)^(?:\s+(?:AD|CE)|\s+\((?:an?\s+)?(?:mon|tues|wednes|thurs|fri|satur|sun)day\))?$`)
)

func (d dates) exact(phrase string) (item, bool) {
	phrase = bare(phrase)
	found := d.days(phrase)
	if len(found) != 1 || found[0].iso == "" || !beforeDate.MatchString(phrase[:found[0].start]) || !afterDate.MatchString(phrase[found[0].end:]) {
		return item{}, false
	}
	return found[0].item(), true
}

func (d dates) goesOn(_ item, rest string) bool {
	return (reason.MatchString(rest) || isSentence(rest)) && len(d.days(rest)) == 0
}

// monthNames are the names of the months, without what follows their first letters where
// these tell enough.
var monthNames = [...]string{
	"january|jan|januar|jänner|janvier|enero|ene|gennaio|janeiro|januari",
	"february|feb|februar|février|fevrier|févr|febrero|febbraio|fevereiro|februari",
	"march|mar|märz|maerz|mär|mars|marzo|março|maart",
	"april|apr|avril|avr|abril|abr|aprile",
	"may|mai|mayo|maggio|maio|mei",
	"june|jun|juni|juin|junio|giugno|junho",
	"july|jul|juli|juillet|juil|julio|luglio|julho",
	"august|aug|août|aout|agosto|ago|augustus",
	"september|sept|sep|septembre|septiembre|settembre|setembro",
	"october|oct|oktober|okt|octobre|octubre|ottobre|outubro",
	"november|nov|novembre|noviembre|novembro",
	"december|dec|dezember|dez|décembre|decembre|déc|diciembre|dic|dicembre|dezembro",
}

var (
	monthOf = func() map[string]int {
		all := map[string]int{}
		for i, names := range monthNames {
			for name := range strings.SplitSeq(names, "|") {
				all[name] = i + 1
			}
		}
		return all
	}()
	monthWord = `(` + strings.Join(monthNames[:], "|") + `)\.?`
	weekday   = `(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,?\s+)?`

	dateForms = regexp.MustCompile(`(?i)` +
		`([0-9]{4})(?:-|/|\.)([0-9]{1,2})(?:-|/|\.)([0-9]{1,2})(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?` + // 1 2 3: year first
		`|([0-9]{1,2})(?:/|\.\s?|-)([0-9]{1,2})(?:/|\.\s?|-)([0-9]{4})` + // 4 5 6: day or month first
		`|` + weekday + `(?:the\s+)?([0-9]{1,2})(?:st|nd|rd|th|\.|º|er)?(?:\s+|-)(?:of\s+|de\s+|d')?` + monthWord + `(?:,?\s+|-|\s+de\s+|\s+del\s+)([0-9]{4})` + // 7 8 9: day, month, year
		`|` + weekday + monthWord + `\s+(?:the\s+)?([0-9]{1,2})(?:st|nd|rd|th)?,?\s+([0-9]{4})` + // 10 11 12: month, day, year
		`|([0-9]{4})\s?年\s?([0-9]{1,2})\s?月\s?([0-9]{1,2})\s?日`) // 13 14 15
)

// days are the dates in a text, in their order.
func (d dates) days(text string) []day {
	var all []day
	for _, m := range dateForms.FindAllStringSubmatchIndex(text, -1) {
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		found := day{start: m[0], end: m[1]}
		before, after := text[:m[0]], text[m[1]:]
		if before != "" && isDigit(before[len(before)-1]) || after != "" && isDigit(after[0]) {
			continue // of a longer number
		}
		switch {
		case part(1) != "":
			found.iso = iso(part(1), number(part(2)), part(3))
		case part(4) != "":
			found.iso = d.numeric(number(part(4)), number(part(5)), part(6))
		case part(7) != "":
			found.iso = iso(part(9), monthOf[strings.ToLower(part(8))], part(7))
		case part(10) != "":
			found.iso = iso(part(12), monthOf[strings.ToLower(part(10))], part(11))
		default:
			found.iso = iso(part(13), number(part(14)), part(15))
		}
		all = append(all, found)
	}
	return all
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// numeric is a date of three numbers, the year being the last one.
func (d dates) numeric(first, second int, year string) string {
	dmy, mdy := iso(year, second, strconv.Itoa(first)), iso(year, first, strconv.Itoa(second))
	switch {
	case d.order == "dmy":
		return dmy
	case d.order == "mdy":
		return mdy
	case dmy == "" || dmy == mdy:
		return mdy
	case mdy == "":
		return dmy
	default:
		return "" // it can be either
	}
}

func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// iso writes a date in its normal form; "" if there is no such day.
func iso(year string, month int, dayText string) string {
	y, dom := number(year), number(dayText)
	if month < 1 || month > 12 || y < 1 {
		return ""
	}
	length := [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
	if month == 2 && y%4 == 0 && (y%100 != 0 || y%400 == 0) {
		length = 29
	}
	if dom < 1 || dom > length {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", y, month, dom)
}
