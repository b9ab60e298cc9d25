package outline

import (
	"fmt"
	"slices"
	"strings"
)

// Attach adds what the person gave beside the text to the tasks that mention it, or to
// all of them if none does. Tasks that no model does have no use for it, and it is an
// error if there are only those.
func Attach(tasks []Task, refs []string) ([]Task, error) {
	tasks = slices.Clone(tasks)
	for _, ref := range refs {
		if strings.TrimSpace(ref) == "" {
			return nil, fmt.Errorf("the reference is empty, want a file or an address")
		}
		a := NewAttachment(ref, "")
		mentions := func(t Task) bool {
			return t.NeedsModel() && (standsIn(t.Text, a.Ref) || standsIn(t.Text, a.Label))
		}
		named := slices.ContainsFunc(tasks, mentions)
		used := false
		for i := range tasks {
			t := &tasks[i]
			if !t.NeedsModel() || named && !mentions(*t) {
				continue
			}
			used = true
			t.Attachments = unique(append(slices.Clip(t.Attachments), a))
		}
		if !used {
			return nil, fmt.Errorf("%s is of no use: there is no task that a model does", ref)
		}
	}
	return tasks, nil
}

// NeedsModel reports whether a task is more than a command given literally.
func (t *Task) NeedsModel() bool { return !t.Done && t.Command == "" }
