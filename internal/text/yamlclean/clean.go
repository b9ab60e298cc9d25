package yamlclean

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A Result is what was read from a text.
type Result struct {
	// Data is the value as JSON; see [JSON].
	Data json.RawMessage

	// Text is the YAML that was parsed: the text itself, a part of it, or what
	// the fixes made of that.
	Text string

	// Repaired is whether the text had to be changed to be read. Taking the YAML
	// out of fences and prose is no change.
	Repaired bool

	// Fixes are the names of what was changed, in order.
	Fixes []string
}

// FixedByModel is the name in [Result.Fixes] for what the function given to
// [CleanWith] did.
const FixedByModel = "model"

// Read takes the YAML out of a text and loads it, and repairs nothing. It takes
//
//   - all of the text, if it is a mapping or a list;
//   - else the last fenced block with the label yaml, yml or json;
//   - else the last fenced block without a label that is a mapping, or else a list,
//     or else whatever it is; the closing fence may be missing;
//   - else what is before a fence that closes nothing;
//   - else what is left without prose before and after it;
//   - else all of the text.
//
// A block in which there is only a scalar, or nothing, is passed over as long as
// there is another one. Prose before the YAML is lines without keys, list items and
// brackets. Prose after it is a last paragraph without these that follows a value
// which is complete: quoted, in brackets, or a number. A first line such as "Here
// is the plan:" is prose too, although to YAML it is a key without a value.
//
// An error is a [*ParseError] whose place is in the text as given.
func Read(text string) (Result, error) {
	p := extract(text)
	if p.root == nil {
		return Result{}, p.problem(text)
	}
	return Result{Data: decode(p.root), Text: p.text}, nil
}

// Clean does what [Read] does and, if the YAML cannot be loaded or would lose a part
// of a text, tries the fixes that the package comment lists. The result depends on the text alone.
//
// An error is a [*ParseError] for the text as given, not for what fixes made of
// it.
func Clean(text string) (Result, error) {
	p := extract(text)
	var names []string
	if p.root == nil {
		fixed, made := p.repair()
		if !fixed.collection() {
			return Result{}, p.problem(text)
		}
		p, names = cutAnnouncement(fixed), made
	}
	kept, hashed := keepHashes(unifyBreaks(p.text), p.root)
	if kept.collection() {
		p, names = kept, append(names, "unquoted_hash")
	}
	already := slices.Contains(names, "trailing_comma")
	if cut := cutCommas(unifyBreaks(p.text), p.root, already, hashed); cut.collection() {
		if p = cut; !already {
			names = append(names, "trailing_comma")
		}
	}
	return Result{Data: decode(p.root), Text: p.text, Repaired: len(names) > 0, Fixes: names}, nil
}

// CleanWith does what [Clean] does and, if that fails, calls fix once with the
// text and the error, to let a model correct it. What fix returns is cleaned in
// its turn; it must be a mapping or a list.
//
// An error is or wraps the [*ParseError] for the text as given, and also wraps the
// error of fix if there is one.
func CleanWith(text string, fix func(text string, problem error) (string, error)) (Result, error) {
	r, err := Clean(text)
	if err == nil || fix == nil {
		return r, err
	}
	fixed, fixErr := fix(text, err)
	if fixErr != nil {
		return Result{}, fmt.Errorf("%w (and it could not be repaired: %w)", err, fixErr)
	}
	if r, fixErr = Clean(fixed); fixErr != nil || !isCollection(r.Data) {
		return Result{}, err
	}
	r.Repaired = true
	r.Fixes = append([]string{FixedByModel}, r.Fixes...)
	return r, nil
}

func isCollection(data json.RawMessage) bool {
	return len(data) > 0 && (data[0] == '{' || data[0] == '[')
}

// repair mends a part that could not be loaded; it returns none if it cannot.
func (p *part) repair() (fixed part, names []string) {
	if checkText(p.text) != nil {
		return part{}, nil
	}
	root, text, names := repair(unifyBreaks(p.text))
	return part{text: text, root: root}, names
}
