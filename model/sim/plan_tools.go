package sim

import (
	"regexp"
	"strings"

	"github.com/maker-mdap/maker/model/sim/internal/problem"
)

// maxLine is the longest text that is looked into.
const maxLine = 10_000

// A choice is how a planner has a piece of a task done.
type choice struct {
	tool         string // "" if it takes none
	instructions string
	schema       string
}

// choose finds the tool for a piece of a task by simple words.
func choose(piece string, tools map[string]bool) choice {
	piece = piece[:min(len(piece), maxLine)]
	for _, way := range []struct {
		tool string
		find func(string) (instructions string, ok bool)
	}{
		{"Bash", wantsCommand}, {"WebFetch", wantsPage}, {"Bash", wantsAppending}, {"Write", wantsWriting},
		{"Grep", wantsSearch}, {"Glob", wantsNames}, {"Read", wantsReading},
	} {
		if instructions, ok := way.find(piece); ok && tools[way.tool] {
			return choice{way.tool, instructions, toolSchemas[way.tool]}
		}
	}
	switch taskIn(piece).(type) {
	case problem.Calculation:
		return choice{schema: "result: number, what it comes to"}
	case problem.Ordering:
		return choice{schema: "result: list of integers, smallest first"}
	}
	switch {
	case counting.MatchString(piece) && perFile.MatchString(piece):
		return choice{schema: "counts: list of strings, each file with its number"}
	case counting.MatchString(piece):
		return choice{schema: "count: integer, how many there are"}
	}
	return choice{schema: "result: string, what came of it"}
}

// everyTool has all tools that choose knows.
var everyTool = map[string]bool{"Bash": true, "WebFetch": true, "Write": true, "Grep": true, "Glob": true, "Read": true}

var toolSchemas = map[string]string{
	"Bash":     "output: string, what the command printed; lines: integer, how many lines that is",
	"WebFetch": "text: string, the content of the page",
	"Write":    "path: string, the file that was written; message: string, what the tool said",
	"Grep":     "matches: list of strings, the lines that match; count: integer, how many there are",
	"Glob":     "files: list of strings, the names of the files; count: integer, how many there are",
	"Read":     "text: string, the content of the file; lines: integer, how many lines it has",
}

// What instructions begin with. The agents that follow them know these forms, and
// others.
const (
	runCommand = "Run this command: "
	appendTo   = "Append the text to the file "
	writeTo    = "Write the text to the file "
	readFrom   = "Read the file "
	searchFor  = "Search for the pattern "
	listNames  = "List the files that match "
	fetchFrom  = "Fetch the page "
)

var (
	codeForm  = regexp.MustCompile("(?is)(?:^|\\b(?:run|execute)\\s+(?:the\\s+)?(?:shell\\s+)?(?:command\\s+)?:?\\s*)`+([^`]+)`")
	runForm   = regexp.MustCompile(`(?is)^(?:please\s+|now\s+)?(?:run|execute)\s+(?:(?:the\s+)?command\s*:?\s+)?(\S.*)$`)
	vague     = regexp.MustCompile(`(?i)^(?:the|an?|all|this|that|it|them|these|those|every|each|your|my|some|both)\b`)
	urlForm   = regexp.MustCompile(`https?://[^\s<>"'` + "`" + `()]+`)
	textForm  = regexp.MustCompile(`(?s)"([^"]*)"|“([^”]*)”|` + "`([^`]+)`")
	writeForm = regexp.MustCompile(`(?is)\b(?:write|save|put|store)\b(.*?)\b(?:to|into|in|as)\s+(?:the\s+|a\s+)?(?:new\s+)?(?:file\s+)?(?:called\s+|named\s+)?` + fileForm)
	addForm   = regexp.MustCompile(`(?is)\b(?:append|add)\b(.*?)\bto\s+(?:the\s+)?(?:end of\s+)?(?:the\s+)?(?:file\s+)?` + fileForm)
	readForm  = regexp.MustCompile(`(?is)\b(?:read|open|show|look at|load)\b\s+(?:out\s+)?(?:the\s+)?(?:file\s+|content of\s+|contents of\s+)*(?:called\s+|named\s+|at\s+)?` + fileForm)
	findForm  = regexp.MustCompile(`(?is)\b(?:search|grep|find|look for)\b(.*)$`)
	inForm    = regexp.MustCompile("(?is)\\bin\\s+(?:(?:the\\s+)?(?:file|folder|directory)\\s+)?(?:`([^`]+)`|\"([^\"]+)\"|([\\w./~*-]+))")
	nameForm  = regexp.MustCompile("(?is)\\b(?:list|find)\\b.*?(?:`([^`]*\\*[^`]*)`|\"([^\"]*\\*[^\"]*)\"|([\\w./*-]*\\*[\\w./*-]*))")
	capitals  = regexp.MustCompile(`\b[A-Z][A-Z0-9_]+\b`)
	perFile   = regexp.MustCompile(`(?i)\b(?:per|by|each) file\b`)
	counting  = regexp.MustCompile(`(?i)\b(?:count|how many|number of)\b`)
)

