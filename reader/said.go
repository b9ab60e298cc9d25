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
	text = thoughts.ReplaceAllString(strings.ToValidUTF8(text, "\ufffd"), "\n")
	text = thoughtUp.ReplaceAllString(text, "") // the tag that opens it may be the server's
	if thinking.MatchString(text) {
		return "", redflag.New(redflag.Truncated, "it thinks, and comes to no end")
	}
	text = controls.ReplaceAllString(text, "\n")
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	if text = strings.TrimSpace(norm.NFC.String(text)); text == "" {
		return "", redflag.New(redflag.Empty, "the answer is empty")
	}
	return text, nil
}

// A matcher knows what an answer without parts looks like.
type matcher interface {
	// exact reads a phrase that is the answer and nothing else.
	exact(phrase string) (item, bool)

	// lead reads a phrase that begins with the answer and goes on with something that
	// is clearly not a part of it.
	lead(phrase string) (item, bool)

	// mentions are all that a text names; nil if it denies, compares or restricts what
	// it names.
	mentions(text string) []item
}

// The bounds of what is looked through for one answer. They are far beyond what a model
// writes that knows it, and low enough that no text takes long.
const (
	maxSaid    = 32 << 10 // bytes
	maxPhrase  = 500      // bytes of a phrase that is called the answer
	maxPhrases = 20       // of them, the last ones
	maxLead    = 2000     // characters from the beginning
)

// find looks for the answer in what was said. What is called final counts; else
// everything that is clearly an answer has to be the same: what is called the answer, a
// line that is nothing else, how the text begins. Without any of these the only one that
// is mentioned is meant.
func find(said, want string, m matcher) (item, *redflag.Flag) {
	if len(said) > maxSaid {
		return item{}, redflag.New(redflag.ExcessiveLength, "%d bytes, of which one should be %s", len(said), want)
	}
	if it, ok := m.exact(said); ok {
		return it, nil
	}
	finals, marked := conclusions(said)
	if it, found, flag := agree(resolveAll(finals, m)); found {
		return it, flag
	}
	clear := resolveAll(marked, m)
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); !listed.MatchString(line) {
			if it, ok := m.exact(line); ok {
				clear = append(clear, it)
			}
		}
	}
	if it, ok := m.lead(said); ok {
		clear = append(clear, it)
	}
	if it, found, flag := agree(clear); found {
		return it, flag
	}
	switch named := distinct(m.mentions(said)); len(named) {
	case 0:
		return item{}, unreadable("no %s is clearly the answer in %s", want, said)
	case 1:
		return named[0], nil
	default:
		return item{}, unreadable("it names %d and does not say which one is the answer: %s", len(named), said)
	}
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

// resolveAll reads phrases that are called the answer; those that are none are left out.
func resolveAll(phrases []string, m matcher) []item {
	var all []item
	for _, phrase := range phrases {
		it, ok := m.exact(phrase)
		if !ok {
			it, ok = m.lead(phrase)
		}
		if !ok {
			if named := distinct(m.mentions(phrase)); len(named) == 1 {
				it, ok = named[0], true
			}
		}
		if ok {
			all = append(all, it)
		}
	}
	return all
}

// What models write before an answer. They speak other languages, too.
const (
	answerWords = `answer|result|verdict|conclusion|classification|category|label|choice|` +
		`antwort|ergebnis|réponse|reponse|résultat|respuesta|resultado|resposta|risposta|risultato|antwoord|svar|odpowiedź|ответ`
	answerVerbs = `is|are|was|ist|lautet|est|es|é|è|to be|would be|should be|must be|jest`
)

var (
	conclusion = regexp.MustCompile(`(?i)(?:(?:^|[^\pL\pN])(final\s+|finale\s+|endgültige\s+)?(?:` + answerWords + `)(?:\s*\([^)\n]{0,80}\))?[*_"'\x60]*` +
		`(?:\s*[:：=]|\s+(?:` + answerVerbs + `)(?:[\s:*"'\x60]|$))|(?:最终)?(?:答案|答え|回答|정답)(?:[:：是はは은는]|\s)+)[*_ \t:：]*`)
	boxed   = regexp.MustCompile(`\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}`)
	hashed  = regexp.MustCompile(`(?m)^#{4}[ \t]+(\S.*)$`) // as a well-known set of examples ends
	listed  = regexp.MustCompile(`^(?:[-*+•–]|\(?[0-9]{1,3}[.)]|\(?[A-Za-z][.)])[ \t]`)
	finalIs = regexp.MustCompile(`(?i)^[^\pL]*(final|endgültig|最终)`)
)

// conclusions are the phrases that a text calls its final answer, and those that it just
// calls the answer: what follows on the same line, or on the next one with text.
func conclusions(said string) (finals, marked []string) {
	found := conclusion.FindAllStringIndex(said, -1)
	for _, at := range found[max(0, len(found)-maxPhrases):] {
		phrase, rest, _ := strings.Cut(said[at[1]:], "\n")
		for range maxPhrases {
			if strings.Trim(phrase, " \t*_#>:`") != "" || rest == "" {
				break
			}
			phrase, rest, _ = strings.Cut(rest, "\n")
		}
		if phrase = strings.TrimSpace(phrase); phrase == "" || len(phrase) > maxPhrase {
			continue
		}
		if finalIs.MatchString(said[at[0]:at[1]]) {
			finals = append(finals, phrase)
		} else {
			marked = append(marked, phrase)
		}
	}
	for _, pattern := range []*regexp.Regexp{boxed, hashed} {
		for _, found := range pattern.FindAllStringSubmatch(said, maxPhrases) {
			if len(found[1]) <= maxPhrase {
				finals = append(finals, found[1])
			}
		}
	}
	return finals, marked
}

var (
	latexText = regexp.MustCompile(`\\(?:text|mathrm|mathbf|textbf)\{([^{}]*)\}`)
	bullet    = regexp.MustCompile(`^(?:[-*+•–>]|#{1,6})[ \t]+`)
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
		s = strings.TrimRight(s, ".,;:!?。．！？；，：… ")
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

// isOrnament reports whether a character is a picture, or belongs to one.
func isOrnament(r rune) bool {
	return unicode.Is(unicode.So, r) && r != '°' || r == '\ufe0f' || r == '\u200d' || unicode.Is(unicode.Sk, r) && r > 0xffff
}

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

// denial finds words after which something that is named may not be what is meant.
var denial = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:not|never|no|none|neither|nor|cannot|without|unless|except|instead|rather|unlikely|unclear|` +
	`whether|either|or|if|versus|vs|nicht|kein\pL*|nie|weder|oder|ob|pas|jamais|ni|aucun\pL*|non|ou|si|nunca|ningun\pL*|não|né|или|не|нет)(?:[^\pL]|$)|n't(?:[^\pL]|$)|不|没|非|ない`)

// textItem is an answer that is a text.
func textItem(value, key string) item {
	return item{value: encode(value), key: string(encode(key))}
}

func isJSONText(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }
