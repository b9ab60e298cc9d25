package sim

import (
	"fmt"
	"regexp"
	"strings"
)

// A mapping is an answer with fields, written as YAML, or as JSON to those who
// want a JSON object. It is written by hand, because libraries emit some texts in
// a form that they do not read back.
type mapping []entry

type entry struct {
	name  string
	value value
}

// A value is a text, something that needs no quotes (a number, true), a list, or
// a mapping in its turn.
type value struct {
	text   string
	plain  bool
	items  []value // nil if it is no list
	fields mapping // nil if it is no mapping
}

func textValue(s string) value        { return value{text: s} }
func plainValue(s string) value       { return value{text: s, plain: true} }
func listValue(items ...value) value  { return value{items: append([]value{}, items...)} }
func fieldsValue(m mapping) value     { return value{fields: m} }
func numberValue(n int) value         { return plainValue(fmt.Sprint(n)) }
func textsValue(list ...string) value { return listValue(mapped(list, textValue)...) }

// mapped applies f to each element.
func mapped[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	for i := range list {
		out[i] = f(list[i])
	}
	return out
}

func (m mapping) write(structured bool) string {
	if structured {
		return m.json()
	}
	return m.yaml("")
}

// yaml writes a line for each field, all behind indent.
func (m mapping) yaml(indent string) string {
	var b strings.Builder
	for _, e := range m {
		b.WriteString(indent + yamlText(e.name, true) + ": ")
		e.value.yaml(&b, false)
		b.WriteByte('\n')
	}
	return b.String()
}

func (v *value) yaml(b *strings.Builder, inList bool) {
	switch {
	case v.items != nil:
		b.WriteByte('[')
		for i := range v.items {
			if i > 0 {
				b.WriteString(", ")
			}
			v.items[i].yaml(b, true)
		}
		b.WriteByte(']')
	case v.fields != nil:
		b.WriteString(v.fields.json()) // which is YAML too
	case v.plain:
		b.WriteString(v.text)
	default:
		b.WriteString(yamlText(v.text, inList))
	}
}

func (m mapping) json() string {
	var b strings.Builder
	b.WriteByte('{')
	for i, e := range m {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoted(e.name) + ": ")
		e.value.json(&b)
	}
	b.WriteByte('}')
	return b.String()
}

func (v *value) json(b *strings.Builder) {
	switch {
	case v.items != nil:
		b.WriteByte('[')
		for i := range v.items {
			if i > 0 {
				b.WriteString(", ")
			}
			v.items[i].json(b)
		}
		b.WriteByte(']')
	case v.fields != nil:
		b.WriteString(v.fields.json())
	case v.plain:
		b.WriteString(v.text)
	default:
		b.WriteString(quoted(v.text))
	}
}

var (
	// A text of one line without anything that could mean something in YAML.
	plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9 _./()-]*[A-Za-z0-9_./()]$`)
	plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]+$`) // in a list, or a key

	// What some reader takes for a truth value or for nothing.
	yamlWord = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null|nan|inf)$`)
)

// yamlText writes a text so that it is read back as it is.
func yamlText(s string, word bool) string {
	form := plainText
	if word {
		form = plainWord
	}
	if form.MatchString(s) && !yamlWord.MatchString(s) {
		return s
	}
	return quoted(s)
}

// quoted writes a text in double quotes, which JSON and YAML read alike: what one
// of them has its own view of is escaped.
func quoted(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s { // bytes that are no UTF-8 come as U+FFFD
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// ramblingRemark wastes as many tokens as the decision says, in a comment before the
// answer: prose there would keep some readers from finding it.
func (d *decision) ramblingRemark() string {
	switch text := string(d.appendRamble(nil)); {
	case text == "" || d.structured:
		return text
	default:
		return "# " + text
	}
}

// clip shortens a text to at most n bytes, and shows that it did.
func clip(s string, n int) string {
	if n <= 0 || len(s) <= n {
		return s
	}
	return truncate(s, n) + " …"
}
