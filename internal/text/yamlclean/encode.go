package yamlclean

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Width is how many columns a line of YAML has that is written for people, if its
// text can be broken.
const Width = 88

// Encode writes JSON as YAML that is pleasant to read and that [Load] reads back as
// the same value, whatever text it holds. Fields keep their order. It is written by
// hand because libraries emit some texts in a form that they do not read back.
func Encode(data json.RawMessage) (string, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var w writer
	if err := w.value(dec, 0, false); err != nil {
		return "", fmt.Errorf("yamlclean: %w", err)
	}
	if w.block {
		w.out.WriteByte('\n') // without it the last line of the block has none
	}
	return strings.TrimPrefix(w.out.String(), " "), nil
}

type writer struct {
	out   strings.Builder
	block bool // the last value is a block whose text ends with a line break
}

// value writes the next value behind a key or a dash, or at the start. A
// collection begins on a line of its own, unless it follows a dash.
func (w *writer) value(dec *json.Decoder, depth int, dash bool) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	w.block = false
	switch t := token.(type) {
	case json.Delim:
		return w.collection(dec, t, depth, dash)
	case string:
		text := unfolded(t, 2*max(depth, 1))
		w.block = strings.HasPrefix(text, "|\n")
		w.out.WriteString(" " + text)
	case json.Number:
		w.out.WriteString(" " + t.String())
	case bool:
		w.out.WriteString(" " + strconv.FormatBool(t))
	default:
		w.out.WriteString(" null")
	}
	return nil
}

func (w *writer) collection(dec *json.Decoder, open json.Delim, depth int, dash bool) error {
	if depth > MaxDepth {
		return fmt.Errorf("it is nested deeper than %d", MaxDepth)
	}
	if !dec.More() {
		w.out.WriteString(map[json.Delim]string{'{': " {}", '[': " []"}[open])
		_, err := dec.Token()
		return err
	}
	for first := true; dec.More(); first = false {
		if first && dash {
			w.out.WriteByte(' ')
		} else if w.out.Len() > 0 {
			w.newLine(depth)
		}
		if open == '[' {
			w.out.WriteByte('-')
		} else {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			name, _ := key.(string)
			w.key(name, depth)
		}
		if err := w.value(dec, depth+1, open == '['); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

func (w *writer) newLine(depth int) {
	w.out.WriteString("\n" + strings.Repeat("  ", depth))
}

func (w *writer) key(name string, depth int) {
	if len(name) < 100 {
		w.out.WriteString(oneLine(name) + ":")
		return
	}
	// A reader need not look further for the colon of a key.
	w.out.WriteString("? " + inQuotes(name))
	w.newLine(depth)
	w.out.WriteByte(':')
}

// Text writes a text as the value of a key. It would begin in this column of the
// line with the key; further lines are indented by margin. A text stands there as it
// is only where that is certain to mean the same: a short one on its line, a long one
// folded, one of several lines as a block. All others are in double quotes.
func Text(s string, column, margin int) string {
	if column+utf8.RuneCountInString(s) > Width && tidy(s) && strings.Contains(s, " ") {
		return block(">-", fold(s, Width-margin), margin)
	}
	return unfolded(s, margin)
}

// unfolded is what [Text] writes of a text that is short enough.
func unfolded(s string, margin int) string {
	if header, ok := literalHeader(s); ok {
		return block(header, strings.Split(strings.TrimSuffix(s, "\n"), "\n"), margin)
	}
	return oneLine(s)
}

func block(header string, lines []string, margin int) string {
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", margin) + line
		}
	}
	return header + "\n" + strings.Join(lines, "\n")
}

// oneLine writes a text on one line, as a key or behind one.
func oneLine(s string) string {
	if isPlain(s) {
		return s
	}
	return inQuotes(s)
}

// plainWord has nothing that means something in brackets.
var plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./*-]*$`)

// Word writes a text as an element of a list or a mapping in brackets.
func Word(s string) string {
	if plainWord.MatchString(s) && !reserved.MatchString(s) {
		return s
	}
	return inQuotes(s)
}

// inQuotes writes a text in double quotes, on one line. YAML has all escapes of Go.
func inQuotes(s string) string { return strconv.Quote(s) }

// literalHeader returns how to open a literal block that holds a text, and whether
// it can be one. It can if it has several lines, of visible characters and spaces
// only, none with spaces at its end, where editors lose them, and the first neither
// empty nor indented, since it tells how far the block is.
func literalHeader(s string) (string, bool) {
	header := "|-"
	body, ended := strings.CutSuffix(s, "\n")
	if ended {
		header = "|"
	}
	if !strings.Contains(body, "\n") || strings.HasPrefix(body, " ") || strings.HasPrefix(body, "\n") || strings.HasSuffix(body, "\n") {
		return "", false
	}
	for line := range strings.SplitSeq(body, "\n") {
		if strings.HasSuffix(line, " ") || !visible(line) {
			return "", false
		}
	}
	return header, true
}

// fold breaks a tidy text into lines. A folded block makes a space of each break.
func fold(s string, width int) []string {
	var lines []string
	line := ""
	for w := range strings.SplitSeq(s, " ") {
		switch {
		case line == "":
			line = w
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) <= width:
			line += " " + w
		default:
			lines = append(lines, line)
			line = w
		}
	}
	return append(lines, line)
}

// visible reports whether a text has only characters that YAML and people see as
// what they are.
func visible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// tidy reports whether a text is one line of words with one space between them.
func tidy(s string) bool {
	return s != "" && visible(s) && !strings.Contains(s, "  ") && strings.Trim(s, " ") == s
}

// reserved is what some version of YAML takes for something else than text.
var reserved = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null|nan|inf|infinity)$`)

// isPlain reports whether a text can stand without quotes after a key or as one: it
// is tidy, begins with a letter, is no word with a meaning of its own, and has
// nothing that would make a comment, a key or a collection of it.
func isPlain(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	letter := 'a' <= first && first <= 'z' || 'A' <= first && first <= 'Z' || first == '_'
	return letter && tidy(s) && !reserved.MatchString(s) && !strings.HasSuffix(s, ":") && !strings.Contains(s, ": ") && !strings.ContainsAny(s, `#[]{}|\`)
}
