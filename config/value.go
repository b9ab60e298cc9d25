package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/maker-mdap/maker/internal/text/nearest"
)

// A Value is the place in a configuration where a setting is kept. It reads and writes
// the setting as text, the way flags do.
type Value interface {
	// String is the value as text; "" for one that is not set.
	String() string

	// Set reads the value from a text, and refuses what is out of bounds. Of a setting
	// that is a list the first call takes the place of what was there, and further ones
	// add to it.
	Set(text string) error

	// Type is what kind of value it is, for people: number, duration, word, text,
	// list or switch.
	Type() string
}

// value is a [Value] at a place.
type value struct {
	of   *Setting
	at   any // a pointer
	kind string

	text   func() string
	set    func(string) error
	isZero func() bool     // it was left open
	number func() *float64 // nil if it is none
}

func (v *value) String() string { return v.text() }

func (v *value) Type() string {
	if len(v.of.Choices) > 0 {
		return "word"
	}
	return v.kind
}

// Set leaves the value as it was if it cannot be what the text says.
func (v *value) Set(text string) error {
	if len(v.of.Choices) > 0 && !slices.Contains(v.of.Choices, text) {
		if meant := nearest.To(text, v.of.Choices); meant != "" {
			return fmt.Errorf("want %s; did you mean %s?", oneOf(v.of.Choices), meant)
		}
		return fmt.Errorf("want %s", oneOf(v.of.Choices))
	}
	was := v.text()
	err := v.set(text)
	if errors.Is(err, errNumber) && was != "" {
		return fmt.Errorf("%w such as %s", err, was)
	}
	if err == nil {
		err = v.bounds()
	}
	if err != nil && was != "" {
		_ = v.set(was) // which it took before
	}
	return err
}

// bounds says whether a number is within those of its setting.
func (v *value) bounds() error {
	n := v.number()
	switch {
	case n == nil:
		return nil
	case !(*n >= v.of.Least): // nor is what is no number
		return fmt.Errorf("%s is too small, want at least %s", v, v.bound(v.of.Least))
	case v.of.Most > 0 && *n > v.of.Most:
		return fmt.Errorf("%s is too large, want at most %s", v, v.bound(v.of.Most))
	}
	return nil
}

