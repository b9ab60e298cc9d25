package outline

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/internal/text/tasks"
	"github.com/maker-mdap/maker/redflag"
)

// Check says what is wrong with a summary, or nil. One that drops what later tasks
// mention is no good, and neither is one with a number, a path or an address that is
// not in the text, or one that is not about the text at all.
func (r *SummaryRequest) Check(summary string) *redflag.Flag {
	if strings.TrimSpace(summary) == "" {
		return redflag.New(redflag.Empty, "the summary is empty")
	}
	if n := EstimateTokens(summary); n > r.MaxTokens {
		return redflag.New(redflag.ExcessiveLength, "the summary has %d tokens, want at most %d", n, r.MaxTokens)
	}
	seen := tasks.IndexOf(summary)
	for _, m := range r.Must {
		if !seen.Has(m.Text, m.Exact) {
			return redflag.New(redflag.MissingField, "the summary drops %q, which a later task mentions", m.Text)
		}
	}
	marks := 0
	for word, kind := range tasks.Words(summary) {
		if kind != "" && strings.Contains(r.Text, word) {
			marks++
		}
		if !r.has(word, kind) {
			return redflag.New(redflag.SchemaInvalid, "the summary has the %s %q, which is not in the text", kind, word)
		}
	}
	if flag := summaryFlags.CheckText(&redflag.Answer{Text: summary, Stop: "end", Asked: r.Text}); flag != nil {
		return flag
	}
	// A name, a number or a path from the text says as much as two words.
	if known, all := wordsFrom(summary, r.Text); (known+2*marks)*2 < all {
		return redflag.New(redflag.SchemaInvalid, "of %d words of the summary %d are in the text: it is about something else", all, known)
	}
	return nil
}

// summaryFlags are what a summary is discarded for, beside what it says.
var summaryFlags = redflag.Config{
	Refusal: redflag.RefusalCheck{On: true, Words: true}, MetaChatter: redflag.MetaChatterCheck{On: true},
	ToolLeakage: redflag.ToolLeakageCheck{On: true}, Placeholder: redflag.PlaceholderCheck{On: true}, Repetition: redflag.RepetitionCheck{On: true},
}

// wordsFrom counts the longer words of a summary, and how many of them are in the text
// that it is about, perhaps in another form. Scripts that do not show where words end are
// not looked at.
func wordsFrom(summary, text string) (known, all int) {
	const stem = 4 // letters; shorter words are in any text
	stems := map[string]bool{}
	for _, w := range longWords.FindAllString(strings.ToLower(text), -1) {
		stems[string([]rune(w)[:stem])] = true
	}
	for _, w := range longWords.FindAllString(strings.ToLower(summary), -1) {
		if all++; stems[string([]rune(w)[:stem])] {
			known++
		}
	}
	return known, all
}

var longWords = regexp.MustCompile(`[\p{Latin}\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}\p{Armenian}\p{Georgian}\p{Devanagari}]{4,}`)

// has reports whether an identifier may be in a summary of the text.
func (r *SummaryRequest) has(word string, kind tasks.IdentifierKind) bool {
	switch kind {
	case tasks.Address, tasks.Path:
		return strings.Contains(r.Text, word)
	case tasks.Number:
		plain := func(s string) string { return strings.ReplaceAll(s, ",", "") } // 1,000 is 1000
		return tasks.StandsIn(r.Text, word) || tasks.StandsIn(plain(r.Text), plain(word))
	default:
		return true
	}
}

// Accept takes a summary of what [Compactor.Request] returned. If it is not good
// enough, nothing changes.
func (c *Compactor) Accept(summary string) error {
	if c.request == nil {
		return errors.New("outline: a summary came, but none was asked for")
	}
	summary = strings.TrimSpace(valid(summary))
	if flag := c.request.Check(summary); flag != nil {
		return fmt.Errorf("outline: %s", flag.Reason)
	}
	c.replace(summary)
	return nil
}

// replace puts a summary in the place of what it is about, or nothing.
func (c *Compactor) replace(summary string) {
	r := c.request
	c.request = nil
	if c.summary = (note{}); summary != "" {
		c.summary = note{kind: summaryNote, first: r.first, last: r.last, text: summary + end}
		c.summary.tokens = EstimateTokens(c.summary.text)
	}
	kept := c.notes[:0]
	for i, n := range c.notes {
		if i >= len(r.taken) || !r.taken[i] {
			kept = append(kept, n)
		}
	}
	clear(c.notes[len(kept):])
	c.notes = kept
	for task := range c.quoted {
		if !c.quotes(task) && !slices.ContainsFunc(kept, func(n note) bool { return n.first == task }) {
			delete(c.quoted, task)
		}
	}
}

// quotes reports whether the summary has the result of a task, word for word.
func (c *Compactor) quotes(task int) bool {
	line := c.quoted[task]
	return line != "" && strings.Contains("\n"+c.summary.text, "\n"+line)
}

// mergeTask adds a task to a sorted list of them.
func mergeTask(list []int, task int) []int {
	if i, ok := slices.BinarySearch(list, task); !ok {
		list = slices.Insert(list, i, task)
	}
	return list
}

// left are the tasks whose results the context does not have.
func (c *Compactor) left() []int {
	return slices.DeleteFunc(slices.Clone(c.results), c.quotes)
}

// leftOut names what was left out, "" if nothing was.
func leftOut(results, details []int) string {
	var parts []string
	if len(results) > 0 {
		parts = append(parts, "the results of "+taskList(results)+" word for word")
	}
	if len(details) > 0 {
		parts = append(parts, "all else about "+taskList(details))
	}
	if parts == nil {
		return ""
	}
	return "Left out for lack of room: " + strings.Join(parts, "; ") + ".\n"
}

// taskList names tasks: "task 3", "tasks 1 to 4 and 7", and no more than eight ranges
// of them.
func taskList(tasks []int) string {
	const maxRanges = 8
	var ranges []string
	for i := 0; i < len(tasks); {
		j := i
		for j+1 < len(tasks) && tasks[j+1] == tasks[j]+1 {
			j++
		}
		if len(ranges) == maxRanges {
			ranges = append(ranges, fmt.Sprintf("others up to %d", tasks[len(tasks)-1]))
			break
		}
		if i == j {
			ranges = append(ranges, fmt.Sprint(tasks[i]))
		} else {
			ranges = append(ranges, fmt.Sprintf("%d to %d", tasks[i], tasks[j]))
		}
		i = j + 1
	}
	word := "tasks "
	if len(tasks) == 1 {
		word = "task "
	}
	if n := len(ranges); n > 1 {
		return word + strings.Join(ranges[:n-1], ", ") + " and " + ranges[n-1]
	}
	return word + ranges[0]
}
