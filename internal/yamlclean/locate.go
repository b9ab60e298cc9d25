package yamlclean

import (
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A problem is why a text cannot be loaded. What the library refuses has no exact
// place yet: finding it is work that only an error for a person is worth.
type problem struct {
	exact  *ParseError
	parsed bool // the syntax is right, what it says is not

	text    string
	message string // of the library
	line    int    // of the library: 0, or perhaps the first one of a whole block
}

func newProblem(text string, err error) *problem {
	message, line := cutLine(err)
	return &problem{text: text, message: message, line: line}
}

// end returns the byte that the library read last before it gave up.
func (p *problem) end() int {
	r := &byteReader{text: p.text}
	_, _, _ = parseAll(r) // it fails as it did before
	return max(r.read-1, 0)
}

// lastLine returns the line that the library read last before it gave up, or that
// of the exact place, from 1.
func (p *problem) lastLine() int {
	switch {
	case p.exact != nil:
		return p.exact.Line
	case p.message == unclosedQuote:
		return min(max(p.line, 1), strings.Count(p.text, "\n")+1)
	}
	return strings.Count(p.text[:p.end()], "\n") + 1
}

// cutLine takes the line out of an error of the library.
func cutLine(err error) (message string, line int) {
	message = strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		if number, after, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				return after, n
			}
		}
	}
	return message, 0
}

// A byteReader hands out a text byte by byte, so that what was asked for is what
// was needed.
type byteReader struct {
	text string
	read int
}

func (r *byteReader) Read(p []byte) (int, error) {
	if r.read == len(r.text) || len(p) == 0 {
		return 0, io.EOF
	}
	p[0] = r.text[r.read]
	r.read++
	return 1, nil
}

// maxLocate is the length of a text up to which the exact place of an error is
// looked for, by parsing the text some ten times.
const maxLocate = MaxSize / 4

// locate returns the problem as an error with its place.
//
// The library reads ahead of what it complains about, to the next line or a few
// of them. The place is where the shortest beginning of the text ends that has
// the same problem.
func (p *problem) locate() *ParseError {
	if p.exact != nil {
		return p.exact
	}
	end := p.end()
	if end > maxLocate {
		return at(p.text, end, explain(p.message))
	}
	start := strings.LastIndexByte(p.text[:end], '\n') + 1
	if p.message == unclosedQuote {
		// The line is that of the opening quote, but for the first one.
		start, end = 0, lineEnd(p.text, 0)
		if p.line > 1 && !p.fails(end) {
			start = lineStart(p.text, p.line)
			end = lineEnd(p.text, start)
		}
		return at(p.text, p.openingQuote(start, end), explain(p.message))
	}
	const most = 4
	for range most {
		if start == 0 || !p.fails(start-1) {
			break
		}
		end = start - 1
		start = strings.LastIndexByte(p.text[:end], '\n') + 1
	}
	return at(p.text, p.bisect(start, end), explain(p.message))
}

// openingQuote returns the last quote of a line with which the problem begins.
func (p *problem) openingQuote(start, end int) int {
	const most = 100
	at := end
	for range most {
		i := strings.LastIndexAny(p.text[start:at], `"'`)
		if i < 0 {
			break
		}
		if at = start + i; !p.fails(at) {
			return at
		}
	}
	return start
}

// bisect returns the last byte of the shortest beginning of the text that has the
// problem. The one that ends at start does not have it, the one at end does.
func (p *problem) bisect(start, end int) int {
	good, bad := start, end
	for bad-good > 1 {
		if middle := (good + bad) / 2; p.fails(middle) {
			bad = middle
		} else {
			good = middle
		}
	}
	for good > start && !utf8.RuneStart(p.text[good]) {
		good--
	}
	return good
}

// fails reports whether the text up to a byte has the same problem. (In a flow
// collection it may have it sooner than the text, as all of them must be closed.)
func (p *problem) fails(end int) bool {
	_, _, err := parseAll(strings.NewReader(p.text[:end]))
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

// lineStart returns the first byte of a line, counted from 1.
func lineStart(text string, line int) int {
	start := 0
	for ; line > 1; line-- {
		next := strings.IndexByte(text[start:], '\n')
		if next < 0 {
			break
		}
		start += next + 1
	}
	return start
}

// lineEnd returns the byte after the line that a byte is on.
func lineEnd(text string, from int) int {
	if n := strings.IndexByte(text[from:], '\n'); n >= 0 {
		return from + n
	}
	return len(text)
}

const unclosedQuote = "found unexpected end of stream"

// explain turns a message of the library into one that says what to do.
func explain(message string) string {
	switch message {
	case unclosedQuote:
		return "this quote is never closed; close it"
	case "mapping values are not allowed in this context":
		return `a colon within a value, or a line that is indented too far; put the value in quotes, or correct the indentation`
	case "did not find expected key":
		return "the next key of the mapping is expected here; check indentation and quotes here and on the line before"
	case "did not find expected '-' indicator":
		return `the next "- " of the list is expected here; check the indentation`
	case "could not find expected ':'":
		return `a line without a key; write "key: value", or indent it as part of the text above`
	case "found character that cannot start any token":
		return "a value cannot begin with this character; put it in quotes, and indent with spaces instead of tabs"
	case "did not find expected ',' or ']'":
		return "a list in brackets goes wrong here; write a comma, close it with ], or put text in quotes"
	case "did not find expected ',' or '}'":
		return "a mapping in braces goes wrong here; write a comma, close it with }, or put text in quotes"
	case "found unknown escape character", "did not find expected hexdecimal number", "found invalid Unicode character escape code":
		return "double quotes do not know this escape; double the backslash, or use single quotes"
	case "did not find expected <document start>":
		return "the value ends before this; remove what follows, or put it all in quotes"
	case "did not find expected comment or line break":
		return "the text after | or > begins on the next line; move it there, or put it in quotes"
	case "did not find expected alphabetic or numeric character":
		return "a name is expected after & or *; put the value in quotes if this is text"
	case "block sequence entries are not allowed in this context":
		return `a list cannot begin here; put each "- " on a line of its own`
	case "did not find expected node content":
		return "a value is missing here"
	case "found a tab character where an indentation space is expected", "found a tab character that violates indentation":
		return "this line is indented with a tab; use spaces"
	}
	if name, ok := strings.CutPrefix(message, "unknown anchor '"); ok {
		name, _, _ = strings.Cut(name, "'")
		return noAliases(name)
	}
	if strings.HasPrefix(message, "exceeded max depth") {
		return "the nesting is deeper than " + strconv.Itoa(MaxDepth) + "; write it flatter"
	}
	return message
}
