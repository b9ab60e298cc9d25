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

// fixes are what is tried, what is surest first. Each takes the lines of a text and the
// first that cannot be read, and returns none if it is not about that.
var fixes = []struct {
	name string
	mend func(lines []string, at int) []string
}{
	{"trailing_comma", fixTrailingComma},
	{"block_marker", fixBlockMarker},
	{"unquoted_colon", fixUnquotedColon},
}

// repair returns what the text says when it is repaired, the text that does say so, and
// the names of the fixes. It returns nil if there is a damage that is not mended.
func repair(text string) (root *yaml.Node, mended string, names []string) {
	if len(text) > maxRepair {
		return nil, "", nil
	}
	var r repairer
	lines := strings.Split(text, "\n")
	root, at := r.diagnose(lines)
	for root == nil {
		if at < 0 {
			return nil, "", nil
		}
		var name string
		if root, lines, at, name = r.mend(lines, at); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return root, strings.Join(lines, "\n"), names
}

// mend applies the first fix after which more can be read.
func (r *repairer) mend(lines []string, at int) (root *yaml.Node, mended []string, next int, name string) {
	for _, f := range fixes {
		mended = f.mend(lines, at)
		if mended == nil {
			continue
		}
		root, next = r.diagnose(mended)
		if root != nil || next >= 0 && len(mended)-next < len(lines)-at {
			return root, mended, next, f.name
		}
	}
	return nil, nil, -1, ""
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
