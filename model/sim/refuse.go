package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/model"
)

// Parameters is a set of things in a request that a server can refuse.
type Parameters uint8

// The parameters, with what the setting refuse calls them.
const (
	Temperature Parameters = 1 << iota // temperature
	MaxTokens                          // max_tokens: the old name of the limit, where there are two
	Schema                             // schema: JSON that fits a schema
	Object                             // object: any JSON object
	Choices                            // n: several answers to one request
)

var parameterNames = [...]string{"temperature", "max_tokens", "schema", "object", "n"}

// Has reports whether p holds all of q.
func (p Parameters) Has(q Parameters) bool { return p&q == q }

// String lists the parameters as the setting does: temperature+n.
func (p Parameters) String() string {
	var names []string
	for i, name := range parameterNames {
		if p.Has(1 << i) {
			names = append(names, name)
		}
	}
	return strings.Join(names, "+")
}

func (p *Parameters) set(list string) error {
	*p = 0
	for name := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == '+' || r == ',' }) {
		i := slices.Index(parameterNames[:], name)
		if i < 0 {
			return fmt.Errorf("%q cannot be refused", name)
		}
		*p |= 1 << i
	}
	return nil
}

// The rest of this file is what becomes of a request whose parameters a server
// refuses once a client has learned to do without. In process there is nobody to
// learn, so it happens at once, and the answers are those that a client gets.

// greedy reports whether the request is for the likeliest answer.
func (m *Model) greedy(req *model.Request) bool {
	return req.Temperature != nil && *req.Temperature == 0 && !m.settings.Refuse.Has(Temperature)
}

// structured reports whether the answer is to be a JSON object.
func (m *Model) structured(req *model.Request) bool {
	return req.Output != nil &&
		(req.Output.Mode == model.JSONSchema && !m.settings.Refuse.Has(Schema) || !m.settings.Refuse.Has(Object))
}
