package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units are what a duration is counted in, in milliseconds.
var units = []struct {
	name   string
	millis float64
}{
	{"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 60 * 60 * 1000},
}

// maxMillis is more than anybody waits for a step: 100 days. It also keeps the
// arithmetic exact.
const maxMillis = 100 * 24 * 60 * 60 * 1000

// Millis reads a duration such as "90s", "1m30s", "1.5h" or "500ms" and returns
// it in milliseconds, rounded down. Units are h, m, s and ms. Everything it takes
// is a duration in Go, with the same meaning.
func Millis(text string) (int64, error) {
	total := 0.0
	for rest := text; rest != "" || text == ""; {
		number, after := leadingNumber(rest)
		letters := after[:len(after)-len(strings.TrimLeft(after, "abcdefghijklmnopqrstuvwxyzµ"))]
		millis := unit(letters)
		switch {
		case number == "":
			return 0, fmt.Errorf("%q is no duration: want a number and a unit, such as 30s or 5m", text)
		case letters == "":
			return 0, fmt.Errorf("%q has no unit: write %ss, %sm or %sh", text, number, number, number)
		case millis == 0:
			return 0, fmt.Errorf("%q has the unit %q: want h, m, s or ms", text, letters)
		}
		value, err := strconv.ParseFloat(number, 64)
		if err != nil {
			value = math.Inf(1) // has hundreds of digits
		}
		total += value * millis
		rest = after[len(letters):]
	}
	if total < 1 || total > maxMillis {
		return 0, fmt.Errorf("%q is out of range: want 1ms to %dh", text, maxMillis/(60*60*1000))
	}
	return int64(math.Floor(total + 1e-6)), nil
}

func unit(name string) float64 {
	for _, u := range units {
		if u.name == name {
			return u.millis
		}
	}
	return 0
}

// leadingNumber cuts the decimal number off the beginning of s. It is empty if
// there is none.
func leadingNumber(s string) (number, rest string) {
	const digits = "0123456789"
	whole := len(s) - len(strings.TrimLeft(s, digits))
	end := whole
	if strings.HasPrefix(s[end:], ".") {
		fraction := s[end+1:]
		end += 1 + len(fraction) - len(strings.TrimLeft(fraction, digits))
	}
	if end == 0 || s[:end] == "." {
		return "", s
	}
	return s[:end], s[end:]
}
