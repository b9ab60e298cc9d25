package mcp

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// variable matches ${NAME} and ${NAME:-default}. Everything else with a dollar in
// it is for somebody else, such as a shell.
var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`)

// expand returns the server with its variables replaced, and remembers the values
// that are secret.
func (s Server) expand(lookup func(string) (string, bool)) (Server, error) {
	var problems []error
	secrets := slices.Clone(s.secrets)
	replace := func(field, text string) string {
		return variable.ReplaceAllStringFunc(text, func(match string) string {
			parts := variable.FindStringSubmatch(match)
			name, fallback, hasFallback := parts[1], strings.TrimPrefix(parts[2], ":-"), parts[2] != ""
			value, ok := lookup(name)
			switch {
			case strings.Contains(fallback, "${"):
				problems = append(problems, fmt.Errorf("%s: the default of %s has a variable in it, which cannot be", field, name))
			case hasFallback && value == "":
				return fallback
			case !ok:
				problems = append(problems, fmt.Errorf("%s: the variable %s is not set; set it, or give a default: ${%s:-default}", field, name, name))
			case soundsSecret(name):
				secrets = append(secrets, value)
			}
			return value
		})
	}
	replaceAll := func(field string, texts map[string]string) map[string]string {
		out := maps.Clone(texts)
		for _, name := range slices.Sorted(maps.Keys(out)) {
			out[name] = replace(field+"."+name, out[name])
		}
		return out
	}
	s.Command = replace("command", s.Command)
	s.Args = slices.Clone(s.Args)
	for i := range s.Args {
		s.Args[i] = replace(fmt.Sprintf("args[%d]", i), s.Args[i])
	}
	s.Env = replaceAll("env", s.Env)
	s.Cwd = replace("cwd", s.Cwd)
	s.URL = replace("url", s.URL)
	s.Headers = replaceAll("headers", s.Headers)
	s.secrets = secrets
	return s, errors.Join(problems...)
}

var secretWords = regexp.MustCompile(`(?i)key|token|secret|passw|credential|auth|cookie|session|private`)

// soundsSecret judges a value by its name. Values such as paths must not be
// taken for secrets, or they would be blanked out wherever they appear.
func soundsSecret(name string) bool { return secretWords.MatchString(name) }

// Secrets returns the values in the configuration that should not be written
// anywhere: those whose variable, header or parameter has a name like a key's.
func (c Config) Secrets() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		all = append(all, c.Servers[name].allSecrets()...)
	}
	return all
}

func (s Server) allSecrets() []string {
	all := slices.Clone(s.secrets)
	for _, values := range []map[string]string{s.Env, s.Headers} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if !soundsSecret(name) {
				continue
			}
			all = append(all, values[name])
			// Authorization: Bearer KEY
			if _, key, ok := strings.Cut(values[name], " "); ok {
				all = append(all, strings.TrimSpace(key))
			}
		}
	}
	if u, err := url.Parse(s.URL); err == nil {
		if password, ok := u.User.Password(); ok {
			all = append(all, password)
		}
		query := u.Query()
		for _, name := range slices.Sorted(maps.Keys(query)) {
			for _, value := range query[name] {
				if soundsSecret(name) {
					all = append(all, value, url.QueryEscape(value))
				}
			}
		}
	}
	return all
}
