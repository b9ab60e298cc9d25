package price

import (
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
)

// Money is an amount of US dollars in whole picodollars (10^-12). A list price
// is a number of dollars per million tokens with at most six decimals, so the
// price of one token is a whole number of picodollars and every cost is exact.
//
// The largest amount is about 9.2 million dollars. Sums and products stop there
// instead of wrapping around, so that a budget fails closed.
type Money int64

// Dollar is one US dollar.
const Dollar Money = 1e12

// maxMoney is the amount at which arithmetic stops.
const maxMoney Money = math.MaxInt64

// FromUSD returns the nearest amount to usd. Negative amounts and NaN become 0.
func FromUSD(usd float64) Money {
	pico := math.Round(usd * float64(Dollar))
	switch {
	case !(pico > 0):
		return 0
	case pico >= math.MaxInt64:
		return maxMoney
	}
	return Money(pico)
}

// USD returns the amount as a number of dollars.
func (m Money) USD() float64 { return float64(m) / float64(Dollar) }

// Plus returns the sum of two amounts that are not negative.
func (m Money) Plus(n Money) Money {
	if m > maxMoney-n {
		return maxMoney
	}
	return m + n
}

// Times returns n times an amount that is not negative; 0 for a negative n.
func (m Money) Times(n int64) Money {
	if n <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(m), uint64(n))
	if high != 0 || low > math.MaxInt64 {
		return maxMoney
	}
	return Money(low)
}

// String returns the exact number of dollars, such as "$0.0375".
func (m Money) String() string {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	s := fmt.Sprintf("%s$%d.%012d", sign, m/Dollar, m%Dollar)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// parsePerMillion reads dollars per million tokens as the price of one token:
// a millionth of a dollar for a million tokens is a picodollar for one.
func parsePerMillion(s string) (Money, error) {
	parts := perMillion.FindStringSubmatch(s)
	if parts == nil {
		return 0, fmt.Errorf("%q is not a price in dollars per million tokens, such as 0.25", s)
	}
	whole, fraction := parts[1], parts[2]
	if len(fraction) > 6 {
		return 0, fmt.Errorf("%s has more than six decimals", s)
	}
	if len(whole) > 6 {
		return 0, fmt.Errorf("%s is more than any price per million tokens", s)
	}
	m, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", 6-len(fraction)), 10, 64)
	return Money(m), err
}

var perMillion = regexp.MustCompile(`^([0-9]+)(?:\.([0-9]+))?$`)
