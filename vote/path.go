package vote

import (
	"errors"
	"strings"
)

// A path is a parsed field path.
type path []segment

// A segment is a name, or a star that stands for any.
type segment struct {
	name string
	any  bool
}

func (s segment) matches(name string) bool { return s.any || s.name == name }

// contradicts reports whether ignoring p can remove what a vote on q needs. To
// ignore one of the fields that a star stands for is no contradiction.
func (p path) contradicts(q path) bool {
	if len(p) > len(q) {
		return false
	}
	last := len(p) - 1
	for i := range last {
		if !p[i].any && !q[i].any && p[i].name != q[i].name {
			return false
		}
	}
	return p[last].any || !q[last].any && p[last].name == q[last].name
}

// parsePath reads a dotted path. Names take the same normal form as the names
// in answers.
func (o KeyOptions) parsePath(s string) (path, error) {
	var p path
	var name []byte
	literal := false // the segment has a character after a backslash
	end := func() error {
		if len(name) == 0 {
			return errors.New("a name is empty")
		}
		if !literal && string(name) == "*" {
			p = append(p, segment{any: true})
		} else {
			p = append(p, segment{name: normalText(string(name), o.KeepSpace)})
		}
		name, literal = name[:0], false
		return nil
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '.':
			if err := end(); err != nil {
				return nil, err
			}
		case '\\':
			if i++; i == len(s) || !strings.Contains(`.*\`, s[i:i+1]) {
				return nil, errors.New("a backslash goes before a dot, a star or a backslash")
			}
			name, literal = append(name, s[i]), true
		default:
			name = append(name, c)
		}
	}
	if err := end(); err != nil {
		return nil, err
	}
	return p, nil
}
