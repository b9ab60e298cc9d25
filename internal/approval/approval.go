// Package approval says which effects wait for a person.
//
// # Rules
//
// A rule names a tool, and perhaps how its argument begins:
//
//	Write                    every call of Write
//	Write(docs/)             a file_path that begins with docs/
//	Bash(git status)         a command that begins with "git status"
//	mcp__shop__order(item=A) the argument called item begins with A
//	mcp__shop__*             every tool of the server shop
//
// Without a name the argument is the one that matters most: command, file_path,
// url, path, query or pattern, whichever the call has first in this order.
//
// A deny rule stops a call whatever else holds. An allow rule lets it pass without
// a person. For Bash a rule that allows is about one plain command: a command line
// with operators, substitutions or redirections never fits it, because anything
// may follow. A rule that denies looks at each of the commands of a line. That is
// a help against accidents and no wall: a shell has many ways to say a thing.
package approval

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/maker-mdap/maker/tool"
)

// Mode says which effects wait for a person.
type Mode string

// The modes.
const (
	None   Mode = "none"   // none do
	Mutate Mode = "mutate" // those that no rule allows
	All    Mode = "all"    // all do, whatever the rules allow
)

// A Policy is a mode with its rules. The zero value lets everything pass.
type Policy struct {
	Mode  Mode
	Allow []Rule
	Deny  []Rule
}

// A Decision is what a policy says about a call.
type Decision struct {
	Ask    bool   // a person has to
	Denied bool   // nobody needs to be asked
	Reason string // why it passed or was denied
}

// Decide says what is to be done about an intent of a tool with the given effect.
func (p *Policy) Decide(i tool.Intent, effect tool.Effect) Decision {
	for _, r := range p.Deny {
		if r.denies(i) {
			return Decision{Denied: true, Reason: "rule: deny " + r.text}
		}
	}
	switch p.Mode {
	case All:
		return Decision{Ask: true}
	case None, "":
		return Decision{Reason: "policy: approve none"}
	}
	for _, r := range p.Allow {
		if r.allows(i) {
			return Decision{Reason: "rule: allow " + r.text}
		}
	}
	if effect != tool.Mutate {
		return Decision{Reason: "it changes nothing"}
	}
	return Decision{Ask: true}
}

// A Rule fits some calls.
type Rule struct {
	text   string
	tool   string
	any    bool // tool is the beginning of a name
	field  string
	prefix string
}

var ruleForm = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*)(\*?)(?:\(([\s\S]*)\))?$`)

// fieldForm is an argument by name. A command such as "A=1 make" is not meant by
// it, so for the tools whose main argument is free text it does not apply.
var fieldForm = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.-]*)=([\s\S]*)$`)

// ParseRule reads a rule.
func ParseRule(text string) (Rule, error) {
	m := ruleForm.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return Rule{}, fmt.Errorf("approval: %q is no rule; want TOOL or TOOL(PREFIX), such as Bash(git status) or Write(docs/)", text)
	}
	r := Rule{text: strings.TrimSpace(text), tool: m[1], any: m[2] == "*"}
	argument := strings.TrimSuffix(m[3], ":*") // a form that other programs have
	argument = strings.TrimSuffix(argument, "*")
	if strings.HasSuffix(r.text, "()") {
		return Rule{}, fmt.Errorf("approval: %q has an empty prefix; leave the brackets out to mean every call", text)
	}
	if f := fieldForm.FindStringSubmatch(argument); f != nil && r.tool != "Bash" {
		r.field, argument = f[1], f[2]
	}
	r.prefix = argument
	return r, nil
}

// ParseRules reads a list of rules.
func ParseRules(texts []string) ([]Rule, error) {
	var rules []Rule
	for _, text := range texts {
		r, err := ParseRule(text)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func (r Rule) names(tool string) bool {
	if r.any {
		return strings.HasPrefix(tool, r.tool)
	}
	return tool == r.tool
}

func (r Rule) allows(i tool.Intent) bool {
	if !r.names(i.Tool) {
		return false
	}
	if r.prefix == "" && r.field == "" {
		return true
	}
	argument, ok := r.argument(i)
	if !ok {
		return false
	}
	if i.Tool == "Bash" {
		return !strings.ContainsAny(argument, shellOperators) && beginsWithWords(argument, r.prefix)
	}
	if isPath(argument, i) {
		return strings.HasPrefix(argument, r.prefix) && !strings.Contains(argument, "..")
	}
	return strings.HasPrefix(argument, r.prefix)
}

func (r Rule) denies(i tool.Intent) bool {
	if !r.names(i.Tool) {
		return false
	}
	if r.prefix == "" && r.field == "" {
		return true
	}
	argument, ok := r.argument(i)
	if !ok {
		return false
	}
	if i.Tool != "Bash" {
		return strings.HasPrefix(strings.TrimPrefix(argument, "./"), r.prefix) || strings.HasPrefix(argument, r.prefix)
	}
	for _, command := range strings.FieldsFunc(argument, func(c rune) bool { return strings.ContainsRune(shellOperators, c) }) {
		if beginsWithWords(command, r.prefix) {
			return true
		}
	}
	return false
}

// shellOperators end a plain command, or put something else in its place.
const shellOperators = ";&|`$<>(){}\n\r\\"

// beginsWithWords reports whether a command begins with the words of prefix, so
// that "git" does not fit "gitk".
func beginsWithWords(command, prefix string) bool {
	command, prefix = strings.Join(strings.Fields(command), " "), strings.Join(strings.Fields(prefix), " ")
	rest, ok := strings.CutPrefix(command, prefix)
	return ok && (rest == "" || rest[0] == ' ')
}

// isPath reports whether the argument that a rule is about is a file.
func isPath(argument string, i tool.Intent) bool {
	text, ok := mainArgument(i, "file_path", "path")
	return ok && text == argument
}

// argument is the text that the rule looks at.
func (r Rule) argument(i tool.Intent) (string, bool) {
	if r.field != "" {
		return mainArgument(i, r.field)
	}
	return mainArgument(i, "command", "file_path", "url", "path", "query", "pattern")
}

// mainArgument is the first of the named arguments that the call has.
func mainArgument(i tool.Intent, names ...string) (string, bool) {
	var input map[string]json.RawMessage
	if json.Unmarshal(i.Input, &input) != nil {
		return "", false
	}
	for _, name := range names {
		raw, ok := input[name]
		if !ok {
			continue
		}
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw) // a number, say
		}
		return text, true
	}
	return "", false
}
