package tasks

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IdentifierKind is what an identifier is.
type IdentifierKind string

// The kinds of identifiers.
const (
	Name      IdentifierKind = "name"
	Number    IdentifierKind = "number"
	Path      IdentifierKind = "path"
	Address   IdentifierKind = "address"
	Quotation IdentifierKind = "quotation" // between quotation marks or backticks
)

// An Identifier is a part of a text that loses its use when it is paraphrased.
type Identifier struct {
	Kind IdentifierKind
	Text string
}

// Identifiers finds the names, numbers, paths, addresses and quotations of a text,
// each once, in order.
//
// A name is a word that no dictionary has: with a capital letter where no
// sentence begins, with capitals, digits or marks within it. Names in scripts
// without capitals are not found. A number has at least two digits, a decimal
// point, a currency or a percent sign: single digits are everywhere.
func Identifiers(text string) []Identifier {
	var s scan
	s.read(text)
	return s.found
}

// scan collects the identifiers of a text.
type scan struct {
	found []Identifier
	seen  map[Identifier]bool
	words func(word string) // is told every word, if it is not nil
}

func (s *scan) add(kind IdentifierKind, text string) {
	id := Identifier{kind, text}
	if text == "" || s.seen[id] {
		return
	}
	if s.seen == nil {
		s.seen = map[Identifier]bool{}
	}
	s.seen[id] = true
	s.found = append(s.found, id)
}

func (s *scan) read(text string) {
	for line := range strings.SplitSeq(valid(text), "\n") {
		line = strings.TrimFunc(line, isBlank)
		if fence, info := fenceOf(line); fence != "" && !strings.Contains(info, " ") {
			continue // what it encloses is read like the rest
		}
		s.line(line)
	}
}

// maxQuotation is how long a quotation may be for its wording to matter.
const maxQuotation = 120

func (s *scan) line(line string) {
	m := maskOf(line)
	begins := true // a sentence
	var name []string
	flush := func() {
		if len(name) > 0 {
			s.add(Name, strings.Join(name, " "))
		}
		name = nil
	}
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		switch {
		case m.is(i, inURL):
			flush()
			end := i
			for end < len(line) && m.is(end, inURL) {
				end++
			}
			s.add(Address, line[i:end])
			i, begins = end, false
		case m.is(i, inCode|inQuote) && (i == 0 || !m.is(i-1, inCode|inQuote)):
			flush()
			s.quotation(line[i:], m[i:])
			// The words within are read as well.
			i += max(size, len(line[i:])-len(strings.TrimLeft(line[i:], "`")))
		case isBreak(r):
			if !isBlank(r) {
				flush()
			}
			begins = begins || r == '|' || r == '。' || r == '！' || r == '？'
			i += size
		default:
			end := wordEnd(line, m, i)
			word := line[i:end]
			bare := strings.TrimRight(word, ".,:!?'’")
			bare = strings.TrimLeft(bare, "'‘,:!-+~")
			capital := unicode.IsUpper(firstRune(bare))
			if s.words != nil && bare != "" {
				s.words(bare)
			}
			kind := kindOf(bare)
			next := nextWord(line[end:])
			lower := strings.ToLower(bare)
			plain := kind == "" && capital && !functionWords.has(lower)
			if plain && begins {
				// The first word of a sentence is a name only before another.
				plain = !isInstruction(lower) && unicode.IsUpper(firstRune(next)) && !functionWords.has(strings.ToLower(next)) && end == i+len(bare)
			}
			switch {
			case kind == Name && capital, plain:
				name = append(name, bare)
				if len(bare) < len(word) {
					flush()
				}
			default:
				flush()
				if kind != "" {
					s.add(kind, bare)
				}
			}
			begins = strings.ContainsRune(".!?", lastRune(word)) || begins && bare == ""
			i = end
		}
	}
	flush()
}

// wordEnd is where the word at i ends.
func wordEnd(line string, m mask, i int) int {
	start := i
	for i < len(line) {
		r, size := utf8.DecodeRuneInString(line[i:])
		switch {
		case i > start && m.is(i, inURL), isBreak(r):
			return i
		case r == ',' && i > start && !(isDigitByte(line, i-1) && isDigitByte(line, i+1)):
			return i + size // the comma ends it
		}
		i += size
	}
	return i
}

// isBreak is true of space and of marks between words.
func isBreak(r rune) bool {
	switch r {
	case ' ', '"', '<', '>', '|', '(', ')', '[', ']', '{', '}', '=', ';', '`', '*':
		return true
	}
	return (r < ' ' || r >= utf8.RuneSelf) && (isBlank(r) || strings.ContainsRune("“”„«»‹›…，、；（）「」『』。！？", r))
}

func isDigitByte(s string, i int) bool { return i >= 0 && i < len(s) && '0' <= s[i] && s[i] <= '9' }

func nextWord(rest string) string {
	trimmed := strings.TrimLeft(rest, " ")
	if len(trimmed) == len(rest) {
		return ""
	}
	word, _, _ := strings.Cut(trimmed[:min(len(trimmed), maxWord)], " ")
	return strings.TrimRight(word, ".,:;!?")
}

// quotation adds the quotation or code that text begins with.
func (s *scan) quotation(text string, m mask) {
	end := 0
	bit := m[0] & (inCode | inQuote)
	for end < len(text) && m.is(end, bit) {
		end++
	}
	inner := strings.Trim(text[:end], "`\"“”„‘’‚'«»‹›「」『』《》")
	switch {
	case len(inner) > maxQuotation:
	case isPath(inner):
		s.add(Path, inner)
	case hasScheme(inner):
		s.add(Address, inner)
	default:
		s.add(Quotation, inner)
	}
}

// kindOf is the kind of a word that shows by its form what it is, or "".
func kindOf(word string) IdentifierKind {
	lower := strings.ToLower(word)
	if word == "" || titles.has(lower) || shortenings.has(lower) {
		return ""
	}
	if isPath(word) {
		return Path
	}
	letters, digits, capitals, marks := 0, 0, 0, 0
	inner := false // a capital or a dot within the word
	last := ' '
	for i, r := range word {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) {
				capitals++
				inner = inner || unicode.IsLower(last)
			}
			inner = inner || i > 1 && last == '.'
		default:
			marks++
			inner = inner || (r == '_' || r == '@' || r == '-' || r == '/') && i > 0 && i+1 < len(word)
		}
		last = r
	}
	switch {
	case digits > 0 && letters == 0:
		if digits > 1 || strings.ContainsAny(word, ".%$€£¥#") {
			return Number
		}
	case digits > 0 && isDigitByte(word, 0) && letters <= 2:
		if suffix := strings.TrimLeft(word, "0123456789.,"); ordinals.has(strings.ToLower(suffix)) {
			return ""
		}
		return Number // with its unit
	case digits > 0:
		return Name
	case letters < 2 || functionWords.has(lower):
	case inner, capitals == letters && capitals > 1, capitals > 1 && marks > 0:
		return Name
	}
	return ""
}
