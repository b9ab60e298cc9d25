// Package access decides who may do what with the server.
//
// A person comes by a one-time link, which becomes a session in a cookie, and may do
// everything. A program comes with a token, which has a name, a scope and perhaps a budget.
// Whoever has neither stays out, as do pages of other sites and names that are not the
// server's. Secrets are random, 256 bits long, and only their hashes are kept.
package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/text/nearest"
)

// A Scope is what a token is good for. Each includes those before it.
type Scope string

// The scopes.
const (
	Read   Scope = "read"   // sees runs
	Write  Scope = "write"  // starts, pauses, resumes, cancels and removes them
	Answer Scope = "answer" // answers them, and may set what a maker.yaml needs trust for
)

var scopes = []Scope{Read, Write, Answer}

// ParseScope reads the name of a scope.
func ParseScope(name string) (Scope, error) {
	var names []string
	for _, s := range scopes {
		if string(s) == name {
			return s, nil
		}
		names = append(names, string(s))
	}
	return "", fmt.Errorf("there is no scope %q; %s", name, nearest.Among(name, names))
}

// Scopes are a scope and those that it includes.
func (s Scope) Scopes() []Scope { return scopes[:s.rank()] }

// rank is 0 for what is no scope, which allows nothing.
func (s Scope) rank() int {
	for i, other := range scopes {
		if s == other {
			return i + 1
		}
	}
	return 0
}

// A Caller is who asks. The zero value may do nothing.
type Caller struct {
	Name    string // of the token; "person" for a person
	Scope   Scope
	AllRuns bool    // not only their own
	Person  bool    // who came by a link
	Budget  *Budget // nil without one
}

// personName is no name of a token.
const personName = "person"

// person may do everything.
func person() Caller { return Caller{Name: personName, Scope: Answer, AllRuns: true, Person: true} }

// Owner is whose a run is that the caller starts. Those of the person are theirs like those of
// the command line, which belong to nobody in particular.
func (c Caller) Owner() string {
	if c.Person {
		return ""
	}
	return c.Name
}

// MaySee reports whether a run of this owner is there for the caller.
func (c Caller) MaySee(owner string) bool {
	return c.Scope.rank() >= Read.rank() && (c.AllRuns || c.Name != "" && c.Name == owner)
}

// MaySeeAll reports whether figures about all runs are for the caller.
func (c Caller) MaySeeAll() bool { return c.Scope.rank() >= Read.rank() && c.AllRuns }

// MayWrite reports whether the caller may start and end runs.
func (c Caller) MayWrite() bool { return c.Scope.rank() >= Write.rank() }

// MayAnswer reports whether the caller may answer what runs ask.
func (c Caller) MayAnswer() bool { return c.Scope.rank() >= Answer.rank() }

// MaySet reports whether the caller may set a setting of a run. What needs trust could run
// programs, let calls pass or send data elsewhere; and whatever else is about tools may take the
// place of what whoever runs the server has forbidden.
func (c Caller) MaySet(setting string) bool {
	d := config.Find(setting)
	if d != nil && (d.NeedsTrust || d.Group == config.Find("deny").Group) {
		return c.MayAnswer()
	}
	return c.MayWrite()
}

type callerKey struct{}

// From is who asks; nobody in a context that has not gone through a Guard.
func From(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// With is a context of a request of this caller.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// secretPrefix lets people and scanners of repositories recognise what a secret is.
const secretPrefix = "maker_"

// newSecret makes a secret of 256 bits.
func newSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return secretPrefix + base64.RawURLEncoding.EncodeToString(b)
}

// hashOf is what is kept of a secret. The secrets are random, so that it needs no salt and
// need not be slow.
func hashOf(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

// mostNamed is how long a name may be.
const mostNamed = 64

// CheckName says what is wrong with the name of a token.
func CheckName(name string) error {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	switch {
	case name == "":
		return fmt.Errorf("a token needs a name, such as ci")
	case len(name) > mostNamed:
		return fmt.Errorf("%d characters are too many for a name, want at most %d", len(name), mostNamed)
	case strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune(allowed, r) }):
		return fmt.Errorf("%q: want letters, digits, dots, dashes and underscores", name)
	case name == personName:
		return fmt.Errorf("%q is what people are called who come by a link; choose another name", name)
	}
	return nil
}
