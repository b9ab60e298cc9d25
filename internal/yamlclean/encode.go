package yamlclean

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Encode writes JSON as YAML that is pleasant to read and that [Load] reads back as
// the same value, whatever text it holds. Fields keep their order. It is written by
// hand because libraries emit some texts in a form that they do not read back.
func Encode(data json.RawMessage) (string, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var e writer
	if err := e.value(dec, 0, false); err != nil {
		return "", fmt.Errorf("yamlclean: %w", err)
	}
	return strings.TrimPrefix(e.out.String(), " "), nil
}

type writer struct{ out strings.Builder }

// value writes the next value behind a key or a dash, or at the start. A
// collection begins on a line of its own, unless it follows a dash.
func (e *writer) value(dec *json.Decoder, depth int, dash bool) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		return e.collection(dec, t, depth, dash)
	case string:
		e.out.WriteByte(' ')
		e.text(t, depth)
	case json.Number:
		e.out.WriteString(" " + t.String())
	case bool:
		e.out.WriteString(" " + strconv.FormatBool(t))
	default:
		e.out.WriteString(" null")
	}
	return nil
}

func (e *writer) collection(dec *json.Decoder, open json.Delim, depth int, dash bool) error {
	if depth > MaxDepth {
		return fmt.Errorf("it is nested deeper than %d", MaxDepth)
	}
	if !dec.More() {
		e.out.WriteString(map[json.Delim]string{'{': " {}", '[': " []"}[open])
		_, err := dec.Token()
		return err
	}
	for first := true; dec.More(); first = false {
		if first && dash {
			e.out.WriteByte(' ')
		} else if e.out.Len() > 0 {
			e.out.WriteByte('\n')
			e.out.WriteString(strings.Repeat("  ", depth))
		}
		if open == '[' {
			e.out.WriteByte('-')
		} else {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			name, _ := key.(string)
			e.key(name)
		}
		if err := e.value(dec, depth+1, open == '['); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

func (e *writer) key(name string) {
	if isPlain(name) && len(name) < 100 {
		e.out.WriteString(name + ":")
		return
	}
	if len(name) > 100 { // a reader need not look further for the colon of a key
		e.out.WriteString("? " + inQuotes(name) + "\n:")
		return
	}
	e.out.WriteString(inQuotes(name) + ":")
}

func (e *writer) text(s string, depth int) {
	switch {
	case isPlain(s):
		e.out.WriteString(s)
	case isBlock(s):
		body, broken := strings.CutSuffix(s, "\n")
		e.out.WriteByte('|')
		if !broken {
			e.out.WriteByte('-')
		}
		for line := range strings.SplitSeq(body, "\n") {
			e.out.WriteByte('\n')
			if line != "" {
				e.out.WriteString(strings.Repeat("  ", max(depth, 1)) + line)
			}
		}
	default:
		e.out.WriteString(inQuotes(s))
	}
}

var (
	plainForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./ -]*[A-Za-z0-9_./]$|^[A-Za-z_]$`)

	// What the two versions of YAML take for something else than text.
	reserved = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null|nan|inf)$`)
)

func isPlain(s string) bool {
	return len(s) < 200 && plainForm.MatchString(s) && !reserved.MatchString(s)
}

// isBlock reports whether a text of several lines certainly survives as a literal
// block.
func isBlock(s string) bool {
	body := strings.TrimSuffix(s, "\n")
	if !strings.Contains(body, "\n") || strings.HasSuffix(body, "\n") || strings.HasPrefix(body, " ") || strings.HasPrefix(body, "\n") {
		return false
	}
	for _, r := range s {
		if r != '\n' && (r == '\t' || r == unicode.ReplacementChar || r == 0xFEFF || r == 0x85 || r == 0x2028 || r == 0x2029 || !unicode.IsPrint(r)) {
			return false
		}
	}
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" && strings.TrimSpace(line) == "" {
			return false
		}
	}
	return true
}

// inQuotes writes a text in double quotes. What is not printable is escaped.
func inQuotes(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\t':
			out.WriteString(`\t`)
		case r == '\r':
			out.WriteString(`\r`)
		case unicode.IsPrint(r):
			out.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&out, `\U%08x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	out.WriteByte('"')
	return out.String()
}
