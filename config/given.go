package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// ofCommands are settings of the program, and those that are arguments of its commands.
var ofCommands = []string{"json", "quiet", "no_input", "log_dir", "attach", "planner", "max_rounds"}

// OfRuns reports whether it is a setting of runs wherever they are started, and not one of the
// command line.
func (s *Setting) OfRuns() bool { return !slices.Contains(ofCommands, s.Name) }

// Texts is a value that came as JSON, a text, a number, true or false, or a list of these, as
// the command line takes it.
func Texts(v any) ([]string, error) {
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	var texts []string
	for _, item := range list {
		switch v := item.(type) {
		case string:
			texts = append(texts, v)
		case float64:
			texts = append(texts, strconv.FormatFloat(v, 'f', -1, 64))
		case json.Number, bool:
			texts = append(texts, fmt.Sprint(v))
		default:
			return nil, errors.New("want a text, a number, true or false, or a list of these")
		}
	}
	return texts, nil
}
