package yamlclean

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A fix mends one kind of damage. It returns the lines of the whole text as they
// should be, nil if the damage is not of its kind or has more than one reading. It
// may return several ways to mend it, which help only if they come to the same.
type fix struct {
	name string
	mend func(*damage) [][]string
}

// fixes are in the order in which they are tried: first what others rely on, and
// what is surest.
var fixes = []fix{
	{"tabs", fixTabs},
	{"trailing_commas", fixTrailingCommas},
	{"bad_escapes", fixEscapes},
	{"unquoted_special", fixUnquotedSpecial},
	{"unquoted_colon", fixUnquotedColon},
}

// maxRepair is the length of a text up to which it is repaired. It is more than a
// model writes in one answer.
const maxRepair = MaxSize / 4

// maxParsed bounds how many bytes are parsed to repair one text: each damage takes
// a few rounds.
const maxParsed = 16 << 20

// A damage is the first line of a text that cannot be read together with what is
// before it.
type damage struct {
	lines  []string
	at     int        // the index of the line
	before *yaml.Node // what the lines before it say, nil if that is nothing

	root *yaml.Node // what the text says, if there is no damage

	counts map[string]int // how many lines begin with each key, once that is needed
}

// left returns how many lines there are from the damage on.
func (d *damage) left() int {
	if d.root != nil {
		return -1
	}
	return len(d.lines) - d.at
}

// readable returns as JSON what can be read.
func (d *damage) readable() []byte {
	if n := cmp.Or(d.root, d.before); n != nil {
		return decode(n)
	}
	return nil
}

// A repairer mends one damage after the other, from the first to the last.
type repairer struct{ parsed int }

// repair returns what the text says when it is repaired, the text that does say
// so, and the names of what was done. It returns nil if there is a damage that no
// fix mends.
func repair(text string) (root *yaml.Node, mended string, names []string) {
	if len(text) > maxRepair {
		return nil, "", nil
	}
	if root, closed := closeBracket(text); root != nil {
		return root, closed, []string{"unclosed_bracket"}
	}
	var r repairer
	d := r.diagnose(strings.Split(text, "\n"))
	for d != nil && d.root == nil {
		var done string
		if d, done = r.mend(d); !slices.Contains(names, done) {
			names = append(names, done)
		}
	}
	if d == nil {
		return nil, "", nil
	}
	return d.root, strings.Join(d.lines, "\n"), names
}

// closeBracket adds the one bracket that is missing at the end of a text that is a
// collection in brackets. It does so only behind another one: otherwise more than
// that may be missing.
func closeBracket(text string) (*yaml.Node, string) {
	text = strings.TrimSpace(text)
	if text != "" && strings.ContainsAny(text[:1], "[{") && strings.ContainsAny(text[len(text)-1:], "]}") {
		for _, bracket := range []string{"]", "}"} {
			if root, p := load(text + bracket); p == nil {
				return root, text + bracket
			}
		}
	}
	return nil, ""
}

// mend applies the first fix after which more can be read. It returns nil if there is
// none.
func (r *repairer) mend(d *damage) (*damage, string) {
	for _, f := range fixes {
		if better := r.apply(f, d); better != nil {
			return better, f.name
		}
	}
	return nil, ""
}

// apply returns what a fix makes of a text, if more of it can be read then. It returns
// nil if not, or if there is more than one reading.
func (r *repairer) apply(f fix, d *damage) (better *damage) {
	for _, lines := range f.mend(d) {
		next := r.diagnose(lines)
		switch {
		case next == nil || next.left() >= d.left():
		case better == nil:
			better = next
		case !bytes.Equal(better.readable(), next.readable()):
			return nil
		}
	}
	return better
}

// diagnose finds the first damage of a text. It returns nil if it cannot be found.
func (r *repairer) diagnose(lines []string) *damage {
	root, p := r.load(lines)
	if p == nil {
		return &damage{lines: lines, root: root}
	}
	// The parser has read ahead before it complains, so that the damage may be on a
	// line before.
	const most = 8
	for range most {
		if r.parsed > maxParsed {
			break
		}
		at := p.lastLine() - 1
		if !slices.ContainsFunc(lines[:at], saysSomething) {
			return &damage{lines: lines, at: at}
		}
		before, earlier := r.load(lines[:at])
		if earlier == nil {
			return &damage{lines: lines, at: at, before: before}
		}
		p = earlier
	}
	return nil
}

// saysSomething reports whether a line is neither blank nor a comment.
func saysSomething(t string) bool {
	t = strings.TrimSpace(t)
	return t != "" && t[0] != '#'
}

func (r *repairer) load(lines []string) (*yaml.Node, *problem) {
	text := strings.Join(lines, "\n")
	r.parsed += len(text)
	return load(text)
}

// with returns the lines of the text with others in place of some, last included.
func (d *damage) with(first, last int, lines ...string) []string {
	return slices.Concat(d.lines[:first], lines, d.lines[last+1:])
}

// after returns the next line after i that is not blank, "" if there is none.
func (d *damage) after(i int) string {
	for _, t := range d.lines[i+1:] {
		if !isBlank(t) {
			return t
		}
	}
	return ""
}

// keyCount returns how many lines begin with a key, behind a dash or not.
func (d *damage) keyCount(key string) int {
	if d.counts == nil {
		d.counts = map[string]int{}
		for _, t := range d.lines {
			d.counts[headOf(t).key]++
		}
	}
	return d.counts[key]
}
