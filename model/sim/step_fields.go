package sim

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/model/sim/internal/problem"
)

// A field is one that an answer is to have, as an output schema describes it.
type field struct {
	name string
	kind kind
}

// kind is what a field holds.
type kind int

const (
	textKind kind = iota
	integerKind
	numberKind
	truthKind
	listKind
)

var (
	fieldForm = regexp.MustCompile(`^[^\w]*([A-Za-z_][\w-]*)["'` + "`" + `]?\s*:\s*(.*)$`)
	kindForms = []struct {
		form *regexp.Regexp
		kind kind
	}{
		{regexp.MustCompile(`(?i)\b(?:list|array|strings|integers|numbers|sequence)\b|\[\]|^\[`), listKind},
		{regexp.MustCompile(`(?i)\b(?:integer|int|count|whole number)\b`), integerKind},
		{regexp.MustCompile(`(?i)\b(?:number|float|decimal)\b`), numberKind},
		{regexp.MustCompile(`(?i)\b(?:bool|boolean|true|false)\b`), truthKind},
		{regexp.MustCompile(`(?i)\b(?:string|text|str)\b`), textKind},
	}
	countName = regexp.MustCompile(`(?i)^(?:n|count|total|number|lines|words|sum)$|_count$|^(?:n|num|number)_`)
)

// readSchema reads an output schema, which is free text such as "count: integer,
// how many there are; files: list of strings", or a JSON schema. A text that
// names no field asks for a result.
func readSchema(text string) []field {
	if fields := readJSONSchema(text); fields != nil {
		return fields
	}
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "{"); ok {
		text = strings.TrimSuffix(inner, "}")
	}
	var fields []field
	for _, piece := range cutOutside(text, ",;\n") {
		m := fieldForm.FindStringSubmatch(strings.TrimSpace(piece))
		if m == nil || slices.ContainsFunc(fields, func(f field) bool { return f.name == m[1] }) {
			continue // more about the field before
		}
		fields = append(fields, field{m[1], kindOf(m[1], m[2])})
	}
	if len(fields) == 0 {
		return []field{{"result", kindOf("result", text)}}
	}
	return fields
}

func readJSONSchema(text string) []field {
	var schema struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	if json.Unmarshal([]byte(text), &schema) != nil {
		return nil
	}
	var fields []field
	for name, p := range schema.Properties {
		fields = append(fields, field{name, kindOf(name, p.Type)})
	}
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.name, b.name) })
	return fields
}

func kindOf(name, description string) kind {
	for _, k := range kindForms {
		if k.form.MatchString(description) {
			return k.kind
		}
	}
	if countName.MatchString(name) {
		return integerKind
	}
	return textKind
}

// cutOutside cuts a text at any of some characters, but not in brackets.
func cutOutside(text, at string) []string {
	var out []string
	depth, start := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth = max(depth-1, 0)
		case depth == 0 && strings.IndexByte(at, c) >= 0:
			out = append(out, text[start:i])
			start = i + 1
		}
	}
	return append(out, text[start:])
}

// A source is what fields are filled from.
type source struct {
	text string
	file string // that the text is about, if any
}

var fileName = regexp.MustCompile(`(?i)^(?:path|file|filename|file_name|file_path)$`)

// fill answers with the fields that are asked for.
func (t *stepTask) fill(s source) mapping {
	lines := s.lines()
	text := strings.Join(lines, "\n")
	var m mapping
	for _, f := range t.schema {
		v := textValue(t.fit(text))
		switch f.kind {
		case integerKind:
			v = numberValue(len(lines))
			if n, ok := leadingNumber(lines); ok {
				v = plainValue(n)
			}
		case numberKind:
			v = numberValue(len(lines))
			if r, ok := problem.Evaluate(text); ok && r.Value != nil && !strings.Contains(r.Text(), "/") {
				v = plainValue(r.Text())
			}
		case truthKind:
			v = plainValue(strconv.FormatBool(len(lines) > 0 && !strings.EqualFold(text, "false") && !strings.EqualFold(text, "no")))
		case listKind:
			v = textsValue(t.fitAll(lines)...)
		case textKind:
			if s.file != "" && fileName.MatchString(f.name) {
				v = textValue(s.file)
			}
		}
		m = append(m, entry{f.name, v})
	}
	return m
}

var (
	numbered = regexp.MustCompile(`^ *\d+\t`) // a line as Read shows it
	leading  = regexp.MustCompile(`^\s*(-?\d+)(?:\s|$)`)
)

// lines are those of the text, without the numbers that Read puts before them.
func (s *source) lines() []string {
	text := strings.TrimRight(s.text, " \n\r\t")
	if text == "" || text == "[no output]" || text == "[no matches]" || text == "[no files match]" {
		return nil
	}
	lines := strings.Split(text, "\n")
	if !slices.ContainsFunc(lines, func(l string) bool { return !numbered.MatchString(l) && !strings.HasPrefix(l, "[cut:") }) {
		for i := range lines {
			lines[i] = numbered.ReplaceAllString(lines[i], "")
		}
	}
	return lines
}

// leadingNumber is the number that a single line is, or begins with, as in the
// output of wc.
func leadingNumber(lines []string) (string, bool) {
	if len(lines) != 1 {
		return "", false
	}
	m := leading.FindStringSubmatch(lines[0])
	if m == nil {
		return "", false
	}
	n, ok := new(big.Int).SetString(m[1], 10)
	return fmt.Sprint(n), ok
}

// off returns the mapping with one of its values wrong.
func (m mapping) off(s problem.Slip) mapping {
	m = slices.Clone(m)
	at := s.Among(len(m))
	m[at].value = m[at].value.off(s)
	return m
}

func (v value) off(s problem.Slip) value {
	switch {
	case v.items != nil:
		if len(v.items) == 0 {
			return textsValue("none " + strconv.Itoa(s.Rival))
		}
		at := s.Among(len(v.items))
		items := slices.Clone(v.items)
		if s.Rival%2 == 0 {
			return listValue(slices.Delete(items, at, at+1)...)
		}
		return listValue(slices.Insert(items, at, items[at])...)
	case v.plain && (v.text == "true" || v.text == "false"):
		return plainValue(strconv.FormatBool(v.text == "false"))
	case v.plain:
		if r, ok := problem.Evaluate(v.text); ok && r.Value != nil {
			return plainValue(r.Off(s).Text())
		}
		return plainValue("0")
	}
	words := strings.Fields(v.text)
	if at := s.Among(len(words) + 1); len(words) > 1 && at < len(words) {
		return textValue(strings.Join(slices.Delete(words, at, at+1), " "))
	}
	return textValue(strings.TrimSpace(v.text + " and " + strconv.Itoa(s.Rival+1) + " more"))
}
