package sim

import (
	"regexp"
	"strings"
)

// The forms of the prompts of maker do.
const (
	contextHeading = "# So far\n"
	contextEnd     = "\n</context>\n\n"
	outlineHeading = "# Task\n"
	summaryHeading = "Summarise the results below"
)

// withoutContext leaves out what the prompt says about earlier work.
func withoutContext(prompt string) string {
	if !strings.HasPrefix(prompt, contextHeading) {
		return prompt
	}
	if _, rest, ok := strings.Cut(prompt, contextEnd); ok {
		return rest
	}
	return prompt
}

var (
	attachedForm = regexp.MustCompile(`(?s)\n\n<attachment name=.*$`)
	needForm     = regexp.MustCompile(`(?s)\n\nIf you need to know something [^\n]*$`)
	mustForm     = regexp.MustCompile(`(?m)^- (.+)$`)
)

// doTask does a task of an outline as it does a step without tools whose answer has
// the field result.
func (d *decision) doTask(q *question) *answer {
	text := strings.TrimPrefix(q.prompt, outlineHeading)
	text = attachedForm.ReplaceAllString(needForm.ReplaceAllString(text, ""), "")
	step := *q
	step.prompt = stepHeading + "\n" + strings.TrimSpace(text) + "\n" + answerHeading + "\nA YAML mapping with these fields:\nresult: string, what was done"
	return d.doStep(&step)
}

// summarise keeps what it was told to keep. A wrong summary drops the first of it.
func (d *decision) summarise(prompt string) *answer {
	head, results, _ := strings.Cut(prompt, "\n<results>\n")
	var keep []string
	for _, m := range mustForm.FindAllStringSubmatch(head, -1) {
		keep = append(keep, m[1])
	}
	if d.quality == wrong && len(keep) > 0 {
		keep = keep[1:]
	}
	if len(keep) == 0 {
		first, _, _ := strings.Cut(strings.TrimSpace(results), "\n")
		return say("Earlier work is done: " + first)
	}
	return say("Earlier work is done. It found out: " + strings.Join(keep, ", ") + ".")
}
