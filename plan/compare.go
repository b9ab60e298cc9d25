package plan

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/maker-mdap/maker/vote"
)

// proseNames are the names of fields that hold prose if they are strings. They are
// published: docs/plans.md and the planner's prompt list them.
var proseNames = []string{
	"summary", "description", "explanation", "reason", "reasoning", "rationale", "justification",
	"note", "notes", "detail", "details", "comment", "comments", "remark", "remarks",
}

// ProseNames lists the names of string fields that are left out of the vote.
func ProseNames() []string { return slices.Clone(proseNames) }

// How the texts of a step's output are compared.
const (
	CompareExactly = "exact"
	CompareMeaning = "meaning" // prose by what it says; everything else to the letter
)

// Compared says what of the step's output voters have to agree on. It depends on the
// step alone and never on an answer: vote_on or ignore, if they are given (an empty ignore
// leaves nothing aside), and otherwise everything but [Aside], or everything if prose is compared by meaning. The run may have
// that for all steps.
func (s *Step) Compared(meaning bool) vote.KeyOptions {
	o := vote.KeyOptions{VoteOn: s.VoteOn, Ignore: s.Ignore}
	if _, ok := s.ByMeaning(meaning); len(o.VoteOn) == 0 && o.Ignore == nil && !ok {
		o.Ignore = Aside(s.OutputSchema)
	}
	return o
}

// ByMeaning reports whether something of the step's output is compared by meaning, and
// which paths: prose, or all strings if the step says so and its schema names no prose.
func (s *Step) ByMeaning(run bool) (paths []string, ok bool) {
	if s.Compare == CompareExactly || s.Compare == "" && !run {
		return nil, false
	}
	paths, _ = prose(s.OutputSchema)
	return paths, s.Compare == CompareMeaning || len(paths) > 0
}

// Aside lists the paths of the fields of an output schema that no two agents word
// alike, so that a vote leaves them out: those typed text or prose, and strings whose
// name is one of [ProseNames]. A field is a string if it is not said to be something
// else. Where nothing would be left to vote on it is empty: then everything counts.
func Aside(schema string) []string {
	paths, counts := prose(schema)
	if !counts {
		return nil
	}
	return paths
}

// prose lists the paths of prose in a schema, and reports whether there is anything else.
func prose(schema string) (paths []string, counts bool) {
	var walk func(f *schemaField, at string)
	walk = func(f *schemaField, at string) {
		if f.list && (at != "" || f.mapped) {
			at += "*."
		}
		for _, kid := range f.kids {
			path := at + kid.name
			switch {
			case kid.isProse():
				paths = append(paths, path)
			case len(kid.kids) > 0:
				walk(kid, path+".")
			default:
				counts = true
			}
		}
	}
	walk(readSchema(schema), "")
	return paths, counts
}

// OnlyField is the name of the field of an output schema that names just one.
func OnlyField(schema string) string {
	if root := readSchema(schema); len(root.kids) == 1 && !root.mapped {
		return root.kids[0].name
	}
	return ""
}

// A schemaField is a field that an output schema names, with what it says of it.
type schemaField struct {
	name   string
	text   string // what follows the name, in part
	list   bool   // there are several of it
	mapped bool   // and by a name
	kids   []*schemaField
}

