package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/maker-mdap/maker/tool"
)

// Config says which servers there are, in the form that other programs use too.
// It comes from [ParseConfig], [FromMap] or a YAML document; what a program fills
// in itself needs no [Config.Expand].
type Config struct {
	Servers map[string]Server `json:"mcpServers" yaml:"mcpServers"`
}

// A Server is how to reach one server: a command that speaks MCP on its stdin and
// stdout, or a URL that speaks it over streamable HTTP.
type Server struct {
	Type string `json:"type,omitempty" yaml:"type,omitempty"` // "stdio" or "http"; may be left out

	Command string            `json:"command,omitempty" yaml:"command,omitempty"`
	Args    []string          `json:"args,omitempty" yaml:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty" yaml:"env,omitempty"` // beside a minimal environment
	Cwd     string            `json:"cwd,omitempty" yaml:"cwd,omitempty"`

	URL     string            `json:"url,omitempty" yaml:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty" yaml:"headers,omitempty"`

	// Tools are the only ones to be used, with descriptions that replace the
	// server's; nil means all that the server has.
	Tools []tool.Declared `json:"tools,omitempty" yaml:"tools,omitempty"`

	// Trusted says that the server's word is taken for which of its tools only read
	// and which may be repeated.
	Trusted bool `json:"trusted,omitempty" yaml:"trusted,omitempty"`

	Required bool `json:"required,omitempty" yaml:"required,omitempty"` // no run without it
	Disabled bool `json:"disabled,omitempty" yaml:"disabled,omitempty"` // as if it were not there

	StartTimeout Duration `json:"start_timeout,omitzero" yaml:"start_timeout,omitempty"` // 0 means 30 s
	CallTimeout  Duration `json:"call_timeout,omitzero" yaml:"call_timeout,omitempty"`   // 0 means 2 min

	secrets []string // values of variables that are nobody's business
}

const (
	defaultStartTimeout = 30 * time.Second
	defaultCallTimeout  = 2 * time.Minute
)

func (s Server) startTimeout() time.Duration {
	return cmp.Or(time.Duration(s.StartTimeout), defaultStartTimeout)
}

func (s Server) callTimeout() time.Duration {
	return cmp.Or(time.Duration(s.CallTimeout), defaultCallTimeout)
}

// Duration is a time.Duration that is written as text, such as "30s".
type Duration time.Duration

// MarshalText writes the duration as Go does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads a duration such as "1m30s".
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed <= 0 {
		return fmt.Errorf("%q is no duration such as \"30s\"", text)
	}
	*d = Duration(parsed)
	return nil
}

// Expand returns the configuration with the variables in it replaced by their
// values, and checked. Variables are written ${NAME} or ${NAME:-default}; lookup
// gives their values, nil means the environment's.
func (c Config) Expand(lookup func(name string) (string, bool)) (Config, error) {
	if lookup == nil {
		lookup = os.LookupEnv
	}
	out := Config{Servers: map[string]Server{}}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		s := c.Servers[name]
		// A server may be disabled because its variables are not there.
		if !s.Disabled {
			var err error
			if s, err = s.expand(lookup); err != nil {
				problems = append(problems, fmt.Errorf("mcp: server %q: %w", name, err))
				continue
			}
		}
		out.Servers[name] = s
	}
	if err := errors.Join(problems...); err != nil {
		return Config{}, err
	}
	return out, out.check()
}

// check reports everything that is wrong.
func (c Config) check() error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		err := checkName(name)
		if err == nil && !c.Servers[name].Disabled {
			err = c.Servers[name].check()
		}
		if err == nil && c.Servers[name].Disabled && c.Servers[name].Required {
			err = errors.New("it is both required and disabled; drop one of the two")
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("mcp: server %q: %w", name, err))
		}
	}
	return errors.Join(problems...)
}

// longestName leaves room for the names of tools.
const longestName = 64

var validName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// checkName allows what can be part of a tool's name and told apart from the rest
// of it.
func checkName(name string) error {
	switch {
	case !validName.MatchString(name):
		return errors.New("a name starts with a letter and has letters, digits, - and _ only; rename it")
	case strings.Contains(name, "__"), name == tool.Builtin:
		return fmt.Errorf("a name has no __ in it and is not %q; rename it", tool.Builtin)
	case len(name) > longestName:
		return fmt.Errorf("a name has at most %d characters; rename it", longestName)
	}
	return nil
}

func (s Server) check() error {
	switch s.transport() {
	case stdioTransport:
		switch {
		case s.Command == "":
			return errors.New("command is missing")
		case s.URL != "":
			return errors.New("command and url exclude each other")
		case len(s.Headers) > 0:
			return errors.New("headers go with a url, not with a command")
		}
	case httpTransport:
		if s.Command != "" || len(s.Args) > 0 || len(s.Env) > 0 || s.Cwd != "" {
			return errors.New("command, args, env and cwd do not go with a url")
		}
		if err := checkURL(s.URL); err != nil {
			return fmt.Errorf("url: %w", err)
		}
	case "":
		return errors.New("it has neither command nor url")
	default:
		if s.Type == "sse" {
			return errors.New(`type: the transport "sse" was replaced by streamable HTTP in MCP itself and is not supported; if the server offers that, say "http"`)
		}
		return fmt.Errorf(`type: there is no transport %q; there are "stdio" and "http"`, s.Type)
	}
	return s.checkTools()
}

func (s Server) checkTools() error {
	if s.Tools != nil && len(s.Tools) == 0 {
		return errors.New("tools is empty; leave it out to have all of them, or disable the server")
	}
	for i, t := range s.Tools {
		if t.Name == "" {
			return fmt.Errorf("tools[%d].name is missing", i)
		}
		if slices.ContainsFunc(s.Tools[:i], func(u tool.Declared) bool { return u.Name == t.Name }) {
			return fmt.Errorf("tools[%d]: %q is there twice", i, t.Name)
		}
	}
	return nil
}

func checkURL(text string) error {
	if text == "" {
		return errors.New("it is missing")
	}
	u, err := url.Parse(text)
	if err != nil {
		return errors.New("it cannot be read as a URL") // the text may have a key in it
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("want http:// or https:// and a host")
	}
	return nil
}

// The transports, as health reports name them.
const (
	stdioTransport = "stdio"
	httpTransport  = "http"
)

// transport is what the server speaks over; "" if it does not say, and Type if
// that is none of ours.
func (s Server) transport() string {
	switch s.Type {
	case "stdio":
		return stdioTransport
	case "http", "streamable-http", "streamableHttp":
		return httpTransport
	case "":
		if s.Command != "" {
			return stdioTransport
		}
		if s.URL != "" {
			return httpTransport
		}
	}
	return s.Type
}
