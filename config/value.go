package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Value is the place in a configuration where a setting is kept. It reads and writes
// the setting as text, the way flags do.
type Value interface {
	// String is the value as text; "" for one that is not set.
	String() string

	// Set reads the value from a text. Of a setting that is a list the first call
	// takes the place of what was there, and further ones add to it.
	Set(text string) error

	// Type is what kind of value it is, for people: number, duration, word, text,
	// list or switch.
	Type() string

	// isZero reports whether it was left open.
	isZero() bool

	// number is the value as one, for its bounds; false if it is none.
	number() (float64, bool)
}

// The kinds of values. A field of a configuration is one by its type, or by what its
// description wraps it in.
type (
	integer[T int | int64] struct{ at *T }
	decimal                struct{ at *float64 }
	optional               struct{ at **float64 } // nil means the default
	duration               struct{ at *time.Duration }
	text                   struct{ at *string }
	truth                  struct{ at *bool }
	list                   struct {
		at       *[]string
		commas   bool // a text may hold several
		replaced bool
	}
	word struct { // one of a few; none of them is unset
		at    *string
		unset string
	}
	either struct { // a flag as one of two words
		at      *bool
		on, off string
	}
	count struct{ at *int } // 0 is kept as -1, because 0 means the default
	share struct{ at *float64 }
)

func (v integer[T]) String() string { return strconv.FormatInt(int64(*v.at), 10) }
func (v integer[T]) Type() string   { return "number" }
func (v integer[T]) isZero() bool   { return *v.at == 0 }
func (v integer[T]) number() (float64, bool) {
	return float64(*v.at), true
}

func (v integer[T]) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || int64(T(n)) != n {
		return errNumber
	}
	*v.at = T(n)
	return nil
}

var errNumber = errors.New("want a number")

func (v count) String() string          { return strconv.Itoa(max(*v.at, 0)) }
func (v count) Type() string            { return "number" }
func (v count) isZero() bool            { return *v.at == 0 }
func (v count) number() (float64, bool) { return max(float64(*v.at), 0), *v.at >= -1 }

func (v count) Set(s string) error {
	n, err := strconv.Atoi(s)
	switch {
	case err != nil:
		return errNumber
	case n < 0:
		return fmt.Errorf("%d is too small, want at least 0", n)
	}
	if *v.at = n; n == 0 {
		*v.at = -1
	}
	return nil
}

func (v decimal) String() string          { return formatFloat(*v.at) }
func (v decimal) Type() string            { return "number" }
func (v decimal) isZero() bool            { return *v.at == 0 }
func (v decimal) number() (float64, bool) { return *v.at, true }

func (v decimal) Set(s string) (err error) {
	*v.at, err = parseFloat(s)
	return err
}

// next is the smallest number above 0 that is worth telling from it: a share of 0 is
// kept as this, because 0 means the default.
const next = 1e-9

func (v share) String() string {
	if *v.at == next {
		return "0"
	}
	return formatFloat(*v.at)
}
func (v share) Type() string            { return "number" }
func (v share) isZero() bool            { return *v.at == 0 }
func (v share) number() (float64, bool) { return *v.at, true }

func (v share) Set(s string) error {
	n, err := parseFloat(s)
	if *v.at = n; n == 0 {
		*v.at = next
	}
	return err
}

func (v optional) String() string {
	if *v.at == nil {
		return ""
	}
	return formatFloat(**v.at)
}
func (v optional) Type() string { return "number" }
func (v optional) isZero() bool { return *v.at == nil }
func (v optional) number() (float64, bool) {
	if *v.at == nil {
		return 0, true
	}
	return **v.at, true
}

func (v optional) Set(s string) error {
	n, err := parseFloat(s)
	*v.at = &n
	return err
}

func formatFloat(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

func parseFloat(s string) (float64, error) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, errNumber
	}
	return n, nil
}

func (v duration) String() string          { return v.at.String() }
func (v duration) Type() string            { return "duration" }
func (v duration) isZero() bool            { return *v.at == 0 }
func (v duration) number() (float64, bool) { return float64(*v.at), true }

// Set takes a number without a unit as seconds.
func (v duration) Set(s string) error {
	if n, err := parseFloat(s); err == nil {
		*v.at = time.Duration(min(n, 1e9) * float64(time.Second)) // 30 years are enough
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return errors.New("want a duration such as 90s or 5m")
	}
	*v.at = d
	return nil
}

