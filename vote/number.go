package vote

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/internal/text/clip"
)

// A decimal is an exact decimal number in normal form:
//
//	± digits × 10^exp
//
// The digits have no leading and no trailing zeros, and zero has none at all,
// so numbers are equal exactly if their decimals are. Nothing is ever expanded
// to the size of its exponent.
type decimal struct {
	neg    bool
	digits string
	exp    int64
}

// maxExponent bounds the power of ten of a number's first digit, so that
// exponents can be added without thinking.
const maxExponent = 1_000_000_000_000_000

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// parseDecimal reads a number in JSON's syntax.
func parseDecimal(s string) (decimal, error) {
	if !jsonNumber.MatchString(s) {
		return decimal{}, fmt.Errorf("%q is not a number", clip.Short(s))
	}
	rest, neg := strings.CutPrefix(s, "-")
	exponent := ""
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		rest, exponent = rest[:i], rest[i+1:]
	}
	whole, fraction, _ := strings.Cut(rest, ".")

	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return decimal{}, nil // -0 and 0e9 too
	}
	trimmed := strings.TrimRight(digits, "0")

	var exp int64
	if exponent != "" {
		sign := exponent[0] == '-'
		exponent = strings.TrimLeft(strings.TrimLeft(exponent, "+-"), "0")
		if len(exponent) > 17 {
			return decimal{}, fmt.Errorf("the exponent of %q is out of range", clip.Short(s))
		}
		for _, c := range exponent {
			exp = exp*10 + int64(c-'0')
		}
		if sign {
			exp = -exp
		}
	}
	d := decimal{
		neg:    neg,
		digits: trimmed,
		exp:    exp - int64(len(fraction)) + int64(len(digits)-len(trimmed)),
	}
	if top := d.top(); top > maxExponent || top < -maxExponent {
		return decimal{}, fmt.Errorf("the exponent of %q is out of range", clip.Short(s))
	}
	return d, nil
}

// normalNumber returns the normal form of a number in JSON's syntax.
func normalNumber(s string) (string, error) {
	if len(s) <= 20 && s != "-0" && !strings.ContainsAny(s, ".eE") {
		return s, nil // as most numbers are
	}
	d, err := parseDecimal(s)
	if err != nil {
		return "", err
	}
	return d.String(), nil
}

func (d decimal) isZero() bool { return d.digits == "" }

// top is the power of ten of the first digit.
func (d decimal) top() int64 { return d.exp + int64(len(d.digits)) - 1 }

// String returns the normal form as JSON: plain digits if that takes few zeros,
// otherwise one digit before the point and an exponent. It depends on the value
// alone.
func (d decimal) String() string {
	if d.isZero() {
		return "0"
	}
	sign := ""
	if d.neg {
		sign = "-"
	}
	const trailing, leading = 20, 6 // zeros that may be added
	switch top := d.top(); {
	case d.exp >= 0 && d.exp <= trailing:
		return sign + d.digits + strings.Repeat("0", int(d.exp))
	case d.exp < 0 && top >= 0:
		return sign + d.digits[:top+1] + "." + d.digits[top+1:]
	case d.exp < 0 && top >= -leading:
		return sign + "0." + strings.Repeat("0", int(-top-1)) + d.digits
	default:
		fraction := ""
		if len(d.digits) > 1 {
			fraction = "." + d.digits[1:]
		}
		return sign + d.digits[:1] + fraction + "e" + strconv.FormatInt(top, 10)
	}
}

// maxTolerantDigits bounds the work of comparing: a million digits would take a
// minute.
const maxTolerantDigits = 1000

// rational is the number as a fraction; nil if it is too long, too large or too small
// to be compared with others.
func (d decimal) rational() *big.Rat {
	if len(d.digits) > maxTolerantDigits || max(d.top(), -d.exp) > maxTolerantDigits {
		return nil
	}
	r, ok := new(big.Rat).SetString(d.String())
	if !ok {
		return nil
	}
	return r
}
