package solver

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/text/jsonpart"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// A Proposal is how somebody would split a problem.
type Proposal struct {
	PartA     string `json:"subproblem_a"`
	PartB     string `json:"subproblem_b"`
	Compose   string `json:"compose_fn"`
	IsAtomic  bool   `json:"is_atomic"`
	Rationale string `json:"rationale"`
}

// A Solution is the answer to a problem that is a part of another.
type Solution struct {
	Solution   string  `json:"solution"`
	Confidence float64 `json:"confidence"`
	Work       string  `json:"work_shown"`
}

// A Conclusion is what the whole task gets.
type Conclusion struct {
	Answer     string  `json:"answer"`
	Confidence float64 `json:"confidence"`
	Support    Support `json:"support" optional:"true"`
}

// Support is what an answer rests on.
type Support struct {
	Summary   string `json:"summary" optional:"true"`
	Equations list   `json:"equations" optional:"true"`
	Points    list   `json:"points" optional:"true"`
}

// UnmarshalJSON implements [json.Unmarshaler]. Nobody votes on the support, so that what
// cannot be read of it is left out, and the answer stays. A text is the summary.
func (s *Support) UnmarshalJSON(data []byte) error {
	*s = Support{}
	var parts struct{ Summary, Equations, Points json.RawMessage }
	if json.Unmarshal(data, &parts) != nil {
		parts.Summary = data
	}
	if json.Unmarshal(parts.Summary, &s.Summary) != nil {
		s.Summary = ""
	}
	for _, part := range []struct {
		raw json.RawMessage
		to  *list
	}{{parts.Equations, &s.Equations}, {parts.Points, &s.Points}} {
		if json.Unmarshal(part.raw, part.to) != nil {
			*part.to = nil
		}
	}
	return nil
}

// A list is texts. In an answer a point may also be an object with a label and values,
// {"label": "P1", "values": {"x": 1}}, which becomes the text "P1: x = 1".
type list []string

// UnmarshalJSON implements [json.Unmarshaler].
func (l *list) UnmarshalJSON(data []byte) error {
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return err
	}
	*l = list{}
	for _, raw := range items {
		var text string
		if err := json.Unmarshal(raw, &text); err == nil {
			*l = append(*l, text)
			continue
		}
		var point struct {
			Label  string          `json:"label"`
			Values json.RawMessage `json:"values"`
		}
		if err := json.Unmarshal(raw, &point); err != nil {
			return err
		}
		var values []string
		var named map[string]json.RawMessage
		var row []json.RawMessage
		if point.Values != nil && json.Unmarshal(point.Values, &named) != nil && json.Unmarshal(point.Values, &row) != nil {
			row = []json.RawMessage{point.Values}
		}
		for _, name := range slices.Sorted(maps.Keys(named)) {
			values = append(values, name+" = "+strings.Trim(string(named[name]), `"`))
		}
		for _, value := range row {
			values = append(values, strings.Trim(string(value), `"`))
		}
		*l = append(*l, strings.Trim(point.Label+": "+strings.Join(values, ", "), ": "))
	}
	return nil
}

// A Check says whether an answer is complete.
type Check struct {
	Requirements []event.Requirement `json:"requirements"`
	Complete     bool                `json:"complete"`
	Missing      []string            `json:"missing_work"`
}

// A Result is the output of a run.
type Result struct {
	Conclusion

	// Status is how the answer came about: "direct" without splitting the problem,
	// "composed" from its parts, or, if the run ended without success, "draft", or "parts"
	// if it lists what the parts came to that were solved.
	Status string `json:"status"`

	// Remarks are what did not go as planned, such as a limit that was reached.
	Remarks []string `json:"remarks,omitempty"`
}

// The statuses of a result.
const (
	StatusDirect   = "direct"
	StatusComposed = "composed"
	StatusDraft    = "draft"
	StatusParts    = "parts"
)

// DraftConfidence is what a draft says about itself, whoever wrote it.
const DraftConfidence = 0.3

// The statuses of a requirement.
const (
	Addressed = "ADDRESSED"
	Missing   = "MISSING"
)