func (v text) String() string          { return *v.at }
func (v text) Type() string            { return "text" }
func (v text) isZero() bool            { return *v.at == "" }
func (v text) number() (float64, bool) { return 0, false }
func (v text) Set(s string) error      { *v.at = s; return nil }

func (v word) String() string {
	if *v.at == "" {
		return v.unset
	}
	return *v.at
}
func (v word) Type() string            { return "word" }
func (v word) isZero() bool            { return *v.at == "" }
func (v word) number() (float64, bool) { return 0, false }

func (v word) Set(s string) error {
	if *v.at = s; s == v.unset {
		*v.at = ""
	}
	return nil
}

func (v truth) String() string          { return strconv.FormatBool(*v.at) }
func (v truth) Type() string            { return "switch" }
func (v truth) isZero() bool            { return !*v.at }
func (v truth) number() (float64, bool) { return 0, false }

func (v truth) Set(s string) error {
	b, err := strconv.ParseBool(s)
	if err != nil {
		return errors.New("want true or false")
	}
	*v.at = b
	return nil
}

func (v either) String() string {
	if *v.at {
		return v.on
	}
	return v.off
}

func (v either) Type() string {
	if v.on == "false" {
		return "switch"
	}
	return "word"
}
func (v either) isZero() bool            { return !*v.at }
func (v either) number() (float64, bool) { return 0, false }

func (v either) Set(s string) error {
	if v.on == "false" { // the field says the contrary
		b, err := strconv.ParseBool(s)
		if err != nil {
			return errors.New("want true or false")
		}
		*v.at = !b
		return nil
	}
	*v.at = s == v.on
	return nil
}

func (v *list) String() string          { return strings.Join(*v.at, ",") }
func (v *list) Type() string            { return "list" }
func (v *list) isZero() bool            { return *v.at == nil }
func (v *list) number() (float64, bool) { return 0, false }

func (v *list) Set(s string) error {
	if !v.replaced {
		*v.at, v.replaced = []string{}, true
	}
	if !v.commas {
		*v.at = append(*v.at, s)
		return nil
	}
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" && item != "none" {
			*v.at = append(*v.at, item)
		}
	}
	return nil
}

// valueOf is the value at a field. Its description may have wrapped it already.
func valueOf(at any) Value {
	switch at := at.(type) {
	case Value:
		return at
	case *int:
		return integer[int]{at}
	case *int64:
		return integer[int64]{at}
	case *float64:
		return decimal{at}
	case **float64:
		return optional{at}
	case *time.Duration:
		return duration{at}
	case *string:
		return text{at}
	case *bool:
		return truth{at}
	case *[]string:
		return &list{at: at}
	default:
		panic(fmt.Sprintf("config: a setting is no %T", at))
	}
}

// checked is a value within the bounds of its description.
type checked struct {
	Value
	of *Setting
}

// Type says so if there are a few words to choose from.
func (v checked) Type() string {
	if len(v.of.Choices) > 0 {
		return "word"
	}
	return v.Value.Type()
}

// Set refuses what is out of bounds and leaves the value as it was.
func (v checked) Set(s string) error {
	if len(v.of.Choices) > 0 && !slices.Contains(v.of.Choices, s) {
		return fmt.Errorf("want %s", oneOf(v.of.Choices))
	}
	was := v.Value.String()
	if err := v.Value.Set(s); err != nil {
		if errors.Is(err, errNumber) && was != "" {
			err = fmt.Errorf("%w such as %s", err, was)
		}
		return err
	}
	if err := v.of.bounds(v.Value); err != nil {
		_ = v.Value.Set(was) // which it took before
		return err
	}
	return nil
}

// bounds says whether a number is within its own.
func (s *Setting) bounds(v Value) error {
	n, ok := v.number()
	switch {
	case !ok && v.Type() != "number":
		return nil
	case !ok, !(n >= s.Least):
		return fmt.Errorf("%s is too small, want at least %s", v, s.format(v, s.Least))
	case s.Most > 0 && n > s.Most:
		return fmt.Errorf("%s is too large, want at most %s", v, s.format(v, s.Most))
	}
	return nil
}

func (s *Setting) format(v Value, n float64) string {
	if v.Type() == "duration" {
		return time.Duration(n).String()
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// oneOf lists words to choose from as people do.
func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Copy gives the setting in one configuration the value that it has in another.
func (s *Setting) Copy(to, from *Config) {
	source, target := s.Value(from).(checked).Value, s.Value(to).(checked).Value
	if from, ok := source.(*list); ok {
		*target.(*list).at = slices.Clone(*from.at)
		return
	}
	_ = target.Set(source.String()) // which it was set to
}
