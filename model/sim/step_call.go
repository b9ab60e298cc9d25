package sim

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/maker-mdap/maker/model/sim/internal/problem"
)

// callInput makes the input of a call from what the instructions say, and from the
// description where they do not.
func (t *stepTask) callInput(tool, instructions string) callInput {
	both := instructions + "\n" + t.description
	switch tool {
	case "Bash":
		if strings.HasPrefix(instructions, appendTo) {
			return callInput{"command": "printf %s " + shellWord(t.content()) + " >> " + shellWord(t.fileIn(both))}
		}
		return callInput{"command": t.command(instructions)}
	case "Read":
		return callInput{"file_path": t.fileIn(both)}
	case "Write":
		return callInput{"file_path": t.fileIn(both), "content": t.content()}
	case "WebFetch":
		return callInput{"url": strings.TrimRight(urlForm.FindString(both), ".,;:!?")}
	case "Glob":
		if pattern, ok := quotedText(instructions); ok {
			return callInput{"pattern": pattern}
		}
		return callInput{"pattern": firstOf(starWord.FindAllString(both, 1))}
	case "Grep":
		return t.search(instructions)
	}
	input := callInput{}
	if at := strings.IndexByte(instructions, '{'); at >= 0 {
		if json.NewDecoder(strings.NewReader(instructions[at:])).Decode(&input) != nil || input == nil {
			return callInput{}
		}
	}
	return input
}

var (
	starWord   = regexp.MustCompile(`[\w./*-]*\*[\w./*-]*`)
	stringForm = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	pathForm   = regexp.MustCompile(fileForm)
	reference  = regexp.MustCompile(`\b((?:step|done)_\d+_output)((?:\.[\w-]+)+)`)
	runInText  = regexp.MustCompile(`(?i)\brun\s+(?:(?:the\s+)?command\s*:?\s+)?(\S.*)`)
	anyCode    = regexp.MustCompile("(?s)`+([^`]+)`")
)

// quotedText is the first text in quotes or backquotes. Quotes are read as this
// planner writes them.
func quotedText(text string) (string, bool) {
	if q := stringForm.FindString(text); q != "" {
		var s string
		if json.Unmarshal([]byte(q), &s) == nil {
			return s, true
		}
	}
	if m := anyCode.FindStringSubmatch(text); m != nil {
		return m[1], true
	}
	return "", false
}

// command is the command line to run.
func (t *stepTask) command(instructions string) string {
	if command, ok := strings.CutPrefix(instructions, runCommand); ok {
		return command
	}
	for _, text := range []string{instructions, t.description} {
		if m := anyCode.FindStringSubmatch(text); m != nil {
			return strings.TrimSpace(m[1])
		}
	}
	for _, text := range []string{instructions, t.description} {
		if m := runInText.FindStringSubmatch(text); m != nil {
			return strings.TrimRight(strings.TrimSpace(m[1]), ".")
		}
	}
	return strings.TrimSpace(instructions)
}

// search is the input of Grep.
func (t *stepTask) search(instructions string) callInput {
	pattern, ok := quotedText(instructions)
	where := ""
	if rest, found := strings.CutPrefix(instructions, searchFor); found {
		if _, rest, found = strings.Cut(rest, quoted(pattern)+" in "); found {
			where, _ = quotedText(rest)
		}
	} else if in := inForm.FindStringSubmatch(instructions); in != nil && ok {
		where = firstOf(in[1:])
	}
	if !ok {
		pattern = capitals.FindString(instructions + " " + t.description)
	}
	input := callInput{"pattern": pattern, "output_mode": "content"}
	if where != "" && where != pattern && !vague.MatchString(where) {
		input["path"] = where
	}
	return input
}

// fileIn is the file that a text names: the value of an input that it refers to, a
// text in quotes, or a word that looks like a file.
func (t *stepTask) fileIn(text string) string {
	if m := reference.FindStringSubmatch(text); m != nil {
		if s, ok := t.lookUp(m[1] + m[2]); ok {
			return s
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, readFrom) || strings.HasPrefix(line, writeTo) || strings.HasPrefix(line, appendTo) {
			if s, ok := quotedText(line); ok {
				return s
			}
		}
	}
	for _, form := range []*regexp.Regexp{writeForm, addForm, readForm, pathForm} {
		if m := form.FindStringSubmatch(text); m != nil {
			return firstOf(m[len(m)-3:])
		}
	}
	return ""
}

// file is the file that the step writes, for its report.
func (t *stepTask) file() string {
	for _, tool := range t.tools {
		if tool == "Write" || tool == "Read" || tool == "Edit" {
			return t.fileIn(t.instructions + "\n" + t.description)
		}
	}
	return ""
}

// refers finds words that stand for what an earlier step found.
var refers = regexp.MustCompile(`(?i)\b(?:it|them|this|that|these|those|the|its|their|both|all|everything|results?|outputs?|summary)\b|_output\b`)

// content is the text to write: the one in quotes, or the one that the inputs
// hold, or the words before the name of the file.
func (t *stepTask) content() string {
	for _, form := range []*regexp.Regexp{writeForm, addForm} {
		m := form.FindStringSubmatch(t.description)
		if m == nil {
			continue
		}
		if q := textForm.FindStringSubmatch(m[1]); q != nil {
			return q[1] + q[2] + q[3] + "\n"
		}
		if words := strings.TrimSpace(m[1]); words != "" && (len(t.inputs) == 0 || !refers.MatchString(words)) {
			return words + "\n"
		}
	}
	var b strings.Builder
	for _, in := range t.inputs {
		b.WriteString(strings.TrimRight(in.text(), "\n") + "\n")
	}
	if b.Len() == 0 {
		return t.description + "\n"
	}
	return b.String()
}

// spoilCall returns a call that is wrong, and harmless if it should win: a command
// that is shown instead of being run, a text that is not quite the one to write.
// For other tools there is none: nil.
func spoilCall(tool string, input callInput, s problem.Slip) callInput {
	switch tool {
	case "Bash":
		command, _ := input["command"].(string)
		wrong := "echo " + shellWord(command)
		if s.Rival > 0 {
			wrong += fmt.Sprint(" # ", s.Rival)
		}
		return callInput{"command": wrong}
	case "Write":
		content, _ := input["content"].(string)
		return callInput{"file_path": input["file_path"], "content": textValue(content).off(s).text + "\n"}
	}
	return nil
}

// shellWord quotes a text for a shell.
func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// fit shortens a text so that the answer that it is a part of is not too long.
func (t *stepTask) fit(text string) string { return clip(text, t.room) }

// fitAll keeps as many texts as fit.
func (t *stepTask) fitAll(texts []string) []string {
	if t.room == 0 {
		return texts
	}
	left := t.room
	for i, s := range texts {
		if left -= len(s) + 4; left < 0 {
			return texts[:i:i]
		}
	}
	return texts
}
