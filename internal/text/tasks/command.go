package tasks

import (
	"regexp"
	"slices"
	"strings"
)

// literal returns the command of a task if running it is all that the task asks
// for, and whether it stands in a fence.
func (p *parts) literal() (cmd string, fenced bool) {
	spans := codeSpans(p.prose)
	blocks := len(p.fences) + len(p.prompts)
	switch {
	case p.quoted || p.after:
		return "", false
	case blocks == 0 && len(spans) == 1:
		cmd = p.inlineCommand(spans[0])
	case len(spans) > 0 || blocks == 0 || len(p.fences) > 1 || len(p.fences) == 1 && len(p.prompts) > 0:
		return "", false
	case len(p.prompts) > 0:
		if p.prose == "" || p.leadsIn(false) {
			cmd = strings.Join(p.prompts, "\n")
		}
	default:
		fenced = true
		cmd = p.fencedCommand(p.fences[0])
	}
	if strings.TrimSpace(cmd) == "" || slots.MatchString(cmd) || strings.ContainsAny(cmd, "\uFFFD\x00") {
		return "", false
	}
	return cmd, fenced
}

// inlineCommand is the code in a sentence like "Run `make test`." and "`make test`".
func (p *parts) inlineCommand(s span) string {
	cmd := codeOf(s.of(p.prose))
	if strings.Contains(cmd, "\n") {
		return ""
	}
	before := strings.TrimRight(p.prose[:s.start], " \t\n*_")
	after := strings.TrimLeft(p.prose[s.end:], "*_")
	if !isTail(after) {
		return ""
	}
	words := plainWords(before, maxLead)
	if len(words) == maxLead {
		return ""
	}
	words = instruction(words)
	runs := len(words) > 0 && runVerbs.has(words[0]) && onlyFillers(words[1:])
	if runs && isCommand(cmd, false) || len(words) == 0 && isCommand(cmd, true) {
		return cmd
	}
	return ""
}

func onlyFillers(words []string) bool { return !slices.ContainsFunc(words, runFillers.lacks) }

// isTail reports whether what follows a command adds nothing to it: an end mark, or
// a word such as "again".
func isTail(after string) bool {
	trimmed := strings.TrimSpace(after)
	if strings.ContainsAny(trimmed, "?;:,()[]{}\"'“”…，、；：？（）") {
		return false
	}
	bare := strings.TrimRight(trimmed, ".!。！*_ ")
	if strings.ContainsAny(bare, ".!。！") {
		return false
	}
	words := plainWords(bare, maxLead)
	if len(words) == 0 {
		return bare == ""
	}
	switch strings.Join(words, " ") {
	case "in the terminal", "in a terminal", "in your terminal", "in the shell", "in a shell", "on the command line", "from the command line":
		return true
	}
	return onlyFillers(words)
}

// fencedCommand is the code of a fence that a shell is to run.
func (p *parts) fencedCommand(f fenced) string {
	if strings.HasPrefix(strings.TrimLeft(f.code, " \t\n"), "#!") || !f.closed {
		return ""
	}
	switch {
	case isShell(f.info):
		if p.prose != "" && !p.leadsIn(false) {
			return ""
		}
	case f.info != "" || !p.leadsIn(true):
		return ""
	}
	rows := strings.Split(f.code, "\n")
	comment := func(row string) bool { return strings.HasPrefix(strings.TrimSpace(row)+"#", "#") }
	if !slices.ContainsFunc(rows, func(row string) bool { return !comment(row) }) || strings.HasPrefix(strings.TrimSpace(f.code), promptMark) {
		return "" // nothing to run, or a session in which some lines are what was printed
	}
	return f.code
}

// leadsIn reports whether the words of a task only say that what follows is to be
// run: "Run:", "Then install the tools:". Strictly, they say no more than that.
func (p *parts) leadsIn(strict bool) bool {
	bare := strings.TrimRight(p.prose, ":. *_")
	if strings.ContainsAny(bare, ".!?;:\n") {
		return false
	}
	words := plainWords(bare, maxLead)
	if len(words) == maxLead {
		return false
	}
	words = instruction(words)
	if len(words) == 0 {
		return !strict // "Then:"
	}
	if !meansVerbs.has(words[0]) || strict && (!runVerbs.has(words[0]) || !onlyFillers(words[1:])) {
		return false
	}
	return !isCareful(bare, true) && !strings.Contains(" "+strings.Join(words, " ")+" ", " and ")
}

// isCareful reports whether a text has a word that makes it doubtful that a
// command with it is simply to be run, or asks something. For a block of code the
// words that speak of writing it count too.
func isCareful(text string, block bool) bool {
	if strings.ContainsAny(text, "?？؟") {
		return true
	}
	for field := range strings.FieldsSeq(text) {
		w := plainWord(field)
		if cautions.has(w) || block && authorings.has(w) {
			return true
		}
	}
	return false
}

var (
	assignment  = regexp.MustCompile(`^[A-Z0-9_]+=`)
	programPath = regexp.MustCompile(`^(?:\.{0,2}|~)/[\p{L}\p{Nd}/~_+.-]+$`)
	programName = regexp.MustCompile(`^[a-z][a-z\p{Nd}_+.-]*$`)

	// slots are places to be filled in: <name>, [options], YOUR_KEY or three dots.
	slots = regexp.MustCompile(`YOUR_|your-|xxx|(?:^|\s)["']*(?:\.\.\.|…|\[[A-Za-z]\S*\])["']*(?:\s|$)|<[A-Za-z](?:[A-Za-z0-9 _.-]{0,60}[A-Za-z0-9_.-])?>`)
)

// isCommand reports whether code looks like a command line. Strictly, it has to
// begin with a program that is known, or a path.
func isCommand(code string, strict bool) bool {
	words := strings.Fields(code)
	for len(words) > 0 && assignment.MatchString(words[0]) {
		words = words[1:]
	}
	if len(words) > 0 && words[0] == "sudo" {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	program := words[0]
	switch {
	case programPath.MatchString(program):
		return true
	case !programName.MatchString(program):
		return false
	case len(words) > 1 && strings.Trim(words[1], "=:+*/<>&|") == "":
		return false // an expression, unless it is redirected, which is rare enough
	case programs.has(program):
		return len(words) > 1 || program != "which" && program != "man"
	case strict, len(words) == 1, strings.Contains(program, "."):
		return false
	}
	return !functionWords.has(program) && !queries.has(program)
}
