package yamlclean

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxRepair is the length of a text up to which it is repaired. It is more than a
// model writes in one answer.
const maxRepair = MaxSize / 4

// maxParsed bounds how many bytes are parsed to repair one text: each damage takes
// a few rounds.
const maxParsed = 16 << 20

// A repairer mends one damage after the other, from the first to the last.
type repairer struct{ parsed int }

// repair returns what the text says when it is repaired, and the text that does say
// so. It returns nil if there is a damage that is not mended.
func repair(text string) (root *yaml.Node, mended string) {
	if len(text) > maxRepair {
		return nil, ""
	}
	var r repairer
	lines := strings.Split(text, "\n")
	root, at := r.diagnose(lines)
	for root == nil {
		if at < 0 {
			return nil, ""
		}
		before := at
		if lines = fixUnquotedColon(lines, at); lines == nil {
			return nil, ""
		}
		if root, at = r.diagnose(lines); at <= before { // no more can be read than before
			at = -1
		}
	}
	return root, strings.Join(lines, "\n")
}

// diagnose loads a text, or else finds the first line of it that cannot be read
// together with what is before it, -1 if it cannot be found.
func (r *repairer) diagnose(lines []string) (root *yaml.Node, at int) {
	root, p := r.load(lines)
	// The parser has read ahead before it complains, so that the damage may be on a
	// line before.
	const most = 8
	for range most {
		if p == nil || r.parsed > maxParsed {
			break
		}
		at = p.lastLine() - 1
		if !slices.ContainsFunc(lines[:at], saysSomething) {
			return nil, at
		}
		_, earlier := r.load(lines[:at])
		if earlier == nil {
			return nil, at
		}
		p = earlier
	}
	return root, -1
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
