package tasks

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/maker-mdap/maker/internal/text/clip"
)

// AttachmentKind is what an attachment refers to.
type AttachmentKind string

// The kinds of attachments.
const (
	URL   AttachmentKind = "url"
	Image AttachmentKind = "image" // a picture, by its address or its path
	File  AttachmentKind = "file"
)

// An Attachment is something that a task refers to.
type Attachment struct {
	Kind  AttachmentKind
	Label string // the text of a link, or the last part of Ref
	Ref   string // as written

	// Output says that by its words the task makes the file, so that it need not
	// exist before.
	Output bool
}

// NewAttachment returns the attachment that ref, an address or a path, stands for.
// An empty label is replaced by the last part of ref.
func NewAttachment(ref, label string) Attachment {
	a := Attachment{Kind: File, Label: label, Ref: ref}
	if hasScheme(ref) || strings.HasPrefix(ref, "www.") || strings.HasPrefix(ref, "data:") || hasDomain(ref) {
		a.Kind = URL
	}
	if strings.HasPrefix(ref, "data:image/") || imageExtensions.has(extension(withoutQuery(ref))) {
		a.Kind = Image
	}
	if a.Label == "" {
		a.Label = lastPart(ref)
	}
	return a
}

// Attachments finds the addresses, pictures and files that a text refers to, in
// order, each once. Addresses that nobody fetches, such as that of a database,
// are none. Code is not searched, but for code that as a whole is one path or
// address. A word with a dot in it is a file only if its extension is
// known, so that versions, abbreviations, domains and names such as node.js are
// none; an absolute path needs an extension or a usual beginning such as /etc,
// so that the routes of a server are none.
func Attachments(text string) []Attachment {
	f := newFinder(text)
	f.links()
	f.words()
	slices.SortStableFunc(f.found, func(a, b found) int { return cmp.Compare(a.at, b.at) })
	all := make([]Attachment, len(f.found))
	for i, a := range f.found {
		all[i] = a.Attachment
	}
	return unique(all)
}

// unique keeps the first attachment for each reference. A later one may add a label.
func unique(all []Attachment) []Attachment {
	var out []Attachment
	at := map[string]int{}
	for _, a := range all {
		i, ok := at[a.Ref]
		if !ok {
			at[a.Ref] = len(out)
			out = append(out, a)
			continue
		}
		if out[i].Label == lastPart(a.Ref) {
			out[i].Label = a.Label
		}
		out[i].Output = out[i].Output || a.Output
	}
	return out
}

// A finder searches one text for references.
type finder struct {
	text  string
	mask  mask
	taken []bool // bytes that are part of a link
	found []found
}

type found struct {
	at int
	Attachment
}

func newFinder(text string) *finder {
	text = dissect(valid(text)).plain
	return &finder{text: text, mask: maskOf(text), taken: make([]bool, len(text))}
}

func (f *finder) add(start int, a Attachment) {
	f.found = append(f.found, found{start, a})
}

// maxLink bounds the target of a link.
const maxLink = 4000

// linkForm is [label](target) and ![label](target), whose target may have brackets in
// it, or be in angle brackets, and have a title after it.
var linkForm = regexp.MustCompile(`!?\[([^\[]*?)\]\(\s*(?:<([^>]+)>|((?:[^\s()]|\([^()\s]*\))+))(?:\s(?:[^()]|\([^()]*\))*)?\)`)

// links finds links and pictures.
func (f *finder) links() {
	for _, at := range linkForm.FindAllStringSubmatchIndex(f.text, -1) {
		if f.mask.is(at[3], inCode) {
			continue
		}
		group := func(n int) string { return f.text[max(at[2*n], 0):max(at[2*n+1], 0)] }
		a := NewAttachment(group(2)+group(3), strings.Trim(clip.Words(group(1), maxTitle), "`*_ "))
		switch {
		case f.text[at[0]] == '!':
			a.Kind = Image
		case hasScheme(a.Ref) && !isFetchable(a.Ref), strings.HasPrefix(a.Ref, "#"), strings.HasPrefix(a.Ref, "mailto:"):
			a.Ref = ""
		}
		if a.Ref != "" {
			f.add(at[0], a)
		}
		for j := at[0]; j < at[1]; j++ {
			f.taken[j] = true
		}
	}
}

// words finds references that stand on their own.
func (f *finder) words() {
	for i := 0; i < len(f.text); {
		r, size := utf8.DecodeRuneInString(f.text[i:])
		switch {
		case f.taken[i] || isBlank(r):
			i += size
		case f.mask.is(i, inURL):
			end := f.end(i, inURL)
			if isFetchable(f.text[i:end]) {
				f.add(i, NewAttachment(f.text[i:end], ""))
			}
			i = end
		case f.mask.is(i, inCode):
			end := f.end(i, inCode)
			f.code(i, end)
			i = end
		case f.mask.is(i, inQuote) && (i == 0 || !f.mask.is(i-1, inQuote)) && f.quoted(i):
			i = f.end(i, inQuote)
		default:
			end := i
			for end < len(f.text) && !f.taken[end] && !f.mask.is(end, inURL|inCode) {
				r, size := utf8.DecodeRuneInString(f.text[end:])
				if isBlank(r) || end > i && strings.ContainsRune("\"“”„«»<>|，、；（）「」『』", r) {
					break
				}
				end += size
			}
			end = max(end, i+size)
			f.word(i, end)
			i = end
		}
	}
}

