package tasks

import (
	"slices"
	"strings"
	"unicode"
)

// Work is the kind of a task whose questions have been answered.
func Work(text string) Kind { return dissect(text).work() }

// classify fills in what the text of a task says about it.
//
// A task with a command or other code in it is a [ToolCall]. One that asks a question,
// or says that something is open ("TBD", "not sure", "decide whether"), is a
// [Clarification]; that outweighs the rest, because a command that is in question must
// wait for the answer. Everything else is [Processing]. Question marks within code,
// quotes and addresses ask nothing. A command below words of caution is not taken as one.
func (t *Task) classify() {
	p := dissect(t.Text)
	cmd, fenced := p.literal()
	switch {
	case cmd != "":
		t.Kind = ToolCall
		careful := func(context string) bool { return isCareful(context, fenced) }
		if !slices.ContainsFunc(t.Context, careful) {
			t.Command = cmd
		}
	case p.asks():
		t.Kind = Clarification
	default:
		t.Kind = p.work()
	}
	for _, c := range t.Context {
		t.Attachments = append(t.Attachments, Attachments(c)...)
	}
	t.Attachments = unique(append(t.Attachments, Attachments(t.Text)...))
}

// parts are a task's text by what is words and what is code.
type parts struct {
	plain   string // without code and commands in lines of their own
	prose   string // the words, without blocks of any sort
	mask    mask   // of the words
	fences  []fenced
	prompts []string // commands after "$ "
	quoted  bool     // there are quotations, tables or indented code
	after   bool     // there are words after the first block
}

type fenced struct {
	info   string
	code   string
	closed bool
}

// dissect separates the words of a task from its blocks.
func dissect(text string) *parts {
	p := &parts{}
	lines := strings.Split(text, "\n")
	var words, plain []string
	blocks := false
	for i := 0; i < len(lines); i++ {
		line := strings.TrimFunc(lines[i], isBlank)
		info, size, closed := fenceAt(lines[i:])
		switch {
		case size > 0:
			code := lines[i+1 : i+size]
			if closed {
				code = code[:size-2]
			}
			p.fences = append(p.fences, fenced{info, strings.Join(code, "\n"), closed})
			blocks = true
			i += size - 1
			plain = append(plain, "")
			continue
		case strings.HasPrefix(line, promptMark) && !unicode.IsDigit(firstRune(strings.TrimLeft(line[len(promptMark):], " "))):
			cmd := strings.TrimLeft(line[len(promptMark):], " ")
			for strings.HasSuffix(cmd, `\`) && i+1 < len(lines) {
				i++
				cmd += "\n" + lines[i]
			}
			p.prompts = append(p.prompts, cmd)
			blocks = true
			plain = append(plain, "")
			continue
		case asideMark(line) != "", i > 0 && lines[i-1] == "" && isIndented(lines[i]):
			p.quoted, blocks = true, true
			plain = append(plain, lines[i])
			for i+1 < len(lines) && isIndented(lines[i]) && isIndented(lines[i+1]) {
				i++
				plain = append(plain, lines[i])
			}
			continue
		}
		if line != "" && blocks {
			p.after = true
		}
		words = append(words, line)
		plain = append(plain, lines[i])
	}
	p.plain = strings.Join(plain, "\n")
	p.prose = strings.TrimSpace(strings.Join(words, "\n"))
	p.mask = maskOf(p.prose)
	return p
}

func isIndented(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
}

// work is the kind of a task that has nothing to ask.
func (p *parts) work() Kind {
	if len(p.fences) > 0 || len(p.prompts) > 0 || len(codeSpans(p.prose)) > 0 {
		return ToolCall
	}
	return Processing
}

// instruction leaves out the words before the verb: "after that, please run".
func instruction(words []string) []string {
	for n := len(words) + 1; len(words) < n; {
		n = len(words)
		if n > 0 && leadWords.has(words[0]) {
			words = words[1:]
		} else if n > 1 && words[0] == "after" && words[1] == "that" {
			words = words[2:]
		}
	}
	return words
}

// maxLead is how many words are looked at for the verb.
const maxLead = 12

// asks reports whether the words leave something open.
func (p *parts) asks() bool {
	const opaque = inCode | inURL | inQuote
	for i, r := range p.prose {
		if !strings.ContainsRune("?？؟\u037E", r) || p.mask.is(i, opaque) {
			continue
		}
		rest := p.prose[i+len(string(r)):]
		next := firstRune(rest)
		if rest == "" || r != '?' || unicode.IsSpace(next) || strings.ContainsRune(closingMarks+"?!.,", next) {
			return true
		}
	}
	plain := []byte(p.prose)
	for i := range plain {
		if p.mask.is(i, opaque) {
			plain[i] = ' '
		}
	}
	for field := range strings.FieldsSeq(string(plain)) {
		switch strings.TrimFunc(field, func(r rune) bool { return !isWordRune(r) }) {
		case "TBD", "TBC":
			return true
		}
	}
	words := " " + strings.Join(plainWords(string(plain), len(plain)), " ") + " "
	return slices.ContainsFunc(openPoints, func(phrase string) bool { return strings.Contains(words, " "+phrase+" ") })
}

// openPoints say that the author has not decided.
var openPoints = []string{
	"not sure", "unsure", "ask me", "check with me", "confirm with me", "clarify with me", "discuss with me",
	"decide whether", "decide if", "decide which", "decide between", "decide on whether", "decide what", "decide how",
	"to be decided", "to be determined", "to be defined", "to be confirmed", "to be clarified", "undecided", "not decided", "not yet decided",
	"haven't decided", "have not decided", "i don't know", "i do not know", "we don't know", "don't know yet", "no idea",
	"open question", "needs clarification", "need clarification", "needs a decision", "need to decide",
	"it is unclear", "it's unclear", "unclear whether", "unclear if", "unclear which", "unclear what", "unclear how", "still unclear",
	"choose one of", "figure out with me",
}
