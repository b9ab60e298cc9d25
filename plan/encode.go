package plan

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/internal/text/yamlclean"
)

// Encode writes a plan as YAML that a person likes to read and edit, and that
// [Parse] reads back as the same plan whatever the texts in it. (Nil lists come
// back empty.)
//
// It is an error if a text is not UTF-8, or if the plan is too large to be read
// back.
func Encode(p *Plan) (string, error) {
	e := &encoder{}
	e.text(0, "reasoning", p.Reasoning)
	e.out.WriteString("\nplan:")
	if len(p.Steps) == 0 {
		e.out.WriteString(" []")
	}
	e.out.WriteByte('\n')
	for i := range p.Steps {
		if i > 0 {
			e.out.WriteByte('\n')
		}
		e.step(&p.Steps[i])
	}
	if e.err != nil {
		return "", e.err
	}
	if n := e.out.Len(); n > yamlclean.MaxSize {
		return "", fmt.Errorf("plan: the plan has %d bytes, more than the %d that can be read back: shorten it", n, yamlclean.MaxSize)
	}
	return e.out.String(), nil
}

// An encoder writes YAML. The indentation of a step's fields is stepIndent, with
// the dash of the list in it.
type encoder struct {
	out   strings.Builder
	where string
	err   error
}

const stepIndent = 4

func (e *encoder) step(s *Step) {
	e.where = fmt.Sprintf("step %d: ", s.Number)
	for f := range fieldCount {
		switch f {
		case fieldStep:
			fmt.Fprintf(&e.out, "  - step: %d\n", s.Number)
		case fieldTaskType:
			e.text(stepIndent, f.String(), string(s.TaskType))
		case fieldNextStep:
			fmt.Fprintf(&e.out, "    %s: %d\n", f, s.NextStep)
		case fieldVoting:
			e.voting(s.Voting)
		default:
			if fields[f].list != nil {
				if list := *s.listField(f); f < firstOptional || len(list) > 0 || f == fieldIgnore && list != nil {
					e.list(f.String(), list)
				}
			} else if text := *s.textField(f); f < firstOptional || text != "" {
				e.text(stepIndent, f.String(), text)
			}
		}
	}
}

func (e *encoder) voting(v *Voting) {
	if v == nil {
		return
	}
	e.valid("voting", string(v.Strategy))
	strategy := yamlclean.Word(string(v.Strategy))
	if v.N == 0 && v.K == 0 && v.MaxSamples == 0 {
		fmt.Fprintf(&e.out, "    voting: %s\n", strategy)
		return
	}
	fmt.Fprintf(&e.out, "    voting: {strategy: %s", strategy)
	for _, number := range []struct {
		name  string
		value int
	}{{"k", v.K}, {"n", v.N}, {"max_samples", v.MaxSamples}} {
		if number.value != 0 {
			fmt.Fprintf(&e.out, ", %s: %d", number.name, number.value)
		}
	}
	e.out.WriteString("}\n")
}

// list writes names on one line if they fit there.
func (e *encoder) list(name string, list []string) {
	words := make([]string, len(list))
	for i, text := range list {
		e.valid(name, text)
		words[i] = yamlclean.Word(text)
	}
	line := fmt.Sprintf("    %s: [%s]", name, strings.Join(words, ", "))
	if utf8.RuneCountInString(line) <= yamlclean.Width || len(words) < 2 {
		e.out.WriteString(line + "\n")
		return
	}
	fmt.Fprintf(&e.out, "    %s:\n", name)
	for _, w := range words {
		fmt.Fprintf(&e.out, "      - %s\n", w)
	}
}

func (e *encoder) text(indent int, name, text string) {
	e.valid(name, text)
	fmt.Fprintf(&e.out, "%*s%s: %s\n", indent, "", name, yamlclean.Text(text, indent+len(name)+2, indent+2))
}

func (e *encoder) valid(name, text string) {
	if e.err == nil && !utf8.ValidString(text) {
		e.err = fmt.Errorf("plan: %s%s is not UTF-8", e.where, name)
	}
}
