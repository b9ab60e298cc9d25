package reader

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/maker-mdap/maker/redflag"
)

var (
	thoughts  = regexp.MustCompile(`(?is)<(?:think|thinking|reasoning|thought)>.*?</(?:think|thinking|reasoning|thought)>`)
	thinking  = regexp.MustCompile(`(?i)<(?:think|thinking|reasoning|thought)>`)
	thoughtUp = regexp.MustCompile(`(?is)^.*</(?:think|thinking|reasoning|thought)>`)
	controls  = regexp.MustCompile(`<\|[A-Za-z_]{1,30}\|>|</?s>`)
)

// spoken is what a model says, without what it thinks aloud in tags and what local
// servers leave over of the tokens that end a turn.
func spoken(text string) (string, *redflag.Flag) {
	text = strings.ToValidUTF8(text, "\ufffd")
	if strings.IndexByte(text, '<') >= 0 { // with which all of these begin
		text = thoughts.ReplaceAllString(text, "\n")
		text = thoughtUp.ReplaceAllString(text, "") // the tag that opens it may be the server's
		if thinking.MatchString(text) {
			return "", redflag.New(redflag.Truncated, "it thinks, and comes to no end")
		}
		text = controls.ReplaceAllString(text, "\n")
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	composed := strings.TrimSpace(norm.NFC.String(text))
	if text = strings.TrimSpace(text); composed != text && (json.Valid([]byte(composed)) || !json.Valid([]byte(text))) {
		text = composed // unless a mark would become one with the escape before it
	}
	if text == "" {
		return "", redflag.New(redflag.Empty, "the answer is empty")
	}
	return text, nil
}

// A matcher knows what an answer without parts looks like.
type matcher interface {
	// exact reads a phrase that is the answer and nothing else, but for marks around it.
	exact(phrase string) (item, bool)

	// goesOn reports whether what follows an answer can follow it: a reason, or a
	// sentence that does not name another one.
	goesOn(it item, rest string) bool
}

// The bounds of what is looked through for one answer. They are far beyond what a model
// writes that knows it, and low enough that no text takes long.
const (
	maxSaid    = 32 << 10 // bytes
	maxPhrase  = 500      // bytes of a phrase that is called the answer
	maxPhrases = 20       // of them, the last ones
	maxEnds    = 8        // places where an answer may end and its reason begin
)

// find looks for the answer in what was said. It is where it is known to be an answer,
// and nowhere else: what is called final counts; else everything that is clearly an
// answer has to be the same, which is what is called the answer, a line that is nothing
// else, and how the text begins. To be named in a sentence is not enough: nobody knows
// all the words that deny it.
func find(said, want string, m matcher) (item, *redflag.Flag) {
	if len(said) > maxSaid {
		return item{}, redflag.New(redflag.ExcessiveLength, "%d bytes, of which one should be %s", len(said), want)
	}
	if it, ok := m.exact(said); ok {
		return it, nil
	}
	unclear := unreadable("no %s is clearly the answer in %s", want, said)
	if strings.Contains(said, "~~") { // struck out
		return item{}, unclear
	}
	s := statements(said, m)
	if s.final {
		s.clear = s.finals
	}
	it, found, flag := agree(s.clear)
	switch {
	case !found, flag == nil && (s.open || turn.MatchString(s.rest) || isFragment(s.rest)):
		return item{}, unclear
	}
	return it, flag
}

// A statement is what a text says that its answer is.
type statement struct {
	finals []item
	final  bool // there is something that is called final, whether it can be read or not
	clear  []item
	open   bool   // what is called the answer last cannot be read
	rest   string // what follows the last answer
}

func statements(said string, m matcher) statement {
	var s statement
	lines := strings.Split(said, "\n")
	add := func(after int, it item, ok, final bool) {
		s.final, s.open = s.final || final, !ok
		if ok && final {
			s.finals = append(s.finals, it)
		} else if ok {
			s.clear = append(s.clear, it)
		}
		s.rest = strings.Join(lines[min(after, len(lines)):], "\n")
	}
	if it, ok := framed(said, m, !strings.Contains(said, "\n")); ok {
		s.clear = append(s.clear, it)
	}
	before, fresh := "", true // the last line with text, and whether a sentence ends there
	for i, line := range lines {
		if line = strings.TrimSpace(line); line == "" {
			fresh = true
			continue
		}
		marks := called(lines, i)
		for _, c := range marks {
			it, ok := stated(c.phrase, m)
			add(c.after, it, ok, c.final)
		}
		it, ok := item{}, false
		if len(marks) == 0 && !listed.MatchString(line) {
			it, ok = m.exact(line)
			ok = ok && !(strings.HasSuffix(before, ":") && denial.MatchString(before))
			if !ok && fresh && i == len(lines)-1 {
				it, ok = framed(line, m, false)
			}
		}
		if ok {
			add(i+1, it, true, false)
		}
		before, fresh = line, strings.IndexByte(".!?:", line[len(line)-1]) >= 0
	}
	for _, pattern := range []*regexp.Regexp{boxed, hashed} {
		for _, found := range pattern.FindAllStringSubmatch(said, maxPhrases) {
			it, ok := stated(found[1], m)
			add(len(lines), it, ok, true)
		}
	}
	return s
}

// A call is a phrase that is called the answer.
type call struct {
	phrase string
	final  bool
	after  int // the line after it
}

// called are the phrases that a line calls the answer: what follows on it, or the next
// line with text.
func called(lines []string, i int) []call {
	var all []call
	line := strings.TrimSpace(lines[i])
	marks := conclusion.FindAllStringIndex(line, maxPhrases)
	for j, at := range marks {
		c := call{line[at[1]:], finalIs.MatchString(line[at[0]:at[1]]), i + 1}
		if j+1 < len(marks) {
			c.phrase = line[at[1]:marks[j+1][0]]
		}
		for ; strings.Trim(c.phrase, " \t*_#>:`") == "" && c.after < len(lines); c.after++ {
			c.phrase = lines[c.after]
		}
		all = append(all, c)
	}
	return all
}

// stated reads a phrase that is called the answer: it is the answer, or goes on with a
// reason.
func stated(phrase string, m matcher) (item, bool) {
	if len(phrase) > maxPhrase {
		return item{}, false
	}
	if it, ok := m.exact(phrase); ok {
		return it, true
	}
	return lead(phrase, m)
}

// lead reads a text that begins with the answer and goes on with something that is
// clearly not a part of it.
func lead(text string, m matcher) (item, bool) {
	for _, at := range ends.FindAllStringIndex(text[:min(len(text), maxPhrase)], maxEnds) {
		if it, ok := m.exact(text[:at[0]]); ok {
			rest := text[at[0]:]
			return it, m.goesOn(it, rest) && !turn.MatchString(rest)
		}
	}
	return item{}, false
}

// framed reads a text that begins with the answer, or with the few words that say that
// it follows.
func framed(text string, m matcher, whole bool) (item, bool) {
	if at := frame.FindStringIndex(text); at != nil {
		text = text[at[1]:]
		if it, ok := m.exact(text); ok {
			return it, true
		}
	}
	if at := general.FindStringIndex(text); at != nil && whole {
		return m.exact(text[at[1]:])
	}
	return lead(text, m)
}

// agree is what all of several readings are.
func agree(all []item) (it item, found bool, flag *redflag.Flag) {
	all = distinct(all)
	switch len(all) {
	case 0:
		return item{}, false, nil
	case 1:
		return all[0], true, nil
	default:
		return item{}, true, redflag.New(redflag.SelfContradiction, "it answers %s, and also %s", all[0].value, all[1].value)
	}
}

// distinct leaves out what is the same as one before.
func distinct(all []item) []item {
	var kept []item
	seen := map[string]bool{}
	for _, it := range all {
		if !seen[it.key] {
			seen[it.key] = true
			kept = append(kept, it)
		}
	}
	return kept
}

// What models write before an answer. They speak other languages, too.
const (
	answerWords = `answer|result|verdict|conclusion|classification|category|label|choice|` +
		`antwort|ergebnis|réponse|reponse|résultat|respuesta|resultado|a resposta|resposta|risposta|risultato|antwoord|svar|odpowiedź|ответ`
	answerVerbs = `is|are|ist|lautet|est|es|é|è|to be|would be|should be|must be|jest`
	article     = `(?:(?:the|my|our|die|das|meine|la|le|ma|mi|il|het|mijn)\s+)?`
	sure        = `(?:(?:final|finale|endgültige|correct|right|best|richtige|bonne|correcta)\s+)*`
	opener      = `(?:(?:so|thus|therefore|hence|overall|finally|in conclusion|in summary|also|daher|donc)\s*,?\s+)?(?:i (?:think|believe|would say)(?: that)?\s+)?`
)

var (
	// conclusion finds what calls the rest of a line the answer: at the beginning of a
	// sentence, where nothing before it can deny it.
	conclusion = regexp.MustCompile(`(?i)(?:^[\s*_#-]*|[.!?…]["'”’*_)]*\s+[*_]*|[。！？]\s*)(?:` +
		opener + article + sure + `(?:` + answerWords + `)(?: to (?:this|the|your) question)?(?:\s*\([^)\n]{0,80}\))?[*_"'\x60]*` +
		`(?:\s*[:：=]|\s+(?:` + answerVerbs + `)(?:[\s:*"'\x60]|$))|(?:最终)?(?:答案|答え|回答|정답)(?:[:：是は은는]|\s)+)[*_ \t:：]*`)
	finalIs = regexp.MustCompile(`(?i)final|endgültig|最终`)
	boxed   = regexp.MustCompile(`\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}`)
	hashed  = regexp.MustCompile(`(?m)^#{4}[ \t]+(\S.*)$`) // as a well-known set of examples ends
	listed  = regexp.MustCompile(`^(?:[-*+•–]|\(?[0-9]{1,3}[.)]|\(?[A-Za-z][.)])[ \t]`)

	// frame finds the words of a sentence that has nothing but the answer after them.
	frame = regexp.MustCompile(`(?i)^[*_\s]*` + opener + `(?:(?:it|this|that)(?:['’]s| is)|there are|(?:the|this) (?:statement|claim|sentence) is|` +
		`i(?: would|['’]d)? (?:classify|categori[sz]e|label) (?:it|this) as|(?:es|das|dies) ist|c['’]est)\s+(?:(?:an?|the|eine?|une?)\s+)?`)
	// general finds those of one that names what was asked for in general.
	general = regexp.MustCompile(`(?i)^[*_\s]*` + opener + `the (?:total|sum|value|number|count|amount|date) is\s+`)

	// ends finds where an answer may end and something else begin.
	ends = regexp.MustCompile(`[.!,;:]["'”’*_\x60)\]]*(?:\s|$)|\s+(?:[-–—(]|because|weil|parce|porque|perché|потому)`)
	// reason finds what explains an answer, clause a sentence about it.
	reason = regexp.MustCompile(`(?i)^["'”’*_\x60)\]]*(?:[,;:]?\s*[-–—(]?\s*(?:because|weil|parce|porque|perché|потому)|[,;:]\s+(?:since|given|due to|denn|da|car)\s)`)
	clause = regexp.MustCompile(`(?i)^["'”’*_\x60)\]]*[,;:]?["'”’*_\x60)\]]*\s*[-–—(]?\s*(?:it|this|that|there|they|the|we|es|das|der|die|il|la|le|el)\s`)
	// turn finds a sentence that takes back what was said before it.
	turn = regexp.MustCompile(`(?i)(?:^|[.!?…]|\n)[\s*_]*(?:but|however|wait|actually|correction|hmm|on second thought|on reflection|scratch that|never ?mind|just kidding|no wait|oops)(?:[^\pL]|$)`)
)

// fewestWords are those of a sentence: what is shorter belongs to what stands before it.
const fewestWords = 3

// isFragment reports whether the lines after an answer are less than a sentence, as 20%.
func isFragment(rest string) bool {
	words := strings.Fields(strings.Trim(rest, "`*_#-= \n\t"))
	return len(words) > 0 && len(words) < fewestWords
}

// isSentence reports whether what follows an answer is a sentence of its own.
func isSentence(rest string) bool {
	tail := strings.TrimLeft(rest, `"'”’*_)]`+"`")
	return tail != "" && strings.IndexByte(".!", tail[0]) >= 0 && len(strings.Fields(tail[1:])) >= fewestWords
}

var (
	latexText = regexp.MustCompile(`\\(?:text|mathrm|mathbf|textbf)\{([^{}]*)\}`)
	bullet    = regexp.MustCompile(`^(?:[-*+•–]|#{1,6})[ \t]+`)
)

// bare is a phrase without emphasis, quotation marks, brackets and bullets around it,
// and without what ends a sentence.
func bare(s string) string {
	s = latexText.ReplaceAllString(s, "$1")
	for {
		before := s
		s = strings.TrimSpace(s)
		s = bullet.ReplaceAllString(s, "")
		s = strings.Trim(s, "*_`\"'“”‘’«»„‚‹›")
		s = strings.TrimRight(s, ".,;:!。．！；，：… ")
		for _, pair := range [][2]string{{"(", ")"}, {"[", "]"}, {"{", "}"}, {"<", ">"}, {`\(`, `\)`}, {`\[`, `\]`}} {
			if inner, ok := strings.CutPrefix(s, pair[0]); ok {
				if inner, ok = strings.CutSuffix(inner, pair[1]); ok && !strings.ContainsAny(inner, pair[0]+pair[1]) {
					s = inner
				}
			}
		}
		if plain := strings.TrimFunc(s, isOrnament); plain != "" {
			s = plain
		}
		if s == before {
			return s
		}
	}
}

// isOrnament reports whether a character is a picture that means nothing, or yes.
func isOrnament(r rune) bool { return strings.ContainsRune("✅✔✓☑👉🎯\ufe0f\u200d", r) }

// isWord reports whether a character is a part of a word that has white space or
// punctuation around it.
func isWord(r rune) bool {
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

var folding = strings.NewReplacer("’", "'", "‘", "'", "`", "'", "–", "-", "—", "-", "−", "-")

// fold is a text in small letters with plain quotation marks and single spaces, the ends
// of lines kept.
func fold(s string) string {
	lines := strings.Split(folding.Replace(norm.NFC.String(s)), "\n")
	for i, line := range lines {
		lines[i] = strings.ToLower(strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

// denial finds words that may deny what stands beside them. No list of them is whole:
// it is for places where an answer is known to be.
var denial = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:wrong|false|incorrect|doubt\pL*|not|never|no|none|neither|nor|cannot|without|unless|except|instead|rather|unlikely|unclear|` +
	`whether|either|or|if|versus|vs|nicht|kein\pL*|nie|weder|oder|ob|pas|jamais|ni|aucun\pL*|non|ou|si|nunca|ningun\pL*|não|né|или|не|нет)(?:[^\pL]|$)|n't(?:[^\pL]|$)|不|没|非|ない`)

// textItem is an answer that is a text.
func textItem(value, key string) item {
	return item{value: encode(value), key: string(encode(key))}
}

func isJSONText(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }
