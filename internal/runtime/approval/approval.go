// Package approval says which effects wait for a person.
//
// # Rules
//
// A rule names a tool, and perhaps how one of its arguments begins:
//
//	Write                      every call of Write
//	Write(docs/)               a file below docs
//	Bash(git status)           a command that begins with "git status"
//	mcp__shop__order(item=A)   the argument called item begins with A
//	mcp__shop__*               every tool of the server shop
//
// Without a name the argument is the one that matters: the file, the command or the
// address of a built-in tool. Of any other tool nobody knows which one matters, so that
// a rule without a name is about all of them: one that allows fits if every argument
// does, one that denies if any does.
//
// A deny rule stops a call whatever else holds. An allow rule lets it pass without
// a person.
//
// # Paths
//
// What is judged is the file that would be opened, not how its path is spelled: dots
// and double slashes are taken out, absolute paths are taken relative to the workspace,
// and links are followed. A rule that allows goes by the file that is reached; a link
// is not the folder that it stands for. A rule that denies fits if any way to read the
// path, or the rule, leads to the place; there the case of letters, their Unicode form
// and characters that cannot be seen do not count, because some file systems pay no
// attention to them. Links can change between the judgement and the call.
//
// # Commands
//
// For Bash a rule that allows is about one plain command: a command line with
// operators, substitutions or redirections never fits it, because anything may follow.
// A rule that denies looks at each of the commands of a line. That is a help against
// accidents and no wall: a shell has many ways to say a thing.
package approval

import (
	"encoding/json"
	"fmt"
	"path/filepath"
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

	// Workspace is the folder that paths are relative to.
	Workspace string
}

// A Decision is what a policy says about a call.
type Decision struct {
	Ask    bool   // a person has to
	Denied bool   // nobody needs to be asked
	Reason string // why it passed or was denied
}

// Decide says what is to be done about an intent of a tool with the given effect.
func (p *Policy) Decide(i tool.Intent, effect tool.Class) Decision {
	w := newWorkspace(p.Workspace)
	for _, r := range p.Deny {
		if r.denies(i, w) {
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
		if r.allows(i, w) {
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
	argument = strings.TrimRight(argument, "*")
	if strings.HasSuffix(r.text, "()") {
		return Rule{}, fmt.Errorf("approval: %q has an empty prefix; leave the brackets out to mean every call", text)
	}
	if f := fieldForm.FindStringSubmatch(argument); f != nil && r.tool != bash {
		r.field, argument = f[1], f[2]
	}
	if r.tool != bash && strings.Contains(argument, "*") {
		return Rule{}, fmt.Errorf("approval: %q is no rule: it says how an argument begins, and * can only end it", text)
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

// all reports whether the rule is about every call of its tools.
func (r Rule) all() bool { return r.prefix == "" && r.field == "" }

// allows reports whether all that the rule is about fits.
func (r Rule) allows(i tool.Intent, w *workspace) bool {
	if !r.names(i.Tool) || r.all() {
		return r.names(i.Tool)
	}
	arguments := r.arguments(i)
	for _, a := range arguments {
		if !a.allowed(r.prefix, w) {
			return false
		}
	}
	return len(arguments) > 0
}

// denies reports whether anything that the rule is about fits.
func (r Rule) denies(i tool.Intent, w *workspace) bool {
	if !r.names(i.Tool) || r.all() {
		return r.names(i.Tool)
	}
	for _, a := range r.arguments(i) {
		if a.denied(r.prefix, w) {
			return true
		}
	}
	return false
}

// Names reports whether the rule is about calls of a tool.
func (r Rule) Names(tool string) bool { return r.names(tool) }

// String is the rule as it is written.
func (r Rule) String() string { return r.text }

// Allowing is the first of some rules that lets an intent pass.
func (p *Policy) Allowing(i tool.Intent, rules []Rule) (Rule, bool) {
	w := newWorkspace(p.Workspace)
	for _, r := range rules {
		if r.allows(i, w) {
			return r, true
		}
	}
	return Rule{}, false
}

// Suggest is the narrowest rule worth having that lets calls like an intent pass: the files
// of the same folder, the same command, or the tool. It reports false if no rule does.
func (p *Policy) Suggest(i tool.Intent) (string, bool) {
	var in struct {
		FilePath string `json:"file_path"`
		Command  string `json:"command"`
	}
	candidates := []string{i.Tool}
	if json.Unmarshal(i.Input, &in) == nil && mainArgument[i.Tool] == "file_path" && in.FilePath != "" {
		path := filepath.ToSlash(filepath.Clean(in.FilePath))
		candidates = []string{fmt.Sprintf("%s(%s)", i.Tool, path), i.Tool}
		if at := strings.LastIndexByte(path, '/'); at > 0 {
			candidates[0] = fmt.Sprintf("%s(%s)", i.Tool, path[:at+1])
		}
	} else if i.Tool == bash {
		candidates = []string{fmt.Sprintf("%s(%s)", bash, strings.TrimSpace(in.Command))}
	}
	for _, text := range candidates {
		if r, err := ParseRule(text); err == nil {
			if _, ok := p.Allowing(i, []Rule{r}); ok {
				return text, true
			}
		}
	}
	return "", false
}
