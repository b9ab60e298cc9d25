package approval

import (
	"bytes"
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/tool"
)

const bash = "Bash"

// mainArgument is what a rule without a name is about, of each built-in tool.
var mainArgument = map[string]string{
	bash: "command", "Read": "file_path", "Write": "file_path", "Edit": "file_path", "Glob": "path", "Grep": "path",
	"WebFetch": "url", "WebSearch": "query", "AskUserQuestion": "question",
}

// An argument is a text in the input of a call.
type argument struct {
	text string
	kind kind
}

// kind is what an argument is, as far as that is known.
type kind int

const (
	anything kind = iota // of a tool that nobody knows: perhaps a path, perhaps an address
	file                 // a path that a built-in tool opens
	command
)

// arguments are those that the rule is about. Names are told apart by their letters
// only, not by their case: programs differ in that.
func (r Rule) arguments(i tool.Intent) []argument {
	var input any
	dec := json.NewDecoder(bytes.NewReader(i.Input))
	dec.UseNumber()
	if dec.Decode(&input) != nil {
		return nil
	}
	field, known := r.field, mainArgument[i.Tool]
	if field == "" {
		field = known
	}
	if field == "" {
		return leaves(nil, input, anything)
	}
	k := anything
	switch {
	case i.Tool == bash && strings.EqualFold(field, known):
		k = command
	case known != "" && (strings.EqualFold(field, "file_path") || strings.EqualFold(field, "path")):
		k = file
	}
	return named(nil, input, field, k)
}

// named adds the values of a name, which may be one with dots that leads inside.
func named(list []argument, value any, name string, k kind) []argument {
	fields, ok := value.(map[string]any)
	if !ok {
		return list
	}
	for field, inner := range fields {
		if strings.EqualFold(field, name) {
			list = leaves(list, inner, k)
		} else if first, rest, ok := strings.Cut(name, "."); ok && strings.EqualFold(field, first) {
			list = named(list, inner, rest, k)
		}
	}
	return list
}

// leaves adds all texts in a value.
func leaves(list []argument, value any, k kind) []argument {
	switch v := value.(type) {
	case string:
		return append(list, argument{v, k})
	case []any:
		for _, inner := range v {
			list = leaves(list, inner, k)
		}
		return list
	case map[string]any:
		for _, inner := range v {
			list = leaves(list, inner, k)
		}
		return list
	default:
		text, err := json.Marshal(v)
		if err != nil {
			return list // it was JSON a moment ago
		}
		return append(list, argument{string(text), k})
	}
}

// allowed reports whether the argument surely begins with prefix.
func (a argument) allowed(prefix string, w *workspace) bool {
	switch a.kind {
	case command:
		return !strings.ContainsAny(a.text, shellOperators) && beginsWithWords(prefix, strings.FieldsFunc(a.text, isBlank))
	case file:
		return w.reaches(a.text, prefix, false)
	}
	if base, ok := readAddress(prefix); ok {
		at, ok := readAddress(a.text)
		return ok && !climbs(a.text) && base.covers(at)
	}
	return !climbs(a.text) && w.reaches(a.text, prefix, true)
}

// denied reports whether the argument begins with prefix in any way to read it.
func (a argument) denied(prefix string, w *workspace) bool {
	if a.kind == command {
		for _, c := range strings.FieldsFunc(a.text, func(c rune) bool { return strings.ContainsRune(shellOperators, c) }) {
			if beginsWithWords(prefix, strings.Fields(c)) || beginsWithWords(prefix, plainWords(c)) {
				return true
			}
		}
		return false
	}
	if base, ok := readAddress(prefix); ok {
		if at, ok := readAddress(a.text); ok && base.covers(at) {
			return true
		}
	}
	return w.mayReach(a.text, prefix)
}

// shellOperators end a plain command, or put something else in its place.
const shellOperators = ";&|`$<>(){}\n\r\\"

// isBlank is true of what separates the words of a command for a shell.
func isBlank(r rune) bool { return r == ' ' || r == '\t' }

// beginsWithWords reports whether the words of a command begin with those of prefix, so
// that "git" does not fit "gitk".
func beginsWithWords(prefix string, words []string) bool {
	wanted := strings.Fields(prefix)
	return len(wanted) <= len(words) && slices.Equal(words[:len(wanted)], wanted)
}

// plainWords are the words of a command without quotes, settings before it, and the
// folder of its program.
func plainWords(command string) []string {
	words := strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(command))
	for len(words) > 0 && strings.Contains(words[0], "=") {
		words = words[1:]
	}
	if len(words) > 0 {
		words[0] = path.Base(words[0])
	}
	return words
}

// climbs reports whether a text goes up in some tree, however that is written.
func climbs(text string) bool {
	for range 3 {
		if strings.Contains(text, "..") { // servers differ in what they take for a name
			return true
		}
		plain, err := url.PathUnescape(text)
		if err != nil || plain == text {
			break
		}
		text = plain
	}
	return false
}

// An address is one of the web.
type address struct{ scheme, host, path string }

// readAddress reads a text that has a scheme and a host. One with a name or a password
// in it is none: it looks like the address of another host.
func readAddress(text string) (address, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil {
		return address{}, false
	}
	a := address{strings.ToLower(u.Scheme), strings.ToLower(u.Host), clean(u.Path)}
	for scheme, port := range map[string]string{"http": ":80", "https": ":443"} {
		if a.scheme == scheme {
			a.host = strings.TrimSuffix(a.host, port)
		}
	}
	return a, true
}

// covers reports whether an address is on the same host and begins with the path.
func (a address) covers(b address) bool {
	return a.scheme == b.scheme && a.host == b.host && (a.path == "" || strings.HasPrefix(b.path, a.path))
}
