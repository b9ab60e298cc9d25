// Package nearest guesses which name was meant by one that does not exist.
package nearest

import (
	"strings"
	"unicode/utf8"
)

// To returns the name that was probably meant, or "" if none is like it. How it is
// spelled does not count: primaryTools is primary_tools.
func To(name string, names []string) string {
	const longest = 64 // nobody mistypes that much
	name = plain(name)
	if len(name) > longest {
		return ""
	}
	best, distance := "", 1+utf8.RuneCountInString(name)/3
	for _, other := range names {
		if d := edits(name, plain(other)); d < distance {
			best, distance = other, d
		}
	}
	if best != "" {
		return best
	}
	// Or a part of it was left out.
	for _, other := range names {
		if len(name) > 2 && strings.Contains(plain(other), name) {
			return other
		}
	}
	return ""
}

// Among says which name was probably meant, and which there are: "did you mean a? There are
// a, b".
func Among(name string, names []string) string {
	list := "here are " + strings.Join(names, ", ")
	if meant := To(name, names); meant != "" {
		return "did you mean " + meant + "? T" + list
	}
	return "t" + list
}

var marks = strings.NewReplacer(" ", "", "_", "", "-", "")

func plain(name string) string { return marks.Replace(strings.ToLower(name)) }

// edits is how many characters have to be added, removed, replaced or swapped to make
// one word of another.
func edits(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
				continue
			case x[i-1] == y[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j], rows[i][j-1], rows[i-1][j-1])
			}
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], 1+rows[i-2][j-2])
			}
		}
	}
	return rows[len(x)][len(y)]
}