var (
	textType = regexp.MustCompile(`(?i)^(?:an? )?(?:optional[ [<(]+)?(?:(?:list|array)(?: of |[[<(] ?))?(?:text|prose)s?(?: ?(?:$|[,;.()#?|"'\]}>–—-])| (?:of|in|about|that|which|with|for|describing)\b)`)

	// notString begins what a schema says of a field that is no string, and oneOfSome is
	// in what it says of one that is a string out of a few.
	notString = regexp.MustCompile(`(?i)^(?:an? )?(?:optional[ [<(]+)?(?:number|numeric|integer|int|float|double|decimal|boolean|bool|true|false|date|datetime|timestamp|time|duration|one[_ ]of|enum|list|array|sequence|set|object|mapping|map|dict|union|tuple|null|[0-9])`)
	manyOf    = regexp.MustCompile(`(?i)^(?:an? )?(?:list|array|sequence)\b`)
	mapOf     = regexp.MustCompile(`(?i)^(?:an? )?(?:map|mapping|dict|dictionary)\b`)
	oneOfSome = regexp.MustCompile(`(?i)["'\w] ?\| ?["'\w]|\bone[_ ]of\b|\benum\b`)
	orNull    = regexp.MustCompile(`(?i) ?\| ?(?:null|none|undefined)\b`)

	// What is in parentheses after a name: only whether it has to be there, or that it is
	// a string.
	qualifier = regexp.MustCompile(`(?i)^ ?(?:optional|required)? ?$`)
	isString  = regexp.MustCompile(`(?i)^ ?(?:(?:optional|required)[ ,]+)?(?:string|str|text|prose)\b`)
)

func (f *schemaField) isProse() bool {
	if len(f.kids) > 0 {
		return false
	}
	text := orNull.ReplaceAllString(strings.TrimLeft(strings.Join(strings.Fields(f.text), " "), `"' `), "")
	if textType.MatchString(text) {
		return true
	}
	return !f.list && slices.Contains(proseNames, strings.ToLower(f.name)) && !notString.MatchString(text) && !oneOfSome.MatchString(text)
}

// schemaName finds a name before a colon, which is not that of an address, with a mark
// that it is optional and its type in parentheses. Names in quotes may have spaces.
// schemaNames finds names in braces without a colon.
var (
	schemaName  = regexp.MustCompile("^(?:([\"'`]|[*][*])(" + anyName + "(?: +" + anyName + ")*)([\"'`]|[*][*])|(" + bareName + `))\??(?:[ \t]*\(([^()\n]*)\))?[ \t]*(:)(?:[^/]|$)`)
	schemaNames = regexp.MustCompile(`^\{\s*` + bareName + `\??(?:\s*,\s*` + bareName + `\??)*\s*,?\s*\}`)
)

const (
	anyName  = `[\pL\pM\pN_$-]+`
	bareName = `[\pL_$][\pL\pM\pN_$-]*`
)

// maxSchemaText is how much of what follows a name is looked at.
const maxSchemaText = 200

// readSchema reads an output schema in whatever notation: fields in braces or in
// lines, with commas or without, nested by brackets or by indentation, JSON or none.
// What it does not recognise is no field.
func readSchema(schema string) *schemaField {
	if n := len(schema); n > 1 && schema[0] == schema[n-1] && strings.IndexByte("'\"`", schema[0]) >= 0 {
		schema = schema[1 : n-1] // somebody put it in quotes once more
	}
	schema = orNullType.ReplaceAllString(schema, "$1$2$3")
	schema = orNullOther.ReplaceAllString(schema, "$1$2")
	root := &schemaField{}
	r := schemaReader{text: schema, lines: []schemaLine{{root, -1}}}
	for r.at < len(schema) {
		r.step()
	}
	root.settle()
	if mapOf.MatchString(strings.TrimSpace(schema)) && !r.titled {
		root.list, root.mapped = true, true
	}
	return root
}

type schemaReader struct {
	text   string
	at     int
	last   *schemaField   // that what follows is about
	open   []*schemaField // whose parts are in brackets, innermost last
	lines  []schemaLine   // fields in lines of their own, outermost first
	indent int            // of the line
	titled bool           // a name stands before the first bracket
}

// A schemaLine is a field whose parts may be in the lines after it, further in.
type schemaLine struct {
	field  *schemaField
	indent int
}

// parent is the field that a name belongs to.
func (r *schemaReader) parent() *schemaField {
	if n := len(r.open); n > 0 {
		return r.open[n-1]
	}
	return r.lines[len(r.lines)-1].field
}