// The red flags of proposals, beside those of package redflag.
const (
	FlagTautology = "tautology" // a part is the whole, or its sibling, in other white space
	FlagCycle     = "cycle"     // a part is something that it is itself a part of
	FlagGrowth    = "growth"    // a part is longer than the whole
	FlagPattern   = "pattern"   // of answers that are none in this domain
	FlagWrong     = "wrong"     // the domain knows that it is wrong
)

// Normal returns the form in which problems are compared: Unicode normal form C,
// single spaces, no full stop at the end. Letter case and all other punctuation
// count: 5! is not 5.
func Normal(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return text // json.Marshal of a string does not fail
	}
	key, err := vote.Canonical(quoted, vote.KeyOptions{})
	if err != nil {
		return text // beyond all limits: it agrees with itself
	}
	var normal string
	if json.Unmarshal([]byte(key), &normal) != nil {
		return text
	}
	return strings.TrimRight(normal, ".。 ")
}

// parse reads text as one JSON object that has the fields of T, at every depth, none of
// them null but for those that are optional. Others, a Markdown fence and prose around it
// are no part of it. Nothing is repaired.
func parse[T any](text string) (v T, flag *redflag.Flag) {
	raw := json.RawMessage(unfenced(text))
	if _, err := vote.Canonical(raw, vote.KeyOptions{KeepSpace: true}); err != nil {
		return v, redflag.New(redflag.SchemaInvalid, "%v", err)
	}
	if flag := lacking(raw, reflect.TypeFor[T](), "the answer"); flag != nil {
		return v, flag
	}
	err := json.Unmarshal(raw, &v)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return v, redflag.New(redflag.SchemaInvalid, "field %q is %s", wrong.Field, wrong.Value)
	}
	if err != nil {
		return v, redflag.New(redflag.SchemaInvalid, "%v", err)
	}
	return v, nil
}

// lacking reports what a value lacks to be of a type.
func lacking(raw json.RawMessage, t reflect.Type, what string) *redflag.Flag {
	if string(raw) == "null" && t.Kind() != reflect.Struct {
		return redflag.New(redflag.MissingField, "%s is null", what)
	}
	if t == reflect.TypeFor[Support]() {
		return nil // which reads itself
	}
	switch t.Kind() {
	case reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return nil // of another type, which is seen when it is read
		}
		for _, item := range items {
			if flag := lacking(item, t.Elem(), "an element of "+what); flag != nil {
				return flag
			}
		}
	case reflect.Struct:
		var got map[string]json.RawMessage
		if json.Unmarshal(raw, &got) != nil || got == nil {
			return redflag.New(redflag.SchemaInvalid, "%s is no JSON object", what)
		}
		for i := range t.NumField() {
			name := t.Field(i).Tag.Get("json")
			value, ok := got[name]
			if t.Field(i).Tag.Get("optional") != "" && (!ok || string(value) == "null") {
				continue
			}
			if !ok {
				return redflag.New(redflag.MissingField, "field %q is missing", name)
			}
			if flag := lacking(value, t.Field(i).Type, fmt.Sprintf("field %q", name)); flag != nil {
				return flag
			}
		}
	}
	return nil
}

var fence = regexp.MustCompile("(?s)^```[ \t]*(?:json)?[ \t\r]*\n(.*)```$")

// unfenced returns what is inside a fence that encloses the whole text, and
// otherwise the text; of one that is no JSON the only object in it.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	if inner := fence.FindStringSubmatch(text); inner != nil {
		return inner[1]
	}
	if parts := jsonpart.All(text); len(parts) == 1 && parts[0][0] == '{' {
		return string(parts[0])
	}
	return text
}

// blank reports whether nothing can be seen of a text.
func blank(text string) bool { return strings.TrimSpace(text) == "" }

// encode writes what a reader read: plain structs, which cannot fail.
func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}

// decode reads what encode wrote. A recorded verdict that does not decode comes
// from a damaged log.
func decode[T any](raw json.RawMessage) (T, error) {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("solver: an answer is not what a reader makes of it: %w", err)
	}
	return v, nil
}

// evidence fills in what the domain finds in texts.
func (s *Support) evidence(a domain.Adapter, texts ...string) {
	e, ok := a.(domain.Evidencer)
	if !ok {
		return
	}
	for _, text := range texts {
		found := e.Evidence(text)
		s.Equations = union(s.Equations, found.Equations)
		s.Points = union(s.Points, found.Points)
	}
}

// union appends what is not there yet.
func union(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