// end is where what begins at i is no longer of a kind.
func (f *finder) end(i int, kind byte) int {
	for i < len(f.text) && f.mask.is(i, kind) {
		i++
	}
	return i
}

// code looks at a code span, which is a reference as a whole or not at all.
func (f *finder) code(start, end int) {
	for _, s := range codeSpans(f.text[start:end]) {
		ref := codeOf(s.of(f.text[start:end]))
		if ref == "" || strings.ContainsFunc(ref, unicode.IsSpace) {
			continue
		}
		if isFetchable(ref) || isPath(ref) {
			f.path(start, ref)
		}
	}
}

// quoted looks at a quotation that as a whole is a path, perhaps with spaces.
func (f *finder) quoted(start int) bool {
	inner := strings.Trim(f.text[start:f.end(start, inQuote)], "\"'“”‘’„‚«»‹›「」『』《》")
	if !strings.Contains(inner, " ") || strings.ContainsAny(inner, "\n:;,!?") && !isDrive(inner) || !strings.ContainsAny(inner, `/\`) || !isPath(inner) {
		return false
	}
	f.path(start, inner)
	return true
}

// word looks at a word with the marks around it.
func (f *finder) word(start, end int) {
	word := f.text[start:end]
	word = strings.TrimLeft(word, "([{'‘\"*_<,;:!¿¡=")
	word = strings.TrimRight(word, "'’\"*>,;:!?)]}…。！？؟،؛")
	word = strings.TrimRight(word, "._")
	// Scripts without spaces do not separate a path from the words around it.
	if strings.ContainsFunc(word, isDense) {
		before := len(f.found)
		for _, part := range strings.FieldsFunc(word, func(r rune) bool { return isDense(r) || r == '。' || r == '、' }) {
			if part = strings.Trim(part, "()[]\"',;:"); isPath(part) {
				f.path(start, part)
			}
		}
		if len(f.found) > before {
			return
		}
	}
	if isPath(word) {
		f.path(start, word)
	}
}

func (f *finder) path(start int, ref string) {
	a := NewAttachment(ref, "")
	a.Output = a.Kind != URL && !hasScheme(ref) && isOutput(f.text[:start])
	f.add(start, a)
}

// isDense is true of scripts that are written without spaces.
func isDense(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}

// isOutput reports whether the words before a path say that the file is made:
// "write it to out.txt", "create out.txt".
func isOutput(before string) bool {
	const clause = 120
	if len(before) > clause {
		before = before[len(before)-clause:]
	}
	if i := strings.LastIndexAny(before, ".!?;:\n"); i >= 0 && strings.HasPrefix(before[i+1:], " ") {
		before = before[i+1:]
	}
	words := plainWords(before, clause)
	n := len(words)
	for n > 0 && outputFillers.has(words[n-1]) {
		n--
	}
	if n == 0 {
		return false
	}
	switch words[n-1] {
	case "called", "named":
		return true
	case "to", "into", "as":
		return slices.ContainsFunc(words[:n], targetVerbs.has)
	}
	// "read" after the verb turns it around: "write a report from data.csv".
	for _, w := range words[max(0, n-6):n] {
		if inputWords.has(w) {
			return false
		}
	}
	for _, w := range words[max(0, n-6):n] {
		if outputVerbs.has(w) {
			return true
		}
	}
	return false
}

// Attach adds what the person gave beside the text to the tasks that mention it, or to
// all of them if none does. Tasks that no model does have no use for it, and it is an
// error if there are only those.
func Attach(tasks []Task, refs []string) ([]Task, error) {
	tasks = slices.Clone(tasks)
	for _, ref := range refs {
		if strings.TrimSpace(ref) == "" {
			return nil, fmt.Errorf("the reference is empty, want a file or an address")
		}
		a := NewAttachment(ref, "")
		mentions := func(t Task) bool {
			return t.needsModel() && (StandsIn(t.Text, a.Ref) || StandsIn(t.Text, a.Label))
		}
		named := slices.ContainsFunc(tasks, mentions)
		used := false
		for i := range tasks {
			t := &tasks[i]
			if !t.needsModel() || named && !mentions(*t) {
				continue
			}
			used = true
			t.Attachments = unique(append(slices.Clip(t.Attachments), a))
		}
		if !used {
			return nil, fmt.Errorf("%s is of no use: there is no task that a model does", ref)
		}
	}
	return tasks, nil
}

// needsModel reports whether a task is more than a command given literally.
func (t *Task) needsModel() bool { return !t.Done && t.Command == "" }
