package redflag

import (
	_ "embed"
	"slices"
	"strings"
)

// phraseFile has the phrases that the checks know, with a word on each list.
//
//go:embed phrases.txt
var phraseFile string

// phraseLists are the lists by their names: a line each, after a line with the name in
// brackets.
var phraseLists = func() map[string][]string {
	lists, name := map[string][]string{}, ""
	for line := range strings.Lines(phraseFile) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			name = strings.Trim(line, "[]")
		default:
			lists[name] = append(lists[name], line)
		}
	}
	return lists
}()

var (
	apologies      = phraseLists["apologies"]
	refusals       = phraseLists["refusals"]
	unwilling      = phraseLists["unwilling"]
	selfReferences = phraseLists["selfReferences"]
	leaks          = phraseLists["leaks"]
	musings        = phraseLists["musings"]
	musingOpeners  = phraseLists["musingOpeners"]
	quotedMusings  = phraseLists["quotedMusings"]
	openers        = phraseLists["openers"]
	presentations  = phraseLists["presentations"]
	introductions  = phraseLists["introductions"]
	closings       = phraseLists["closings"]
	hedges         = phraseLists["hedges"]
	corrections    = phraseLists["corrections"]
	thinking       = phraseLists["thinking"]
	conditions     = phraseLists["conditions"]
	slotWords      = phraseLists["slotWords"]
	unfilled       = phraseLists["unfilled"]
	fillers        = phraseLists["fillers"]

	chatter = slices.Concat(selfReferences, leaks)
)
