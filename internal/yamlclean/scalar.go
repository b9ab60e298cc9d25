package yamlclean

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The tags that scalars have after [Load].
const (
	tagNull  = "!!null"
	tagBool  = "!!bool"
	tagInt   = "!!int"
	tagFloat = "!!float"
	tagStr   = "!!str"
)

const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// plainTag returns the tag of an unquoted scalar. It follows the core schema of
// YAML 1.2, except that what could be meant as text stays text: see the package
// comment.
func plainTag(s string) string {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return tagNull
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return tagBool
	}
	switch _, form := number(s); form {
	case integer:
		return tagInt
	case decimal:
		return tagFloat
	}
	return tagStr
}

// scalarTag returns the tag of a scalar, and false if it has an explicit tag that
// does not fit.
func scalarTag(n *yaml.Node) (string, bool) {
	switch {
	case n.Style&yaml.TaggedStyle != 0:
		switch n.Tag {
		case tagStr, "!!timestamp", "!!binary":
			return tagStr, true
		case tagFloat:
			tag := plainTag(n.Value)
			return tagFloat, tag == tagFloat || tag == tagInt
		case tagInt, tagBool, tagNull:
			return n.Tag, plainTag(n.Value) == n.Tag
		}
		return "", false
	case n.Style&quoted != 0 || n.Tag == tagStr:
		return tagStr, true
	}
	return plainTag(n.Value), true
}

type form int

const (
	noNumber form = iota
	integer
	decimal
)

// maxExponent is beyond what a float64 can hold. Something like 12e4567, which no
// float64 comes near, is the beginning of a hash rather than a number.
const maxExponent = 400

// number reads a decimal number and returns it in JSON's syntax, with all of its
// digits.
func number(s string) (string, form) {
	sign, rest := "", s
	switch {
	case strings.HasPrefix(s, "-"):
		sign, rest = "-", s[1:]
	case strings.HasPrefix(s, "+"):
		rest = s[1:]
	}
	whole := digits(rest)
	rest = rest[len(whole):]
	if len(whole) > 1 && whole[0] == '0' {
		return "", noNumber // 007 is an octal number to some and a name to others
	}
	if rest == "" && whole != "" {
		return sign + whole, integer
	}
	fraction := ""
	if strings.HasPrefix(rest, ".") {
		fraction = digits(rest[1:])
		rest = rest[1+len(fraction):]
		if fraction == "" && whole != "" {
			fraction = "0" // 5. is 5.0
		}
	}
	if whole == "" && fraction == "" {
		return "", noNumber
	}
	if whole == "" {
		whole = "0"
	}
	exponent := ""
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		expSign := ""
		if r := rest[1:]; strings.HasPrefix(r, "-") || strings.HasPrefix(r, "+") {
			expSign = r[:1]
		}
		power := digits(rest[1+len(expSign):])
		if power == "" || !smallPower(power) {
			return "", noNumber
		}
		exponent = rest[:1] + expSign + power
		rest = rest[len(exponent):]
	}
	if rest != "" {
		return "", noNumber
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	literal := sign + whole + fraction + exponent
	if exponent != "" {
		if _, err := strconv.ParseFloat(literal, 64); err != nil {
			return "", noNumber
		}
	}
	return literal, decimal
}

// digits returns the decimal digits at the start of s.
func digits(s string) string {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return s[:n]
}

func smallPower(digits string) bool {
	n := 0
	for _, c := range digits {
		if n = n*10 + int(c-'0'); n > maxExponent {
			return false
		}
	}
	return true
}
