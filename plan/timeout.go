package plan

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// units are what a duration is counted in, in milliseconds.
var units = map[string]float64{"ms": 1, "s": 1000, "m": 60 * 1000, "h": 60 * 60 * 1000}

// maxMillis is more than anybody waits for a step: 100 days. It also keeps the
// arithmetic exact.
const maxMillis = 100 * 24 * 60 * 60 * 1000

const amount = `(\d+\.?\d*|\.\d+)(ms|[smh])`

var (
	duration = regexp.MustCompile(`^(?:` + amount + `)+$`)
	amounts  = regexp.MustCompile(amount)
)

// Millis reads a duration such as "90s", "1m30s", "1.5h" or "500ms" and returns
// it in milliseconds, rounded down. Units are h, m, s and ms. Everything it takes
// is a duration in Go, with the same meaning.
func Millis(text string) (int64, error) {
	if !duration.MatchString(text) {
		return 0, fmt.Errorf("%q is no duration: want numbers with the units h, m, s or ms, such as 30s or 1m30s", text)
	}
	total := 0.0
	for _, part := range amounts.FindAllStringSubmatch(text, -1) {
		value, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			value = math.Inf(1) // has hundreds of digits
		}
		total += value * units[part[2]]
	}
	if total < 1 || total > maxMillis {
		return 0, fmt.Errorf("%q is out of range: want 1ms to %dh", text, maxMillis/(60*60*1000))
	}
	return int64(math.Floor(total + 1e-6)), nil
}
