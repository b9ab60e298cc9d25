package plan

import (
	"slices"
	"strings"
)

// A field is one of the fields of a step, in the documented order.
type field int

const (
	fieldStep field = iota
	fieldTaskType
	fieldTitle
	fieldTaskDescription
	fieldPrimaryTools
	fieldFallbackTools
	fieldPrimaryToolInstructions
	fieldFallbackToolInstructions
	fieldInputVariables
	fieldOutputVariable
	fieldOutputSchema
	fieldNextStep
	fieldVoteOn
	fieldIgnore
	fieldVoting
	fieldModel
	fieldTimeout
	fieldCount

	firstOptional = fieldVoteOn

	noField field = -1 // the step as a whole
)

var fieldNames = [fieldCount]string{
	"step", "task_type", "title", "task_description", "primary_tools", "fallback_tools",
	"primary_tool_instructions", "fallback_tool_instructions", "input_variables", "output_variable",
	"output_schema", "next_step_sequence_number", "vote_on", "ignore", "voting", "model", "timeout",
}

func (f field) String() string { return fieldNames[f] }

func fieldNamed(name string) field {
	return field(slices.Index(fieldNames[:], name))
}

// closest returns the name among candidates that a person who wrote name is
// likely to have meant, or "".
func closest(name string, candidates []string) string {
	plain := plainName(name)
	best, least := "", 3
	for _, c := range candidates {
		if d := distance(plain, plainName(c)); d < least && d <= len(c)/2 {
			best, least = c, d
		}
	}
	if best != "" || len(plain) < 4 {
		return best
	}
	for _, c := range candidates {
		if strings.Contains(plainName(c), plain) {
			return c
		}
	}
	return ""
}

// plainName leaves only what is said, not how it is spelled: primaryTools is
// primary_tools.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" _-", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// distance is how many letters have to be added, removed or changed to turn a
// into b. Long names are not compared in full: nobody mistypes that much.
func distance(a, b string) int {
	const most = 64
	if len(a) > most || len(b) > most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