// step reads a name, a bracket or a character.
func (r *schemaReader) step() {
	if len(r.open) == 0 && (r.at == 0 || r.text[r.at-1] == '\n') {
		if r.line(); r.at >= len(r.text) {
			return
		}
	}
	switch c := r.text[r.at]; c {
	case '{', '[':
		if c == '[' && r.generic() {
			return
		}
		of := r.parent()
		if r.last != nil {
			of = r.last
			text := strings.Trim(of.text, "\"' \t\r\n")
			of.list = of.list || c == '[' || manyOf.MatchString(text) || mapOf.MatchString(text)
		}
		r.open, r.last = append(r.open, of), nil
		if names := schemaNames.FindString(r.text[r.at:]); c == '{' && names != "" {
			for name := range strings.SplitSeq(strings.Trim(names, "{}"), ",") {
				if name = strings.TrimRight(strings.TrimSpace(name), "?"); name != "" {
					of.kids = append(of.kids, &schemaField{name: name})
				}
			}
			r.at += len(names) - 2 // the bracket closes next
		}
	case '}', ']':
		r.open, r.last = r.open[:max(len(r.open)-1, 0)], nil
	case '(': // what a type says about itself
		end := strings.IndexByte(r.text[r.at:], ')')
		if end < 0 {
			end = len(r.text) - r.at - 1
		}
		r.say(r.text[r.at : r.at+end+1])
		r.at += end
	default:
		r.at += r.word() - 1
	}
	r.at++
}

// word reads a name with its colon, what is in quotes, or a character, and returns how
// long it is.
func (r *schemaReader) word() int {
	rest := r.text[r.at:]
	if r.at == 0 || strings.IndexByte(" \t\r\n,;{[", r.text[r.at-1]) >= 0 {
		rest := rest[:min(len(rest), maxSchemaText)]
		if m := schemaName.FindStringSubmatchIndex(rest); m != nil {
			part := func(i int) string { return rest[max(m[2*i], 0):max(m[2*i+1], 0)] }
			if part(1) == part(3) {
				r.name(part(2) + part(4))
				switch of := part(5); {
				case qualifier.MatchString(of):
				case isString.MatchString(of):
					r.say(of + ", ")
				default:
					r.say("one_of " + of) // whatever it is
				}
				return m[2*6+1]
			}
		}
	}
	n := 1
	if rest[0] == '"' { // names in it are none
		if end := strings.IndexAny(rest[1:], "\"\n{"); end >= 0 && rest[1+end] == '"' {
			n = end + 2
		}
	}
	r.say(rest[:n])
	return n
}

