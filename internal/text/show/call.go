package show

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/internal/text/clip"
)

// CallLine is a call in a few words: what a file or a command is about, and not all that is
// in it. Arguments of other tools are named, as an approval lists them one by one.
func CallLine(tool string, input json.RawMessage) string {
	var in struct {
		FilePath string  `json:"file_path"`
		Content  *string `json:"content"`
		Command  string  `json:"command"`
	}
	_ = json.Unmarshal(input, &in) // other tools have other arguments
	switch {
	case tool == "Write" && in.FilePath != "" && in.Content != nil:
		return fmt.Sprintf("Write %s (%s bytes)", clip.Line(ExactLine(in.FilePath), 120), Thousands(len(*in.Content)))
	case tool == "Edit" && in.FilePath != "":
		return "Edit " + clip.Line(ExactLine(in.FilePath), 120)
	case tool == "Bash" && in.Command != "":
		return "Bash $ " + clip.Line(ExactLine(in.Command), 120)
	}
	return strings.TrimRight(Line(tool)+" "+argumentLine(input), " ")
}

// argumentLine is all arguments of a call on one line.
func argumentLine(input json.RawMessage) string {
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) != nil {
		return clip.Text(ExactLine(string(input)), 120)
	}
	var parts []string
	for _, a := range Arguments(in) {
		parts = append(parts, a.Name+": "+clip.Text(a.Value, 80)) // one that is long leaves room for others
	}
	return clip.Text(ExactLine(strings.Join(parts, ", ")), 120)
}

// Thousands writes 1048575 as 1,048,575.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