func (v *value) bound(n float64) string {
	if v.kind == "duration" {
		return time.Duration(n).String()
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// oneOf lists words to choose from as people do.
func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Ways to keep a setting that its field alone does not tell.
type (
	commas   struct{ at *[]string } // a text may hold several items
	contrary struct{ at *bool }     // the field says the contrary
	orZero   struct{ at *int }      // 0 is kept as -1, because 0 means the default
	orNone   struct{ at *float64 }  // 0 is kept as next, because 0 means the default
	full     struct{ at *bool }     // full or compact
)

// next is the smallest share above 0 that is worth telling from it.
const next = 1e-9

var errNumber = errors.New("want a number")

// valueOf is the value of a setting at a field, or at one that is kept in some way.
func valueOf(s *Setting, at any) *value {
	switch at := at.(type) {
	case *int:
		return integer(s, at)
	case *int64:
		return integer(s, at)
	case orZero:
		v := integer(s, at.at)
		v.text = func() string { return strconv.Itoa(max(*at.at, 0)) }
		v.number = func() *float64 {
			n := float64(*at.at)
			if n == -1 {
				n = 0
			}
			return &n
		}
		set := v.set
		v.set = func(text string) error {
			err := set(text)
			switch {
			case err == nil && *at.at < 0:
				return fmt.Errorf("%s is too small, want at least 0", text)
			case err == nil && *at.at == 0:
				*at.at = -1
			}
			return err
		}
		return v
	case *float64:
		return decimal(s, at, 0)
	case orNone:
		return decimal(s, at.at, next)
	case **float64:
		n := new(float64)
		if *at != nil {
			*n = **at
		}
		v := decimal(s, n, 0)
		v.at, v.isZero = at, func() bool { return *at == nil }
		set, text := v.set, v.text
		v.set = func(s string) error { err := set(s); *at = n; return err }
		v.text = func() string {
			if *at == nil {
				return ""
			}
			return text()
		}
		return v
	case *time.Duration:
		return duration(s, at)
	case *string:
		return words(s, at)
	case *bool:
		return truth(s, at, "true", "false")
	case contrary:
		return truth(s, at.at, "false", "true")
	case full:
		return truth(s, at.at, "full", "compact")
	case *[]string:
		return list(s, at, false)
	case commas:
		return list(s, at.at, true)
	default:
		panic(fmt.Sprintf("config: a setting is no %T", at))
	}
}

func noNumber() *float64 { return nil }

func integer[T int | int64](s *Setting, at *T) *value {
	return &value{
		of: s, at: at, kind: "number",
		text: func() string { return strconv.FormatInt(int64(*at), 10) },
		set: func(text string) error {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || int64(T(n)) != n {
				return errNumber
			}
			*at = T(n)
			return nil
		},
		isZero: func() bool { return *at == 0 },
		number: func() *float64 { n := float64(*at); return &n },
	}
}

// decimal keeps 0 as another number, if there is one for it.
func decimal(s *Setting, at *float64, zero float64) *value {
	return &value{
		of: s, at: at, kind: "number",
		text: func() string {
			if zero != 0 && *at == zero {
				return "0"
			}
			return strconv.FormatFloat(*at, 'g', -1, 64)
		},
		set: func(text string) error {
			n, err := parseFloat(text)
			if err == nil {
				if *at = n; n == 0 {
					*at = zero
				}
			}
			return err
		},
		isZero: func() bool { return *at == 0 },
		number: func() *float64 { return at },
	}
}

func parseFloat(text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, errNumber
	}
	return n, nil
}

// duration takes a number without a unit as seconds.
func duration(s *Setting, at *time.Duration) *value {
	return &value{
		of: s, at: at, kind: "duration", text: func() string { return at.String() },
		set: func(text string) error {
			if n, err := parseFloat(text); err == nil {
				*at = time.Duration(min(n, 1e9) * float64(time.Second)) // 30 years are enough
				return nil
			}
			d, err := time.ParseDuration(text)
			if err != nil {
				return errors.New("want a duration such as 90s or 5m")
			}
			*at = d
			return nil
		},
		isZero: func() bool { return *at == 0 },
		number: func() *float64 { n := float64(*at); return &n },
	}
}

func words(s *Setting, at *string) *value {
	return &value{
		of: s, at: at, kind: "text", number: noNumber,
		text:   func() string { return *at },
		set:    func(text string) error { *at = text; return nil },
		isZero: func() bool { return *at == "" },
	}
}

// truth is true or false under the given words.
func truth(s *Setting, at *bool, yes, no string) *value {
	v := &value{
		of: s, at: at, kind: "switch", number: noNumber, isZero: func() bool { return !*at },
		text: func() string {
			if *at {
				return yes
			}
			return no
		},
	}
	v.set = func(text string) error {
		if b, err := strconv.ParseBool(text); err == nil {
			text = strconv.FormatBool(b)
		}
		if text != yes && text != no {
			return fmt.Errorf("want %s or %s", max(yes, no), min(yes, no))
		}
		*at = text == yes
		return nil
	}
	return v
}

func list(s *Setting, at *[]string, several bool) *value {
	replaced := false
	return &value{
		of: s, at: at, kind: "list", number: noNumber, isZero: func() bool { return *at == nil },
		text: func() string { return strings.Join(*at, ",") },
		set: func(text string) error {
			if !replaced {
				*at, replaced = []string{}, true
			}
			if !several {
				*at = append(*at, text)
				return nil
			}
			for item := range strings.SplitSeq(text, ",") {
				if item = strings.TrimSpace(item); item != "" && item != "none" {
					*at = append(*at, item)
				}
			}
			return nil
		},
	}
}

// Copy gives the setting in one configuration the value that it has in another.
func (s *Setting) Copy(to, from *Config) {
	source, target := s.in(from), s.in(to)
	if items, ok := source.at.(*[]string); ok {
		*target.at.(*[]string) = slices.Clone(*items)
		return
	}
	_ = target.set(source.text()) // which it was set to
}
