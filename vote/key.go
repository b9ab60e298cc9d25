package vote

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// The limits of an answer that can become a key. Beyond them [Canonical] gives
// an error instead of using up memory.
const (
	MaxKeyBytes = 1 << 20 // of the answer, and of its key
	MaxKeyDepth = 200     // of arrays and objects inside each other
)

// KeyOptions say which answers agree. The zero value means: those that are the
// same JSON value. It is plain data and part of a question.
//
// A path names fields by the names on the way to them, with dots between
// ("result.total"). The name * stands for every field of an object and for
// every element of an array ("items.*.price"), and is the only way into an
// array. A backslash before a dot, a star or a backslash makes it part of a
// name.
type KeyOptions struct {
	// VoteOn lists the paths that count; all else is left out of the key. An
	// answer in which one of them is missing has no key.
	VoteOn []string `json:"vote_on,omitempty"`

	// Ignore lists paths that do not count, such as free prose. It applies
	// after VoteOn. A path that is not there does no harm.
	Ignore []string `json:"ignore,omitempty"`

	// KeepSpace leaves white space in strings as it is: for programs and files,
	// where it means something.
	KeepSpace bool `json:"keep_space,omitempty"`

	// Tolerance and RelativeTolerance say how far apart numbers may be and
	// still agree, see [Clusters]. They have no influence on [Canonical].
	Tolerance         json.Number `json:"tolerance,omitempty"`
	RelativeTolerance json.Number `json:"relative_tolerance,omitempty"`
}

// Validate reports what makes the options meaningless.
func (o KeyOptions) Validate() error {
	voteOn, ignore, err := o.paths()
	if err != nil {
		return err
	}
	for i, path := range ignore {
		for j, needed := range voteOn {
			if path.contradicts(needed) {
				return fmt.Errorf("vote: vote_on needs %q, but ignore %q removes it", o.VoteOn[j], o.Ignore[i])
			}
		}
	}
	_, err = NewClusters(o)
	return err
}

func (o KeyOptions) paths() (voteOn, ignore []path, err error) {
	for _, s := range o.VoteOn {
		p, err := o.parsePath(s)
		if err != nil {
			return nil, nil, fmt.Errorf("vote: vote_on %q: %w", s, err)
		}
		voteOn = append(voteOn, p)
	}
	for _, s := range o.Ignore {
		p, err := o.parsePath(s)
		if err != nil {
			return nil, nil, fmt.Errorf("vote: ignore %q: %w", s, err)
		}
		ignore = append(ignore, p)
	}
	return voteOn, ignore, nil
}

// Canonical returns the key of an answer: JSON in a form that is the same for
// all answers that agree.
//
//   - There is no space between tokens, and fields are sorted by name, byte by
//     byte, at every depth.
//   - Numbers are exact decimals in normal form: 1, 1.0 and 10e-1 agree, -0 is
//     0, and no digit is ever rounded away.
//   - Strings, names included, are in Unicode normal form C. White space around
//     them is removed, and each run of white space inside becomes one space.
//     Letter case and punctuation count.
//   - VoteOn and Ignore choose what is part of the key.
//
// It is an error, not a guess, if the answer is not one complete JSON value,
// holds bytes that are not UTF-8 or half a surrogate pair, names a field twice
// (names are compared in normal form), or is over [MaxKeyBytes] or
// [MaxKeyDepth]. The key of a key is the key itself, under the same options and
// if they are valid.
func Canonical(raw json.RawMessage, o KeyOptions) (string, error) {
	if len(o.VoteOn) == 0 && len(o.Ignore) == 0 {
		if key, ok := Plain(string(raw)); ok {
			return key, nil
		}
	}
	return canonical(raw, o)
}

// canonical is Canonical of answers that need not be plain.
func canonical(raw json.RawMessage, o KeyOptions) (string, error) {
	voteOn, ignore, err := o.paths()
	if err != nil {
		return "", err
	}
	root, err := parse(string(raw), o.KeepSpace)
	if err != nil {
		return "", fmt.Errorf("vote: %w", err)
	}
	for i, p := range voteOn {
		if missing := root.mark(p); missing != nil {
			return "", fmt.Errorf("vote: the answer has no field %q (vote_on %q)", strings.Join(missing, "."), o.VoteOn[i])
		}
	}
	if len(voteOn) > 0 {
		root.prune()
	}
	for _, p := range ignore {
		root.remove(p)
	}
	key := root.appendTo(make([]byte, 0, len(raw)))
	if len(key) > MaxKeyBytes {
		return "", fmt.Errorf("vote: the key has %d bytes, more than %d", len(key), MaxKeyBytes)
	}
	return string(key), nil
}

const (
	shortKeyBytes = 64        // the longest key that is its own short form
	hashMarker    = "sha256:" // no JSON text starts like that
	hashBytes     = 16        // of the hash are enough to tell keys apart
)

// ShortKey returns the form of a key for logs and people: the key itself if it
// has at most 64 bytes, otherwise "sha256:" and the first 32 hexadecimal digits
// of its hash.
func ShortKey(key string) string {
	if len(key) <= shortKeyBytes {
		return key
	}
	var copied [512]byte // on the stack: most keys fit
	sum := sha256.Sum256(append(copied[:0], key...))
	var room [len(hashMarker) + 2*hashBytes]byte
	return string(hex.AppendEncode(append(room[:0], hashMarker...), sum[:hashBytes]))
}
