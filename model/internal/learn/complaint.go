package learn

import "strings"

// A Complaint is what a server said about a request that it did not take.
type Complaint struct {
	Param string // the parameter it is about, if the server names one
	Text  string
}

// About reports whether the complaint names one of the parameters. Names have to
// stand alone, so that n is not found in every word.
func (c Complaint) About(names ...string) bool {
	for _, text := range []string{c.Param, c.Text} {
		text = strings.ToLower(text)
		for _, name := range names {
			if contains(text, name) {
				return true
			}
		}
	}
	return false
}

func contains(text, name string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(name)
		// A backslash makes n a line break in quoted JSON.
		if (at == 0 || !wordly(text[at-1]) && text[at-1] != '\\') && (end == len(text) || !wordly(text[end])) {
			return true
		}
		from = at + 1
	}
}

func wordly(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || b >= 0x80
}

var (
	// refusing words say that a parameter is not taken, whatever its value.
	refusing = []string{
		"unsupported", "not support", "n't support", "only support", "deprecated", "no longer",
		"not permitted", "not allowed", "forbidden", "unknown", "recogni", "unexpected", "instead",
		"only the default", "may only", "can only", "unset",
	}

	// measuring words say that another value would be taken.
	measuring = []string{
		"must be", "should be", "between", "range", "too ", "less than", "greater than", "more than",
		"at most", "at least", "maximum", "minimum", "exceed", ">", "<",
	}
)

// OfValue reports whether the complaint is about a value and not about its
// parameter. Leaving out what a user set wrongly would hide the mistake.
func (c Complaint) OfValue() bool {
	text := strings.ToLower(c.Text)
	return !has(text, refusing) && has(text, measuring)
}

func has(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
