package yamlclean

import (
	"io"
	"regexp"
	"strconv"
	"strings"
)

// A problem is why a text cannot be loaded. What the library refuses has no exact
// place yet: it names the line on which a whole block begins, or none.
type problem struct {
	exact *ParseError

	text    string
	message string // of the library
	line    int    // of the library, 0 if it names none
}

func newProblem(text string, err error) *problem {
	message, line := cutLine(err)
	return &problem{text: text, message: message, line: line}
}

var libraryError = regexp.MustCompile(`(?s)^(?:yaml: )?(?:line (\d+): )?(.*)`)

// cutLine takes the line out of an error of the library, 0 if it names none.
func cutLine(err error) (message string, line int) {
	m := libraryError.FindStringSubmatch(err.Error())
	line, _ = strconv.Atoi(m[1])
	return m[2], line
}

// lastLine returns the line that the library read last before it gave up, or that
// of the exact place, from 1. The library is given the text byte by byte, so that what
// it asked for is what it needed.
func (p *problem) lastLine() int {
	switch {
	case p.exact != nil:
		return p.exact.Line
	case p.message == unclosedQuote:
		return min(max(p.line, 1), strings.Count(p.text, "\n")+1)
	}
	rest := strings.NewReader(p.text)
	_, _, _ = parseAll(oneByte{rest}) // it fails as it did before
	end := max(len(p.text)-rest.Len()-1, 0)
	return strings.Count(p.text[:end], "\n") + 1
}

type oneByte struct{ io.Reader }

func (r oneByte) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 1)]) }

// locate returns the problem as an error with its place.
//
// The library reads ahead of what it complains about, to the next line or a few
// of them. The line is the last of the shortest beginning of the text that has the
// same problem.
func (p *problem) locate() *ParseError {
	if p.exact != nil {
		return p.exact
	}
	const most = 4
	line := p.lastLine()
	for n := 0; n < most && line > 1 && p.fails(line-1); n++ {
		line--
	}
	if at := fenceBefore(p.text, line); at > 0 {
		return &ParseError{Line: at, Message: "this line is the fence of a code block and not YAML; remove the fences, or take out what is between them with maker yaml"}
	}
	return &ParseError{Line: line, Message: explain(p.message)}
}

// fenceBefore returns the first of so many lines of a text that is a fence, 0 if there is
// none. What is indented may be in a text, unless it is what cannot be read.
func fenceBefore(text string, last int) int {
	n := 0
	for line := range strings.Lines(text) {
		if n++; n > last {
			break
		}
		if f, _, ok := openingFence(strings.TrimRight(line, "\n")); ok && (f.indent == 0 || n == last) {
			return n
		}
	}
	return 0
}

// fails reports whether the first lines of the text have the same problem. (In a
// flow collection they may have it sooner than the text, as all of them must be closed.)
func (p *problem) fails(lines int) bool {
	beginning := strings.Join(strings.SplitAfterN(p.text, "\n", lines+1)[:lines], "")
	_, _, err := parseAll(strings.NewReader(beginning))
	if err == nil {
		return false
	}
	message, _ := cutLine(err)
	return kindOf(message) == kindOf(p.message)
}

// kindOf returns a message without the name that it quotes.
func kindOf(message string) string {
	kind, _, _ := strings.Cut(message, " '")
	return kind
}

const unclosedQuote = "found unexpected end of stream"

// explanations say what to do about what the library complains about.
var explanations = map[string]string{
	unclosedQuote: "this quote is never closed; close it",
	"mapping values are not allowed in this context":               "a colon within a value, or a line that is indented too far; put the value in quotes, or correct the indentation",
	"did not find expected key":                                    "the next key of the mapping is expected here; check indentation and quotes here and on the line before",
	"did not find expected '-' indicator":                          `the next "- " of the list is expected here; check the indentation`,
	"could not find expected ':'":                                  `a line without a key; write "key: value", or indent it as part of the text above`,
	"found character that cannot start any token":                  "a value cannot begin with this character; put it in quotes, and indent with spaces instead of tabs",
	"did not find expected ',' or ']'":                             "a list in brackets goes wrong here; write a comma, close it with ], or put text in quotes",
	"did not find expected ',' or '}'":                             "a mapping in braces goes wrong here; write a comma, close it with }, or put text in quotes",
	"found unknown escape character":                               badEscape,
	"did not find expected hexdecimal number":                      badEscape,
	"found invalid Unicode character escape code":                  badEscape,
	"did not find expected <document start>":                       "the value ends before this; remove what follows, or put it all in quotes",
	"did not find expected comment or line break":                  "the text after | or > begins on the next line; move it there, or put it in quotes",
	"did not find expected alphabetic or numeric character":        "a name is expected after & or *; put the value in quotes if this is text",
	"block sequence entries are not allowed in this context":       `a list cannot begin here; put each "- " on a line of its own`,
	"did not find expected node content":                           "a value is missing here",
	"found a tab character where an indentation space is expected": useSpaces,
	"found a tab character that violates indentation":              useSpaces,
}

const (
	badEscape = "double quotes do not know this escape; double the backslash, or use single quotes"
	useSpaces = "this line is indented with a tab; use spaces"
)

// explain turns a message of the library into one that says what to do.
func explain(message string) string {
	if name, ok := strings.CutPrefix(message, "unknown anchor '"); ok {
		name, _, _ = strings.Cut(name, "'")
		return noAliases(name)
	}
	if strings.HasPrefix(message, "exceeded max depth") {
		return tooDeep
	}
	if known, ok := explanations[message]; ok {
		return known
	}
	return message
}
