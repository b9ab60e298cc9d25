package live

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// terminal is one on which lines are overwritten, wrap and scroll. It understands
// what the view writes, and nothing else.
type terminal struct {
	t             *testing.T
	width, height int
	whole         bool     // no line may reach the last column, where some terminals wrap
	rows          [][]rune // all there ever were; the last height of them are on the screen
	row, column   int
	writes        int
}

var control = regexp.MustCompile(`\x1b\[(\d*)([A-Za-z])`)

func (s *terminal) Write(p []byte) (int, error) {
	s.writes++
	text := string(p)
	for text != "" {
		if loc := control.FindStringSubmatchIndex(text); loc != nil && loc[0] == 0 {
			s.command(text[loc[2]:loc[3]], text[loc[4]:loc[5]])
			text = text[loc[1]:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		s.put(r)
	}
	return len(p), nil
}

func (s *terminal) command(number, letter string) {
	switch letter {
	case "A":
		n, err := strconv.Atoi(number)
		if top := max(0, len(s.rows)-s.height); err != nil || s.row-n < top {
			s.t.Errorf("the cursor goes up by %q from row %d of %d, beyond the top of the screen", number, s.row, len(s.rows))
			return
		}
		s.row, s.column = s.row-n, 0
	case "J":
		s.grow()
		s.rows[s.row] = s.rows[s.row][:min(s.column, len(s.rows[s.row]))]
		s.rows = s.rows[:s.row+1]
	case "K":
		s.grow()
		s.rows[s.row] = s.rows[s.row][:min(s.column, len(s.rows[s.row]))]
	case "m":
	default:
		s.t.Errorf("the terminal gets the command %q", letter)
	}
}

func (s *terminal) grow() {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, nil)
	}
}

func (s *terminal) put(r rune) {
	s.grow()
	if r == '\n' {
		s.row, s.column = s.row+1, 0
		s.grow()
		return
	}
	if r < ' ' {
		s.t.Errorf("the terminal gets the control character %q", r)
	}
	w := columnsOf(r)
	if s.whole && s.column+w >= s.width {
		s.t.Errorf("the line %q wraps at %d columns", string(append(s.rows[s.row][:s.column:s.column], r)), s.width)
	}
	if s.column+w > s.width {
		s.row, s.column = s.row+1, 0
		s.grow()
	}
	for len(s.rows[s.row]) < s.column+w {
		s.rows[s.row] = append(s.rows[s.row], ' ')
	}
	for i := range w {
		s.rows[s.row][s.column+i] = 0 // the second half of a wide character
		if i == 0 {
			s.rows[s.row][s.column] = r
		}
	}
	s.column += w
}

// text is what the terminal shows.
func (s *terminal) text() []string {
	var out []string
	for _, row := range s.rows {
		out = append(out, strings.ReplaceAll(strings.TrimRight(string(row), " "), "\x00", ""))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

func (s *terminal) view(color bool) *View {
	return &View{w: s, color: color, width: func() int { return s.width }, height: func() int { return s.height }}
}
