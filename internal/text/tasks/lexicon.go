package tasks

import (
	_ "embed"
	"strings"
)

// A lexicon is a set of words in lower case.
type lexicon map[string]bool

//go:embed words.txt
var wordsText string

// words returns the list of a name in words.txt, which says what it is for, with those
// of others.
func words(name string, others ...lexicon) lexicon {
	_, rest, found := strings.Cut("\n"+wordsText, "\n# "+name+":")
	if !found {
		panic("tasks: words.txt has no list " + name)
	}
	_, list, _ := strings.Cut(rest, "\n")
	list, _, _ = strings.Cut(list, "\n# ")
	l := lexicon{}
	for word := range strings.FieldsSeq(list) {
		l[word] = true
	}
	for _, other := range others {
		for word := range other {
			l[word] = true
		}
	}
	return l
}

func (l lexicon) has(word string) bool   { return l[word] }
func (l lexicon) lacks(word string) bool { return !l[word] }

// isInstruction reports whether a word can begin a task.
func isInstruction(word string) bool {
	return instructions.has(word) || programs.has(word)
}

var (
	sequels         = words("sequels")
	leadWords       = words("leadWords", sequels)
	conditionals    = words("conditionals")
	titles          = words("titles")
	shortenings     = words("shortenings")
	instructions    = words("instructions")
	runVerbs        = words("runVerbs")
	meansVerbs      = words("meansVerbs", runVerbs)
	runFillers      = words("runFillers")
	cautions        = words("cautions")
	authorings      = words("authorings")
	programs        = words("programs")
	functionWords   = words("functionWords")
	outputFillers   = words("outputFillers")
	targetVerbs     = words("targetVerbs")
	outputVerbs     = words("outputVerbs")
	inputWords      = words("inputWords")
	shells          = words("shells")
	queries         = words("queries")
	ordinals        = words("ordinals")
	imageExtensions = words("imageExtensions")
	fileExtensions  = words("fileExtensions", imageExtensions)
	products        = words("products")
	plainFiles      = words("plainFiles")
	roots           = words("roots")
	domains         = words("domains")
	courtesies      = words("courtesies")
	danglers        = words("danglers")
)
