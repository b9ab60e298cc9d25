package tasks

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// normalise gives every text the same form: valid UTF-8, lines that end in \n,
// no byte order mark, and no indentation that all lines share.
func normalise(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.TrimPrefix(text, "\uFEFF")
	return lineEnds.Replace(text)
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")

// A line of the text.
type line struct {
	number int    // from 1
	indent int    // in columns
	text   string // without the space around it
}

func (l *line) blank() bool { return l.text == "" }

// linesOf returns the lines of a text, and the same as they are written, both without
// the indentation that all of them share.
func linesOf(text string) (lines []line, raw []string) {
	raw = strings.Split(text, "\n")
	lines = make([]line, len(raw))
	least := -1
	for i, s := range raw {
		trimmed := strings.TrimLeftFunc(s, isBlank)
		l := line{number: i + 1, indent: columns(s[:len(s)-len(trimmed)]), text: strings.TrimRightFunc(trimmed, isBlank)}
		if !l.blank() && (least < 0 || l.indent < least) {
			least = l.indent
		}
		lines[i] = l
	}
	if least > 0 {
		for i := range lines {
			lines[i].indent = max(0, lines[i].indent-least)
			raw[i] = outdent(raw[i], least)
		}
	}
	return lines, raw
}

// isBlank is true of space and of marks that cannot be seen.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || r == '\uFEFF' || '\u200B' <= r && r <= '\u200F' || '\u202A' <= r && r <= '\u202E' || '\u2066' <= r && r <= '\u2069'
}

const tabWidth = 4

// columns is the width of space.
func columns(space string) int {
	n := 0
	for _, r := range space {
		switch {
		case r == '\t':
			n += tabWidth - n%tabWidth
		case r == '\u3000':
			n += 2
		case unicode.IsSpace(r):
			n++
		}
	}
	return n
}

// outdent takes up to n columns of space from the start of a line.
func outdent(s string, n int) string {
	for n > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if s == "" || !isBlank(r) {
			break
		}
		n -= columns(s[:size])
		s = s[size:]
	}
	return s
}

// blockKind is what a block of lines is.
type blockKind byte

const (
	paragraph blockKind = iota
	item
	heading
	prompt   // a line "$ command"
	verbatim // code, a quotation, a table: not looked into
)

// A block is lines that belong together.
type block struct {
	kind   blockKind
	line   int // of its beginning
	indent int
	rows   []string // its lines, trimmed unless it is verbatim

	level  int    // of a heading
	marker marker // of an item
	shell  bool   // a fence with commands for a shell
	apart  bool   // a blank line is before it
}

func (b *block) text() string { return strings.Join(b.rows, "\n") }

// done reports whether an item is marked as done. A box is that of one item: with the
// next number on its line ("1. [x] Build it. 2. Test it") it is not.
func (b *block) done() bool {
	text := strings.TrimSpace(b.text())
	if b.marker.box != doneBox || len(b.marker.ordinal) != 1 {
		return b.marker.box == doneBox || isStruck(text)
	}
	next := strconv.Itoa(b.marker.ordinal[0] + 1)
	words := strings.Fields(text)
	return !slices.ContainsFunc(words[:max(0, len(words)-1)], func(word string) bool {
		return word != next && strings.Trim(word, "().:") == next
	})
}

// owns reports whether the text shows that an item is part of b, and not only by a
// guess at their ranks: what is taken for part of something done is never done.
func (b *block) owns(other *block) bool {
	if other.indent >= b.indent+2 {
		return true
	}
	parent, child := &b.marker, &other.marker
	if parent.style.family() != child.style.family() || child.depth <= parent.depth {
		return false
	}
	n := len(parent.ordinal)
	return n <= len(child.ordinal) && slices.Equal(child.ordinal[:n], parent.ordinal)
}

func (b *block) lastRow() string {
	if len(b.rows) == 0 {
		return ""
	}
	return b.rows[len(b.rows)-1]
}

// reader turns lines into blocks.
type reader struct {
	lines   []line
	raw     []string // the lines as written
	blocks  []block
	dropped []string // marks that are part of no block's text

	open       bool  // the last block may go on
	apart      bool  // the last line was blank
	lastNumber []int // the ordinal of the last item that has one

	lastDone *block // the last item that is marked as done
	inDone   bool   // the last item is that one, or part of it
}

func readBlocks(text string) ([]block, []string) {
	r := &reader{}
	r.lines, r.raw = linesOf(text)
	for i := 0; i < len(r.lines); {
		i += r.read(i)
	}
	return r.blocks, r.dropped
}