// generic reads the brackets of a type such as Optional[str], and reports whether these
// are such.
func (r *schemaReader) generic() bool {
	if r.last == nil || strings.TrimRightFunc(r.last.text, unicode.IsLetter) == r.last.text {
		return false
	}
	for depth, i := 0, r.at; i < len(r.text) && strings.IndexByte("{}:\n", r.text[i]) < 0; i++ {
		switch r.text[i] {
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth == 0 {
			if i == r.at+1 { // there are several of it
				return false
			}
			r.say(r.text[r.at : i+1])
			r.at = i + 1
			return true
		}
	}
	return false
}

// line reads the indentation of a line, with the dashes of a list, and leaves the
// fields that it is no part of.
func (r *schemaReader) line() {
	start, dash := r.at, false
	for r.at < len(r.text) && (r.text[r.at] == ' ' || r.text[r.at] == '\t' || strings.HasPrefix(r.text[r.at:], "- ")) {
		dash = dash || r.text[r.at] == '-'
		r.at++
	}
	r.indent = r.at - start
	for len(r.lines) > 1 && r.lines[len(r.lines)-1].indent >= r.indent {
		r.lines = r.lines[:len(r.lines)-1]
	}
	if dash {
		r.parent().list = true
	}
}

func (r *schemaReader) name(name string) {
	of := r.parent()
	r.titled = r.titled || len(r.open) == 0
	r.last = &schemaField{name: name}
	if len(r.open) == 0 {
		for top := len(r.lines) - 1; top > 0 && r.lines[top].indent >= r.indent; top-- { // it stands in the same line
			r.lines = r.lines[:top]
		}
		of = r.parent()
		r.lines = append(r.lines, schemaLine{r.last, r.indent})
	}
	of.kids = append(of.kids, r.last)
}

func (r *schemaReader) say(text string) {
	if r.last != nil && len(r.last.text) < maxSchemaText {
		r.last.text += text
	}
}

// part is the part of a field that has a name.
func (f *schemaField) part(name string) *schemaField {
	for _, kid := range f.kids {
		if kid.name == name {
			return kid
		}
	}
	return nil
}

// What a JSON Schema says of a value, and which types it knows. Text and prose are ours.
var (
	schemaWords = []string{
		"$id", "$schema", "type", "title", "description", "properties", "required", "additionalProperties", "items",
		"enum", "const", "format", "pattern", "default", "example", "examples", "nullable", "minLength", "maxLength",
		"minimum", "maximum", "minItems", "maxItems", "uniqueItems",
	}
	schemaTypes = []string{"string", "number", "integer", "boolean", "array", "object", "null", "text", "prose"}
)

// What a JSON Schema says of a value that may also be null: type: [string, null], or
// anyOf: [{type: string}, {type: null}].
var (
	orNullType  = regexp.MustCompile(`(["']?\btype["']?\s*:\s*)\[\s*(?:(["']?\w+["']?)\s*,\s*["']?null["']?|["']?null["']?\s*,\s*(["']?\w+["']?))\s*\]`)
	orNullOther = regexp.MustCompile(`["']?\b(?:anyOf|oneOf)["']?\s*:\s*\[\s*(?:\{([^{}]*)\}\s*,\s*` + nullSchema + `|` + nullSchema + `\s*,\s*\{([^{}]*)\})\s*\]`)
)

const nullSchema = `\{\s*["']?type["']?\s*:\s*["']?null["']?\s*\}`

// schemaType is the type that a field has if it is described as JSON Schemas do, with
// all its parts.
func (f *schemaField) schemaType() string {
	of, properties, items := f.part("type"), f.part("properties"), f.part("items")
	if of == nil && properties != nil && len(properties.kids) > 0 {
		of = &schemaField{text: "object"}
	}
	if of == nil || len(of.kids) > 0 || slices.ContainsFunc(f.kids, func(kid *schemaField) bool { return !slices.Contains(schemaWords, kid.name) }) {
		return ""
	}
	name := strings.Trim(of.text, "\"' ,;\t\r\n")
	switch {
	case !slices.Contains(schemaTypes, name),
		properties != nil && (name != "object" || properties.list || slices.ContainsFunc(properties.kids, func(kid *schemaField) bool { return kid.schemaType() == "" })),
		items != nil && (name != "array" || items.list || items.schemaType() == ""):
		return ""
	}
	return name
}

// settle turns fields that are described by a JSON Schema into what it describes. Those
// of our own may be called type, items or description as well, so it has to be a whole
// one, with properties or items that are JSON Schemas too.
func (f *schemaField) settle() {
	if (f.part("properties") != nil || f.part("items") != nil) && f.schemaType() != "" {
		f.describe()
		return
	}
	for _, kid := range f.kids {
		kid.settle()
	}
}

// describe makes a field what its JSON Schema says.
func (f *schemaField) describe() {
	properties, items := f.part("properties"), f.part("items")
	if f.text = f.schemaType(); f.part("enum") != nil || f.part("const") != nil {
		f.text = "one_of"
	}
	f.list, f.kids = f.text == "array", nil
	switch {
	case properties != nil:
		f.kids = properties.kids
		for _, kid := range f.kids {
			kid.describe()
		}
	case items != nil:
		items.describe()
		f.text, f.kids = items.text, items.kids
	}
}
