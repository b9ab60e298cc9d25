package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/maker-mdap/maker/internal/yamlclean"
)

// Encode writes a plan as YAML that a person likes to read and edit, and that
// [Parse] reads back as the same plan whatever the texts in it. (Nil lists come
// back empty.)
//
// A text stands there as it is only where that is certain to mean the same:
// short ones on their line, long ones folded, those of several lines as a block.
// All others are in double quotes. It is an error if a text is not UTF-8, or if
// the plan is too large to be read back.
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

const (
	stepIndent = 4
	width      = 88
)

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
		case fieldPrimaryTools, fieldFallbackTools, fieldInputVariables, fieldVoteOn, fieldIgnore:
			if list := *s.listField(f); f < firstOptional || len(list) > 0 {
				e.list(f.String(), list)
			}
		case fieldVoting:
			e.voting(s.Voting)
		default:
			if text := *s.textField(f); f < firstOptional || text != "" {
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
	strategy := word(string(v.Strategy))
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
		words[i] = word(text)
	}
	line := fmt.Sprintf("    %s: [%s]", name, strings.Join(words, ", "))
	if utf8.RuneCountInString(line) <= width || len(words) < 2 {
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
	margin := strings.Repeat(" ", indent)
	e.out.WriteString(margin + name + ":")
	margin += "  "
	fits := indent+len(name)+2+utf8.RuneCountInString(text) <= width
	switch header, literal := literalHeader(text); {
	case literal:
		e.out.WriteString(" " + header + "\n")
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			if line != "" {
				e.out.WriteString(margin + line)
			}
			e.out.WriteByte('\n')
		}
	case !fits && tidy(text) && strings.Contains(text, " "):
		e.out.WriteString(" >-\n")
		for _, line := range fold(text, width-len(margin)) {
			e.out.WriteString(margin + line + "\n")
		}
	case isPlain(text):
		e.out.WriteString(" " + text + "\n")
	default:
		e.out.WriteString(" " + quote(text) + "\n")
	}
}

func (e *encoder) valid(name, text string) {
	if e.err == nil && !utf8.ValidString(text) {
		e.err = fmt.Errorf("plan: %s%s is not UTF-8", e.where, name)
	}
}

// literalHeader returns how to open a literal block that holds text, and whether
// it can be one. It can if it has several lines, of visible characters and
// spaces only, none with spaces at its end, where editors lose them, and the
// first neither empty nor indented, since it tells how far the block is.
func literalHeader(text string) (string, bool) {
	body, ended := strings.CutSuffix(text, "\n")
	header := "|-"
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

// tidy reports whether text is one line of words with one space between them.
func tidy(text string) bool {
	return text != "" && visible(text) && !strings.Contains(text, "  ") && strings.Trim(text, " ") == text
}

// fold breaks a tidy text into lines. A folded block makes a space of each break.
func fold(text string, width int) []string {
	var lines []string
	line := ""
	for w := range strings.SplitSeq(text, " ") {
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

// visible reports whether text has only characters that YAML and people see as
// what they are.
func visible(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// isPlain reports whether text can stand without quotes after a key: it is tidy,
// begins with a letter, is no word with a meaning of its own, and has nothing
// that would make a comment, a key or a collection of it.
func isPlain(text string) bool {
	if !tidy(text) || !asciiLetter(rune(text[0])) || reserved(text) || strings.HasSuffix(text, ":") || strings.Contains(text, ": ") {
		return false
	}
	return !strings.ContainsAny(text, "#[]{}|\\")
}

// word is a name in a list or a mapping on one line.
func word(text string) string {
	plain := text != "" && asciiLetter(rune(text[0])) && !reserved(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return !asciiLetter(r) && (r < '0' || r > '9') && !strings.ContainsRune("_-./*", r)
	})
	if plain {
		return text
	}
	return quote(text)
}

func asciiLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

// reserved reports whether some reader of YAML takes text for something else.
func reserved(text string) bool {
	words := []string{"null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity"}
	return slices.Contains(words, strings.ToLower(text))
}

// quote writes text in double quotes, on one line.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xFF:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
