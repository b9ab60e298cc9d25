package redflag

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxPeriod is the longest phrase, in tokens, whose loop is looked for.
	maxPeriod = 60

	// longLoop is how many tokens a loop of one or two words needs to count.
	// Below it, "up down up down" is a list of moves.
	longLoop = 100
)

func (c *RepetitionCheck) check(said *said) *Flag {
	p := said.sentences
	times, minWords := cmp.Or(c.Times, DefaultTimes), cmp.Or(c.MinWords, DefaultMinWords)
	if phrase := loop(tokens(p), times, minWords); phrase != "" {
		return New(Repetition, "%q more than %d times in a row", phrase, times)
	}
	if sentence := refrain(p, times, 2*minWords); sentence != "" {
		return New(Repetition, "the sentence %q more than %d times", sentence, times)
	}
	return nil
}

// refrain returns a sentence of at least minWords words that occurs more than
// times times and is a twentieth of the text or more: in a long document a
// standing phrase may well occur often.
func refrain(p []sentence, times, minWords int) string {
	seen := make(map[string]int)
	total := 0
	for _, s := range p {
		n := words(s.full)
		total += n
		if n >= minWords && endsSentence(s.full) && !isLabelled(s.own) {
			seen[s.full]++
		}
	}
	for _, s := range p {
		if n := seen[s.full]; n > times && n*words(s.full)*20 >= total {
			return s.full
		}
	}
	return ""
}

// isLabelled recognises an entry such as "estimated effort: about two weeks",
// which may well be the same in every section.
func isLabelled(s string) bool {
	label, value, found := strings.Cut(s, ": ")
	return found && value != "" && words(label) <= 4
}

// A token is a word, or a character of a script without spaces.
type token struct {
	text string
	word bool // has more than one letter: "a" and "b" may be pegs
	half bool // a character of a dense script, which counts as half a word
	end  ending
}

// An ending says what is complete after a token.
type ending int

const (
	nothing ending = iota
	entry          // of a list: a comma or the end of a line follows
	full           // a sentence
)

var letters = regexp.MustCompile(`\pL.*\pL`)

func tokens(p []sentence) []token {
	var out []token
	for i, s := range p {
		start := len(out)
		for _, piece := range pieces.FindAllString(s.full, -1) {
			dense := isDense(firstRune(piece))
			if !strings.ContainsAny(piece[:1], ",;:") && piece != "、" {
				out = append(out, token{text: strings.TrimRight(piece, sentenceEnds), word: dense || letters.MatchString(piece), half: dense})
			} else if len(out) > 0 {
				out[len(out)-1].end = entry
			}
		}
		switch {
		case len(out) == start:
		case endsSentence(s.full) && !strings.HasPrefix(s.full, "- "):
			out[len(out)-1].end = full
		case i+1 == len(p) || p[i+1].line != s.line:
			out[len(out)-1].end = entry
		}
	}
	return out
}

const sentenceEnds = ".!?。…।؟"

func endsSentence(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsRune(sentenceEnds, last)
}

// loop returns a phrase that follows upon itself more than times times.
func loop(t []token, times, minWords int) string {
	for period := 1; period <= min(maxPeriod, len(t)/(times+1)); period++ {
		run := 0 // how many tokens equal the one a period earlier
		for i := period; i < len(t); i++ {
			if t[i].text != t[i-period].text {
				run = 0
				continue
			}
			run++
			if run < times*period || run%period != 0 {
				continue
			}
			// Not the last turn: there the text may end in mid-phrase.
			phrase := t[i-2*period+1 : i-period+1]
			if isPhrase(phrase, minWords) || run+period >= longLoop && isProse(phrase) {
				return join(phrase)
			}
		}
	}
	return ""
}

// isPhrase reports whether one turn of a loop says something: most of it is
// words, at least three tokens differ, and it is not a list of short entries.
func isPhrase(t []token, minWords int) bool {
	wordCount, last := 0, -1
	different := make([]string, 0, 3)
	for i, tok := range t {
		if tok.word {
			wordCount++
		}
		if len(different) < 3 && !slices.Contains(different, tok.text) {
			different = append(different, tok.text)
		}
		if tok.end != nothing {
			last = i
		}
	}
	if wordCount*2 < len(t) || len(different) < min(3, minWords) {
		return false
	}
	// A turn can begin anywhere; count from where an item begins.
	item := 0
	for i := range t {
		tok := t[(last+1+i)%len(t)]
		if item += 2; tok.half {
			item--
		}
		if tok.end == full && item >= 2*minWords || tok.end == entry && item >= 4*minWords {
			return true
		}
		if tok.end != nothing {
			item = 0
		}
	}
	return last < 0 && item >= 2*minWords // no end at all
}

// isProse reports whether t is words without an end.
func isProse(t []token) bool {
	for _, tok := range t {
		if !tok.word || tok.end != nothing {
			return false
		}
	}
	return true
}

func join(t []token) string {
	texts := make([]string, len(t))
	for i, tok := range t {
		texts[i] = tok.text
	}
	return strings.Join(texts, " ")
}
