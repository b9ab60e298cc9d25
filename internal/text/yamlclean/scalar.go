package yamlclean

import (
	"regexp"
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

type form int

const (
	noNumber form = iota
	integer
	decimal
)

// maxExponent is beyond what a float64 can hold. Something like 12e4567, which no
// float64 comes near, is the beginning of a hash rather than a number.
const maxExponent = 400

// numberForm has no zeros in front: 007 is an octal number to some and a name to
// others.
var numberForm = regexp.MustCompile(`^([-+]?)(0|[1-9][0-9]*|)(\.[0-9]*|)(?:([eE])([-+]?[0-9]+)|)$`)

// number reads a decimal number and returns it in JSON's syntax, with all of its
// digits.
func number(s string) (string, form) {
	if s == "" || strings.IndexByte("+-.0123456789", s[0]) < 0 {
		return "", noNumber
	}
	m := numberForm.FindStringSubmatch(s)
	if m == nil {
		return "", noNumber
	}
	sign, whole, fraction, e, power := strings.TrimPrefix(m[1], "+"), m[2], m[3], m[4], m[5]
	switch {
	case whole == "" && len(fraction) < 2:
		return "", noNumber
	case fraction == "" && e == "":
		return sign + whole, integer
	case whole == "":
		whole = "0"
	case fraction == ".":
		fraction = ".0"
	}
	literal := sign + whole + fraction + e + power
	if e != "" {
		n, err := strconv.Atoi(power)
		if _, tooLarge := strconv.ParseFloat(literal, 64); err != nil || tooLarge != nil || max(n, -n) > maxExponent {
			return "", noNumber
		}
	}
	return literal, decimal
}
