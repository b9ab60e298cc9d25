package change

import (
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/internal/text/show"
)

// around is how many lines are shown before and after a change.
const around = 2

// mostCompared bounds how many pairs of lines are compared: beyond it a change is shown as
// lines that all go and lines that all come.
const mostCompared = 1_000_000

// A change is a line that goes (-), comes (+) or stays ( ).
type change struct {
	mark byte
	line string
}

// difference shows the lines that go and those that come, with a few around them.
func difference(was, becomes string) string {
	if was == becomes {
		return ""
	}
	list := changesOf(linesOf(was), linesOf(becomes))
	// near[i] says that a line is close enough to a change to be shown.
	near := make([]bool, len(list))
	for i, c := range list {
		if c.mark != ' ' {
			for j := max(0, i-around); j <= min(len(list)-1, i+around); j++ {
				near[j] = true
			}
		}
	}
	var out strings.Builder
	for i := 0; i < len(list); {
		if !near[i] {
			from := i
			for i < len(list) && !near[i] {
				i++
			}
			fmt.Fprintf(&out, "  [… %d lines as they are …]\n", i-from)
			continue
		}
		line, whole := strings.CutSuffix(list[i].line, "\n")
		if line = show.Exact(line); !whole {
			line += " [no line end]"
		}
		fmt.Fprintf(&out, "%c %s\n", list[i].mark, line)
		i++
	}
	return strings.TrimRight(out.String(), "\n")
}

// changesOf are the lines of both texts in order, with as many as possible that stay.
func changesOf(a, b []string) []change {
	var list []change
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		list = append(list, change{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	tail := 0
	for tail < len(a) && tail < len(b) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	rest := a[len(a)-tail:]
	list = append(list, middle(a[:len(a)-tail], b[:len(b)-tail])...)
	for _, line := range rest {
		list = append(list, change{' ', line})
	}
	return list
}

// middle compares what is between the lines that both texts begin and end with.
func middle(a, b []string) []change {
	// stay[i][j] is how many lines of a[i:] and b[j:] can stay.
	stay := make([][]int, len(a)+1)
	compared := len(a)*len(b) <= mostCompared
	for i := range stay {
		if compared {
			stay[i] = make([]int, len(b)+1)
		}
	}
	for i := len(a) - 1; i >= 0 && compared; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				stay[i][j] = stay[i+1][j+1] + 1
			} else {
				stay[i][j] = max(stay[i+1][j], stay[i][j+1])
			}
		}
	}
	var list []change
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case compared && i < len(a) && j < len(b) && a[i] == b[j]:
			list = append(list, change{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b), i < len(a) && (!compared || stay[i+1][j] >= stay[i][j+1]):
			list = append(list, change{'-', a[i]})
			i++
		default:
			list = append(list, change{'+', b[j]})
			j++
		}
	}
	return list
}

// linesOf are the lines of a text with their ends.
func linesOf(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, line)
	}
	return lines
}
