package text

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/maker-mdap/maker/redflag"
)

// Verify returns what is wrong with a solution whatever the problem is: it is
// empty, a slot is left to be filled in, or it only says the problem again.
func (Adapter) Verify(problem, solution string) error {
	if strings.TrimSpace(solution) == "" {
		return errors.New("text: the solution is empty")
	}
	checks := redflag.Config{Empty: redflag.EmptyCheck{On: true}, Placeholder: redflag.PlaceholderCheck{On: true}}
	if flag := checks.CheckText(&redflag.Answer{Text: solution}); flag != nil {
		return fmt.Errorf("text: the solution is %s: %s", map[string]string{
			redflag.Empty: "empty", redflag.Placeholder: "a placeholder",
		}[flag.Name], flag.Reason)
	}
	if restates(problem, solution) {
		return errors.New("text: the solution only says the problem again")
	}
	return nil
}

// restating are the words that surround a problem that is said again.
var restating = []string{
	"the", "problem", "task", "question", "is", "was", "to", "we", "i", "need", "needs", "have", "must", "are", "am", "asked", "asks", "you",
	"solve", "as", "follows", "here", "that", "it", "our", "my", "your", "so", "this", "a", "restated", "again", "given", "following", "answer",
}

// restates reports whether a solution has the words of the problem in their order
// and nothing beside them. A problem of a word or two may well be its own answer.
func restates(problem, solution string) bool {
	asked, said := words(problem), words(solution)
	letters := slices.DeleteFunc(slices.Clone(asked), func(w string) bool { return !strings.ContainsFunc(w, unicode.IsLetter) })
	if len(letters) < 3 || len(said) < len(asked) || len(said) > 2*len(asked)+10 {
		return false
	}
	for at := 0; at+len(asked) <= len(said); at++ {
		if !slices.Equal(said[at:at+len(asked)], asked) {
			continue
		}
		rest := slices.Concat(said[:at], said[at+len(asked):])
		return !slices.ContainsFunc(rest, func(w string) bool { return !slices.Contains(restating, w) })
	}
	return false
}

// words are the words and signs of a text, without punctuation at their ends.
func words(text string) []string {
	var out []string
	for w := range strings.FieldsSeq(prose(text)) {
		if w = strings.Trim(w, `.,;:!?"'()`); w != "" {
			out = append(out, w)
		}
	}
	return out
}