// read reads what begins at line i and returns how many lines it took.
func (r *reader) read(i int) int {
	l := &r.lines[i]
	if l.blank() {
		r.open, r.apart = false, true
		return 1
	}
	if n := r.fence(i); n > 0 {
		return n
	}
	if r.heading(l) || r.ruler(l) {
		return 1
	}
	if n := r.aside(i); n > 0 {
		return n
	}
	if strings.HasPrefix(l.text, promptMark) && !unicode.IsDigit(firstRune(strings.TrimLeft(l.text[len(promptMark):], " "))) {
		return r.prompt(i)
	}
	if r.item(i) {
		return 1
	}
	if n := r.indentedCode(i); n > 0 {
		return n
	}
	r.prose(l)
	return 1
}

func (r *reader) last() *block {
	if len(r.blocks) == 0 {
		return nil
	}
	return &r.blocks[len(r.blocks)-1]
}

func (r *reader) add(b block) {
	b.apart = r.apart
	r.blocks = append(r.blocks, b)
	r.apart = false
	r.open = b.kind == paragraph || b.kind == item
	if b.kind == heading || b.kind == paragraph && b.indent == 0 {
		r.lastNumber = nil
	}
}

func (r *reader) drop(mark string) { r.dropped = append(r.dropped, mark) }

// lastItem is the item that a block with this indentation is part of, if any.
func (r *reader) lastItem(indent int) *block {
	for i := len(r.blocks) - 1; i >= 0; i-- {
		switch b := &r.blocks[i]; {
		case b.kind == item:
			if indent > b.indent {
				return b
			}
		case b.kind == heading, b.kind == paragraph && b.indent == 0:
			return nil
		}
	}
	return nil
}

// fences open a block of code; what follows one says in which language.
var fences = regexp.MustCompile("^(`{3,}|~{3,})(.*)$")

// fenceAt reads the fence that opens at the first line, if one does: what stands after
// it, how many lines it takes, and whether it is closed.
func fenceAt(lines []string) (info string, size int, closed bool) {
	open := fences.FindStringSubmatch(strings.TrimFunc(lines[0], isBlank))
	if open == nil || open[1][0] == '`' && strings.Contains(open[2], "`") {
		return "", 0, false
	}
	fence, info := open[1], strings.TrimSpace(open[2])
	for i, l := range lines[1:] {
		if l = strings.TrimFunc(l, isBlank); len(l) >= len(fence) && strings.Trim(l, fence[:1]) == "" {
			return info, i + 2, true
		}
	}
	return info, len(lines), false
}

func (r *reader) fence(i int) int {
	info, n, closed := fenceAt(r.raw[i:])
	if n == 0 {
		return 0
	}
	l := &r.lines[i]
	rows := []string{l.text}
	for _, raw := range r.raw[i+1 : i+n] {
		rows = append(rows, outdent(raw, l.indent))
	}
	if closed {
		rows[n-1] = r.lines[i+n-1].text
	}
	r.add(block{kind: verbatim, line: l.number, indent: l.indent, rows: rows, shell: isShell(info)})
	return n
}

// isShell reports whether the word after a fence says that a shell reads it.
func isShell(info string) bool {
	lang, _, _ := strings.Cut(strings.ToLower(info), " ")
	return shells.has(strings.Trim(lang, "{}."))
}

func (r *reader) heading(l *line) bool {
	rest := strings.TrimLeft(l.text, "#")
	if level := len(l.text) - len(rest); level >= 1 && level <= 6 && rest != "" && unicode.IsSpace(firstRune(rest)) {
		title := strings.TrimSpace(rest)
		if bare := strings.TrimRight(title, "#"); bare == "" || unicode.IsSpace(lastRune(bare)) {
			r.drop(title[len(bare):])
			title = strings.TrimSpace(bare)
		}
		r.drop(l.text[:level])
		if title != "" {
			r.add(block{kind: heading, line: l.number, level: level, rows: []string{title}})
		}
		return true
	}
	// A line underlined with === or --- is a heading too.
	b := r.last()
	if r.open && b.kind == paragraph && len(b.rows) == 1 && len(l.text) >= 3 && !strings.ContainsRune(sentenceEnds+",;:", lastRune(b.rows[0])) {
		for level, mark := range []string{"=", "-"} {
			if strings.Trim(l.text, mark) == "" {
				b.kind, b.level = heading, level+1
				r.open = false
				r.lastNumber = nil
				r.drop(l.text)
				return true
			}
		}
	}
	return false
}

// ruler drops a line that only separates.
func (r *reader) ruler(l *line) bool {
	bare := strings.Join(strings.Fields(l.text), "")
	if len(bare) < 3 || strings.Trim(bare, bare[:1]) != "" || !strings.Contains("-*_=", bare[:1]) {
		return false
	}
	r.drop(l.text)
	r.open, r.apart = false, true
	return true
}

// aside reads a quotation, a table or the definition of a link.
func (r *reader) aside(i int) int {
	mark := asideMark(r.lines[i].text)
	if mark == "" {
		return 0
	}
	l := &r.lines[i]
	rows := []string{l.text}
	n := 1
	for i+n < len(r.lines) && asideMark(r.lines[i+n].text) == mark {
		rows = append(rows, r.lines[i+n].text)
		n++
	}
	r.add(block{kind: verbatim, line: l.number, indent: l.indent, rows: rows})
	return n
}