// A file is in backquotes or quotes, or a word with a dot or a slash in it.
const fileForm = "(?:`([^`]+)`|\"([^\"]+)\"|((?:[\\w~.-]*/[\\w./~-]*|[\\w-]+\\.\\w+|\\.[\\w.-]+)))"

// isFile reports whether something that looks like a file is not a number.
func isFile(name string) bool {
	_, isNumber := problem.Evaluate(name)
	return name != "" && !isNumber
}

// firstOf returns the first of the groups that matched something.
func firstOf(groups []string) string {
	for _, g := range groups {
		if g != "" {
			return strings.TrimRight(g, ".,;:!?")
		}
	}
	return ""
}

// wantsCommand finds a command: what is in backquotes after "run" or at the
// beginning, or without them what follows "run", unless it is a description.
func wantsCommand(piece string) (string, bool) {
	if code := codeForm.FindStringSubmatch(piece); code != nil {
		command := strings.TrimSpace(code[1])
		return runCommand + command, command != ""
	}
	m := runForm.FindStringSubmatch(piece)
	if m == nil || vague.MatchString(m[1]) {
		return "", false
	}
	command := strings.TrimSpace(strings.TrimRight(m[1], ".!"))
	return runCommand + command, command != ""
}

func wantsPage(piece string) (string, bool) {
	url := strings.TrimRight(urlForm.FindString(piece), ".,;:!?")
	return fetchFrom + quoted(url) + ".", url != ""
}

func wantsAppending(piece string) (string, bool) { return wantsFile(addForm, appendTo, piece) }

func wantsWriting(piece string) (string, bool) { return wantsFile(writeForm, writeTo, piece) }

func wantsFile(form *regexp.Regexp, instruction, piece string) (string, bool) {
	m := form.FindStringSubmatch(piece)
	if m == nil {
		return "", false
	}
	file := firstOf(m[2:])
	return instruction + quoted(file) + ".", isFile(file)
}

func wantsReading(piece string) (string, bool) {
	m := readForm.FindStringSubmatch(piece)
	if m == nil {
		return "", false
	}
	file := firstOf(m[1:])
	return readFrom + quoted(file) + ".", isFile(file)
}

func wantsNames(piece string) (string, bool) {
	m := nameForm.FindStringSubmatch(piece)
	if m == nil {
		return "", false
	}
	pattern := firstOf(m[1:])
	return listNames + quoted(pattern) + ".", pattern != ""
}

// wantsSearch finds what to search for: something in quotes, or a word in
// capitals, or the words before "in".
func wantsSearch(piece string) (string, bool) {
	m := findForm.FindStringSubmatch(piece)
	if m == nil {
		return "", false
	}
	what, where := m[1], ""
	if in := inForm.FindStringSubmatchIndex(what); in != nil {
		where = firstOf(inForm.FindStringSubmatch(what)[1:])
		what = what[:in[0]]
	}
	if vague.MatchString(where) || strings.Contains(where, "*") {
		where = ""
	}
	pattern := ""
	if quotes := textForm.FindStringSubmatch(what); quotes != nil {
		pattern = firstOf(quotes[1:])
	} else if pattern = capitals.FindString(what); pattern == "" && where != "" {
		if words := strings.Fields(searchWords.ReplaceAllString(what, " ")); len(words) > 0 {
			pattern = strings.Trim(words[0], ".,;:!?")
		}
	}
	switch {
	case pattern == "":
		return "", false
	case where == "" || where == ".":
		return searchFor + quoted(pattern) + ".", true
	}
	return searchFor + quoted(pattern) + " in " + quoted(where) + ".", true
}

var searchWords = regexp.MustCompile(`(?i)\b(?:for|the|all|every|any|a|an|lines?|files?|words?|text|string|occurrences?|of|with|containing|that|contain|comments?|mentions?)\b`)
