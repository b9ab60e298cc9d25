package yamlclean

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/maker-mdap/maker/internal/text/clip"
)

// The bounds of a text. They are far above what plans and answers need and low
// enough that no text takes long, whatever is done with its tree.
const (
	// MaxSize is the most bytes a text may have. A plan of 500 steps of a
	// kilobyte each is half of it.
	MaxSize = 1 << 20

	// MaxDepth is how deep collections may be nested.
	MaxDepth = 100

	// MaxKeys is how many keys one mapping may have. The library compares every
	// key with every other one when it decodes into a Go value, which at this
	// number takes some hundredths of a second.
	MaxKeys = 4096
)

// A ParseError says where a text is not YAML that this package reads, and why.
type ParseError struct {
	Line    int // from 1
	Column  int // from 1, in characters; 0 if only the line is known
	Message string

	refers int // a line that the message names, 0 if it names none
}

func (e *ParseError) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Message)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

func newError(line, column int, format string, args ...any) *ParseError {
	return &ParseError{Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
}

// nodeError returns an error at a node.
func nodeError(n *yaml.Node, format string, args ...any) *ParseError {
	return newError(n.Line, n.Column, format, args...)
}

// duplicate returns the error for a key that is in its mapping already.
func duplicate(key *yaml.Node, line int) *ParseError {
	err := nodeError(key, "the key %q is already on line %d; remove one of them", clip.Short(key.Value), line)
	err.refers = line
	return err
}

// in returns an error of a part of a text as one of the whole text, of which this
// many lines are before the part, and columns before its lines.
func (e *ParseError) in(lines, columns int) *ParseError {
	whole := &ParseError{Line: e.Line + lines, Message: e.Message}
	if e.Column > 0 {
		whole.Column = e.Column + columns
	}
	if e.refers > 0 {
		whole.refers = e.refers + lines
		whole.Message = strings.Replace(e.Message, fmt.Sprintf("on line %d;", e.refers), fmt.Sprintf("on line %d;", whole.refers), 1)
	}
	return whole
}

// Load parses one YAML document safely and returns the root of its content.
//
// The tree has no aliases and anchors. The tag of a scalar is one of !!null,
// !!bool, !!int, !!float and !!str, by the rules of the package; keys are scalars
// with the tag !!str and occur once in their mapping.
//
// An error is a [*ParseError].
func Load(text string) (*yaml.Node, error) {
	root, p := load(text)
	if p != nil {
		return nil, p.locate()
	}
	return root, nil
}

func load(text string) (*yaml.Node, *problem) {
	if err := checkText(text); err != nil {
		return nil, &problem{exact: err}
	}
	// JSON has its own reader: YAML is nearly a superset of it, but not in
	// escapes of characters beyond the first plane, in control characters, in
	// long keys, and in what ends a line.
	root, err := loadJSON(text)
	if err != nil {
		return nil, &problem{exact: err}
	}
	if root != nil {
		return root, nil
	}
	if err := checkCharacters(text); err != nil {
		return nil, &problem{exact: err}
	}
	text = unifyBreaks(text)
	root, p := parse(text)
	if p != nil {
		return nil, p
	}
	if err := resolve(text, root); err != nil {
		return nil, &problem{exact: err}
	}
	return root, nil
}

// checkText finds what neither JSON nor YAML may contain.
func checkText(text string) *ParseError {
	if len(text) > MaxSize {
		return newError(1, 1, "the text has %d bytes, more than the %d that are read; split it", len(text), MaxSize)
	}
	if !utf8.ValidString(text) {
		for i, r := range text {
			if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") {
				return at(text, i, "this is not UTF-8; save the text as UTF-8")
			}
		}
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		return at(text, i, "a NUL character is not text; remove it")
	}
	return nil
}

// checkCharacters finds characters that YAML refuses, or that some readers of
// YAML take for line breaks and others for text.
func checkCharacters(text string) *ParseError {
	for i, r := range text {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || ' ' <= r && r <= '~':
		case r < ' ' || 0x7F <= r && r < 0xA0 && r != 0x85:
			return at(text, i, fmt.Sprintf("the control character %U is not text; remove it, or write it as an escape in double quotes", r))
		case r == 0x85 || r == 0x2028 || r == 0x2029:
			return at(text, i, fmt.Sprintf("the character %U may or may not end a line; write it as an escape in double quotes", r))
		case r == 0xFEFF && i > 0:
			return at(text, i, "a byte order mark within the text; remove it")
		case r == 0xFFFE || r == 0xFFFF:
			return at(text, i, fmt.Sprintf("%U is not a character; remove it", r))
		}
	}
	return nil
}

// at returns an error at a byte of a text.
func at(text string, offset int, message string) *ParseError {
	line, column := position(text, offset)
	return &ParseError{Line: line, Column: column, Message: message}
}

// position returns the line and column of a byte of a text.
func position(text string, offset int) (line, column int) {
	line, start := 1, 0
	for i := 0; i < offset; i++ {
		if text[i] == '\n' || text[i] == '\r' && !strings.HasPrefix(text[i+1:], "\n") {
			line, start = line+1, i+1
		}
	}
	return line, utf8.RuneCountInString(text[start:offset]) + 1
}

func unifyBreaks(text string) string {
	text = strings.TrimPrefix(text, "\uFEFF")
	if !strings.Contains(text, "\r") {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.ReplaceAll(text, "\r", "\n")
}

const nothingHere = "there is nothing here but blank lines and comments; write a value"

// parse has the library parse a text with one document. It returns the content
// of the document as it is written.
func parse(text string) (*yaml.Node, *problem) {
	if strings.TrimSpace(text) == "" {
		return nil, &problem{exact: newError(1, 1, nothingHere)} // also if there are tabs
	}
	root, second, err := parseAll(strings.NewReader(text))
	switch {
	case err != nil:
		return nil, newProblem(text, err)
	case root == nil:
		return nil, &problem{exact: newError(1, 1, nothingHere)}
	case second != nil:
		return nil, &problem{exact: nodeError(second, "a second document begins here; only one is read")}
	}
	return root, nil
}

// parseAll returns the content of the first document, and the second document.
func parseAll(r io.Reader) (root, second *yaml.Node, err error) {
	// The library reports its own mistakes by panicking. A text is no reason to
	// end the program.
	defer func() {
		if r := recover(); r != nil {
			root, second, err = nil, nil, fmt.Errorf("the YAML library cannot read this text: %v", r)
		}
	}()
	d := yaml.NewDecoder(r)
	var documents [2]yaml.Node
	for i := range documents {
		if err := d.Decode(&documents[i]); err != nil {
			if errors.Is(err, io.EOF) {
				break
			}
			return nil, nil, err
		}
	}
	if len(documents[0].Content) > 0 {
		root = documents[0].Content[0]
	}
	if documents[1].Kind != 0 {
		second = &documents[1]
	}
	return root, second, nil
}