// asideMark says what sort of text a line is that belongs to what is before it.
func asideMark(text string) string {
	switch {
	case strings.HasPrefix(text, ">"):
		return ">"
	case strings.HasPrefix(text, "|"):
		return "|"
	case strings.HasPrefix(text, "["):
		label, rest, ok := strings.Cut(text, "]:")
		if ok && len(label) > 1 && label != "[ " && len(strings.Fields(rest)) >= 1 && strings.Contains(rest, "/") && !strings.Contains(label, "]") {
			return "["
		}
	}
	return ""
}

const promptMark = "$ "

// prompt reads a command after a prompt. It goes on as long as its lines end in
// a backslash.
func (r *reader) prompt(i int) int {
	l := &r.lines[i]
	rows := []string{l.text}
	n := 1
	for i+n < len(r.lines) && strings.HasSuffix(rows[n-1], `\`) {
		rows = append(rows, strings.TrimRightFunc(outdent(r.raw[i+n], l.indent), isBlank))
		n++
	}
	r.add(block{kind: prompt, line: l.number, indent: l.indent, rows: rows})
	return n
}

func (r *reader) item(i int) bool {
	l := &r.lines[i]
	m, ok := readMarker(l.text)
	if !ok || !r.accepts(m) {
		return false
	}
	if m.style.ordered() {
		r.lastNumber = m.ordinal
	}
	r.drop(l.text[:m.size])
	b := block{kind: item, line: l.number, indent: l.indent, rows: []string{strings.TrimSpace(l.text[m.size:])}, marker: m}
	if r.inDone = b.done(); r.inDone {
		r.lastDone = &b
	} else if r.lastDone != nil && m.box == noBox {
		r.inDone = r.lastDone.owns(&b)
	}
	r.add(b)
	return true
}

// accepts reports whether a mark is one where it stands: a number in the middle
// of wrapped prose is none.
func (r *reader) accepts(m marker) bool {
	b := r.last()
	fresh := !r.open || b.kind == item || strings.HasSuffix(b.lastRow(), ":")
	if slices.Max(append(m.ordinal, 0)) > maxFirst {
		return follows(m.ordinal, r.lastNumber)
	}
	switch m.style {
	case bullet:
		return true
	case weakBullet:
		return fresh
	case bareNumber:
		return follows(m.ordinal, r.lastNumber)
	default:
		return fresh || m.ordinal[len(m.ordinal)-1] <= 1 || follows(m.ordinal, r.lastNumber)
	}
}

// indentedCode reads a block that is set off by a blank line and four columns.
func (r *reader) indentedCode(i int) int {
	const depth = 4
	l := &r.lines[i]
	if r.open || !r.apart || len(r.blocks) == 0 || l.indent < depth {
		return 0
	}
	base := 0
	if b := r.lastItem(l.indent); b != nil {
		base = b.indent + b.marker.size
	}
	if l.indent < base+depth {
		return 0
	}
	n, end := 0, 0
	rows := []string{""} // a blank line sets it off
	for i+n < len(r.lines) && (r.lines[i+n].blank() || r.lines[i+n].indent >= base+depth) {
		rows = append(rows, strings.TrimRightFunc(outdent(r.raw[i+n], base), unicode.IsSpace))
		n++
		if !r.lines[i+n-1].blank() {
			end = n
		}
	}
	r.add(block{kind: verbatim, line: l.number, indent: l.indent, rows: rows[:end+1]})
	return end
}

// wrapWidth is the length from which a line is taken to be wrapped.
const wrapWidth = 60

// listed is how the items of lists begin whose marks are none here: a) ii. 三、
var listed = regexp.MustCompile(`^[(（]?[\p{L}\p{N}]{1,4}(?:[).]\s|[）、．])`)

func (r *reader) prose(l *line) {
	if r.open {
		b := r.last()
		wrapped := utf8.RuneCountInString(b.lastRow()) >= wrapWidth
		first := firstRune(l.text)
		goesOn := l.indent > b.indent || wrapped || !unicode.IsLetter(first) || unicode.IsLower(first)
		if b.kind == item && (b.done() || r.inDone) && l.indent <= b.indent {
			// What is taken for its text is never done, so that has to be plain.
			ended := strings.ContainsRune(sentenceEnds, lastRune(b.lastRow()))
			goesOn = !ended && !listed.MatchString(l.text) && (wrapped || unicode.IsLower(first))
		}
		if b.kind == paragraph || goesOn {
			b.rows = append(b.rows, l.text)
			return
		}
	}
	r.add(block{kind: paragraph, line: l.number, indent: l.indent, rows: []string{l.text}})
}
