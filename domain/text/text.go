// Package text is the adapter for problems of any kind: it compares solutions as
// texts, and knows what is wrong with any answer whatever was asked. It is what
// recursive solving uses unless told otherwise, and asks no model.
//
// Two solutions agree if their canonical forms are equal; see [Canonical]. That
// forgives spelling and never guesses at meaning: "5" and "five" do not agree,
// which costs votes and nothing else.
package text

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/vote"
)

// An Adapter compares solutions as texts. The zero value is ready for use, also
// by several goroutines.
type Adapter struct{}

var (
	_ domain.Adapter    = Adapter{}
	_ domain.Calibrated = Adapter{}
)

// Equivalent reports whether two solutions have the same canonical form.
func (Adapter) Equivalent(a, b string) bool { return a == b || Canonical(a) == Canonical(b) }

// Canonical returns the form that a text shares with all texts that say the same.
//
//   - JSON is compared as JSON: numbers as exact values, fields in any order,
//     elements in their order. Letter case counts in it. A fence around it, or a
//     single string's quotation marks, do not count.
//   - A number is a number: 7, 7.0 and 1,000 for 1000. So is a list of numbers with
//     commas and spaces or line ends between them, with brackets or without; their
//     order counts.
//   - Text of several lines with indentation or in a fence is a program: only
//     white space at the ends of lines is dropped.
//   - Anything else is compared without letter case, with single spaces, plain
//     quotation marks and dashes, in Unicode normal form C, and without
//     punctuation at its end.
func Canonical(text string) string {
	body, fenced := unfence(strings.TrimSpace(norm.NFC.String(text)))
	if key, ok := structured(body); ok {
		return key
	}
	if fenced && strings.Contains(body, "\n") || isIndented(body) {
		return program(body)
	}
	key := prose(body)
	// What was in quotation marks may be a number.
	if inner, ok := structured(key); ok {
		return inner
	}
	return key
}

// unfence returns what is in the fence that surrounds all of a text.
func unfence(text string) (body string, fenced bool) {
	const fence = "```"
	if !strings.HasPrefix(text, fence) || !strings.HasSuffix(text, fence) || len(text) < 2*len(fence) {
		return text, false
	}
	_, body, found := strings.Cut(strings.TrimSuffix(text, fence), "\n") // after the name of a language
	if !found || strings.Contains(body, fence) {
		return text, false
	}
	return strings.Trim(body, "\r\n"), true
}

var grouped = regexp.MustCompile(`^-?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]+)?$`)

// structured returns the canonical form of JSON, a number or a list of numbers.
func structured(text string) (string, bool) {
	bare := strings.TrimRight(strings.TrimSpace(text), ".;")
	if grouped.MatchString(bare) {
		bare = strings.ReplaceAll(bare, ",", "")
	}
	for i, candidate := range []string{text, bare} {
		if i > 0 && candidate == text || !mayBeJSON(candidate) {
			continue
		}
		if key, err := vote.Canonical(json.RawMessage(candidate), vote.KeyOptions{}); err == nil {
			if inner := ""; strings.HasPrefix(key, `"`) && json.Unmarshal([]byte(key), &inner) == nil {
				return Canonical(inner), true // which is shorter
			}
			return key, true
		}
	}
	if items, ok := numbers(bare); ok {
		return canonicalList(items), true
	}
	return "", false
}

// mayBeJSON looks at how a text begins: most are prose, and need not be parsed to know that.
func mayBeJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text != "" && strings.IndexByte(`{["-0123456789tfn`, text[0]) >= 0
}

// canonicalList is the canonical form of a list of numbers.
func canonicalList(items []string) string {
	key, err := vote.Canonical(json.RawMessage("["+strings.Join(items, ",")+"]"), vote.KeyOptions{})
	if err != nil {
		return strings.Join(items, ",")
	}
	return key
}

var number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`)

// numbers returns the numbers of a list: at least two, unless it has brackets.
func numbers(text string) ([]string, bool) {
	inner, open := strings.CutPrefix(text, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if open != closed {
		return nil, false
	}
	if open && strings.TrimSpace(inner) == "" {
		return []string{}, true
	}
	if !open && strings.Contains(inner, ",") && !strings.Contains(inner, ", ") && !strings.Contains(inner, ",\n") {
		return nil, false // 1,2 may be a decimal
	}
	parts := strings.FieldsFunc(inner, func(r rune) bool { return r == ',' || r == '\n' })
	var items []string
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		if !number.MatchString(part) || len(part) > 1000 {
			return nil, false
		}
		items = append(items, part)
	}
	return items, len(items) > 1 || open && len(items) == 1
}

// isIndented reports whether a text has a line that begins with white space.
func isIndented(text string) bool {
	for _, line := range strings.Split(text, "\n")[1:] {
		if trimmed := strings.TrimLeft(line, " \t"); trimmed != line && strings.TrimSpace(trimmed) != "" {
			return true
		}
	}
	return false
}

func program(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRightFunc(line, unicode.IsSpace)
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

var plain = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`, "–", "-", "—", "-", "−", "-", "\u00ad", "", "\u200b", "", "\ufeff", "")

func prose(text string) string {
	text = plain.Replace(text)
	// Upper case first: σ and ς are one letter.
	text = strings.ToLower(strings.ToUpper(text))
	text = strings.Join(strings.Fields(text), " ")
	for {
		before := text
		text = strings.TrimSpace(strings.TrimRight(text, ".!?,;:"))
		for _, quote := range []string{`"`, "'", "`", "**"} {
			if inner, ok := strings.CutPrefix(text, quote); ok {
				if inner, ok = strings.CutSuffix(inner, quote); ok && !strings.Contains(inner, quote) {
					text = inner
				}
			}
		}
		if text == before {
			return norm.NFC.String(text)
		}
	}
}
