package history

import "github.com/maker-mdap/maker/event"

// happened notes the step of a script in which something happened.
func (a *Audit) happened(e event.Event) {
	if a.form != event.FormScript {
		return
	}
	step, ok := stepIn(e)
	if ok && !a.committed.has(step) {
		a.open[step] = true
		return
	}
	if v, voted := e.(event.VoteCompleted); voted && v.Scope == "" { // of the others the key of the step is known
		a.differ("step %d is voted on under %s after it was committed", step, v.Question)
	}
}

// edited notes that the script is another one from here on.
func (a *Audit) edited() {
	for step := range a.open {
		a.dropped.add(step)
	}
}

// complete holds a script that came to its end against its steps: all are committed, but for
// those that an edit left out.
func (a *Audit) complete() {
	last := a.committed.next
	for step := range a.committed.apart {
		last = max(last, step)
	}
	for step := a.committed.next; step < last; step++ {
		if !a.committed.has(step) && !a.dropped.has(step) {
			a.differ("the run is completed without step %d", step)
			return
		}
	}
}
