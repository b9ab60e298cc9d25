package learn

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

func TestAbout(t *testing.T) {
	for _, test := range []struct {
		complaint Complaint
		name      string
		want      bool
	}{
		{Complaint{Text: "Unsupported parameter: 'max_tokens' is not supported"}, "max_tokens", true},
		{Complaint{Text: "Use 'max_completion_tokens' instead"}, "max_tokens", false},
		{Complaint{Text: "max_tokens_to_sample"}, "max_tokens", false},
		{Complaint{Text: "Temperature is deprecated"}, "temperature", true},
		{Complaint{Text: "tools.3.cache_control: Extra inputs"}, "cache_control", true},
		{Complaint{Param: "response_format.type", Text: "not valid"}, "response_format", true},
		{Complaint{Param: "n", Text: "no"}, "n", true},
		{Complaint{Text: "'n' : number must be at most 1"}, "n", true},
		{Complaint{Text: "body -> n\n Extra inputs"}, "n", true},
		{Complaint{Text: `body\n not on`}, "n", false},
		{Complaint{Text: "no, not in any function"}, "n", false},
		{Complaint{Text: "größe n°"}, "n", false},
		{Complaint{}, "n", false},
	} {
		if got := test.complaint.About("other", test.name); got != test.want {
			t.Errorf("%+v.About(%q) = %t, want %t", test.complaint, test.name, got, test.want)
		}
	}
}

func TestOfValue(t *testing.T) {
	for text, want := range map[string]bool{
		"`temperature` is deprecated for this model.": false,
		"Unsupported value: 'temperature' does not support 0.1 with this model. Only the default (1) value is supported.":  false,
		"`temperature` may only be set to 1 when thinking is enabled.":                                                     false,
		"invalid temperature: only 1 is allowed for this model":                                                            false,
		"The response_format parameter is unsupported at the moment. Leave it unset.":                                      false,
		"[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted'}]": false,
		"temperature: range: 0..1":                                                                  true,
		"temperature must be from 0 to 2":                                                           true,
		"temperature: Input should be less than or equal to 1":                                      true,
		"max_tokens must be at least 1, got -186.":                                                  true,
		"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens":          true,
		"max_tokens is too large: 100000. This model supports at most 16384 completion tokens, ...": true,
	} {
		if got := (Complaint{Text: text}).OfValue(); got != want {
			t.Errorf("OfValue(%q) = %t, want %t", text, got, want)
		}
	}
}

var errRefused = errors.New("refused")

func with(p Param, form int) Forms {
	var f Forms
	f[p] = form
	return f
}

func TestTry(t *testing.T) {
	type warning struct {
		p    Param
		form int
		why  string
	}
	var warnings []warning
	l := New(with(Choices, 5), func(p Param, form int, why string) { warnings = append(warnings, warning{p, form, why}) })

	// Each form is refused once until one is taken: that one is remembered, with
	// the last reason.
	var sent []int
	err := l.Try(func(f Forms) (Forms, string, error) {
		sent = append(sent, f[Output])
		if f[Output] == 2 {
			return f, "", nil
		}
		next := f
		next[Output]++
		return next, "no " + string(rune('0'+f[Output])), errRefused
	})
	if err != nil || !slices.Equal(sent, []int{0, 1, 2}) {
		t.Errorf("Try sent %v, %v, want 0, 1, 2", sent, err)
	}
	want := with(Choices, 5)
	want[Output] = 2
	if l.Forms() != want || !slices.Equal(warnings, []warning{{Output, 2, "no 1"}}) {
		t.Errorf("learned %v with warnings %v, want %v", l.Forms(), warnings, want)
	}

	// Forms that are refused both ways are not remembered.
	calls := 0
	err = l.Try(func(f Forms) (Forms, string, error) {
		calls++
		f[MaxOutput] = 1 - f[MaxOutput]
		return f, "no", errRefused
	})
	if err != errRefused || calls != 2 || l.Forms() != want || len(warnings) != 1 {
		t.Errorf("Try between two refusals: %v after %d calls, learned %v, warnings %v", err, calls, l.Forms(), warnings)
	}

	// There is an end to it.
	calls = 0
	err = l.Try(func(f Forms) (Forms, string, error) {
		calls++
		f[Choices]++
		return f, "no", errRefused
	})
	if err != errRefused || calls != mostTries || l.Forms() != want {
		t.Errorf("Try without end: %v after %d calls, learned %v, want %d calls", err, calls, l.Forms(), mostTries)
	}

	// An error that is about something else is returned at once.
	calls = 0
	err = l.Try(func(f Forms) (Forms, string, error) { calls++; return f, "", errRefused })
	if err != errRefused || calls != 1 {
		t.Errorf("Try with another error: %v after %d calls, want 1", err, calls)
	}
}

// TestRemember has many callers learn the same, and late ones something older.
func TestRemember(t *testing.T) {
	var mu sync.Mutex
	warnings := 0
	l := New(Forms{}, func(Param, int, string) { mu.Lock(); warnings++; mu.Unlock() })
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() { l.Remember(Temperature, 0, 1, "no") })
	}
	group.Wait()
	l.Remember(Temperature, 0, 2, "late")
	l.Tell(Temperature, 1, "again")
	if got := l.Forms(); got != with(Temperature, 1) || warnings != 1 {
		t.Errorf("learned %v with %d warnings, want form 1 and one warning", got, warnings)
	}
}
