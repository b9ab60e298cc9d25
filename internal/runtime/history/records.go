package history

import (
	"bytes"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
)

// Records are how the records of a run have ended so far. A million of them take less than
// a megabyte.
type Records struct {
	decided, undecided, failed numbers
	right, wrong               numbers // of those with a known answer
}

// Ended is how a record ended, and whether its answer is the known one, where there is
// one; empty if it has to be asked about.
func (r *Records) Ended(n int) (flow.Status, *bool) {
	switch {
	case r.decided.has(n):
		if right := r.right.has(n); right || r.wrong.has(n) {
			return flow.Decided, &right
		}
		return flow.Decided, nil
	case r.undecided.has(n):
		return flow.Undecided, nil
	case r.failed.has(n):
		return flow.Failed, nil
	}
	return "", nil
}

// Known is how many records have an answer and a known one, and how many of these are right.
func (r *Records) Known() (known, right int) {
	right = r.right.len()
	return right + r.wrong.len(), right
}

// completed notes that a record has an answer, and reports whether it had none.
func (r *Records) completed(n int, right *bool) bool {
	r.undecided.remove(n)
	r.failed.remove(n)
	if right != nil && *right {
		r.right.add(n)
	} else if right != nil {
		r.wrong.add(n)
	}
	return r.decided.add(n)
}

// gaveUp notes that a record has none.
func (r *Records) gaveUp(n int, status string) {
	if status == string(flow.Undecided) {
		r.undecided.add(n)
	} else {
		r.failed.add(n)
	}
}

// Retry has the records that ended in one of the statuses asked about again.
func (r *Records) Retry(statuses []string) {
	for _, s := range statuses {
		if s == string(flow.Undecided) {
			r.undecided = numbers{}
		} else {
			r.failed = numbers{}
		}
	}
}

// stepOf is the number of the step that a line commits, and whether its answer is known
// to be right, without decoding it.
func stepOf(line []byte) (n int, right *bool, ok bool) {
	_, rest, ok := bytes.Cut(line, []byte(`,"step":`)) // what comes before it has no such text
	if !ok {
		return 0, nil, false
	}
	digits := rest[:max(bytes.IndexAny(rest, ",}"), 0)]
	n, err := strconv.Atoi(string(digits))
	if tail := rest[max(0, len(rest)-len(`,"right":false,"crc":"00000000"}`)):]; bytes.Contains(tail, []byte(`,"right":true`)) {
		right = new(bool)
		*right = true
	} else if bytes.Contains(tail, []byte(`,"right":false`)) {
		right = new(bool)
	}
	return n, right, err == nil
}

// forgetRecord forgets what was recorded on the way to the end of a record.
func (h *History) forgetRecord(n int) {
	if len(h.Verdicts) == 0 && len(h.Votes) == 0 {
		return
	}
	below := ofRecord(n)
	forget(h.Verdicts, below)
	forget(h.Votes, below)
}

// reopenRecord forgets what was recorded of a record that ended without an answer, but for
// the questions that are settled, and the votes of one that may go on if more samples are
// allowed.
func (h *History) reopenRecord(n int, goesOn bool) {
	below := ofRecord(n)
	kept := map[string]Verdict{}
	for key, v := range h.Verdicts {
		if !below(key) {
			continue
		}
		second, asked := h.Verdicts[key+"/"+string(flow.Second)]
		if v.Stands = v.Status == flow.Decided || asked && second.Status == flow.Decided; v.Stands {
			kept[key] = v
		}
	}
	forget(h.Verdicts, below)
	maps.Copy(h.Verdicts, kept)
	if !goesOn {
		forget(h.Votes, below)
	}
}

// ofRecord reports whether a key is one of a record.
func ofRecord(n int) func(key string) bool {
	branch := flow.Branch(flow.Records, n)
	return func(key string) bool { return strings.HasPrefix(key, branch) }
}

// takeRecord learns how a record ended.
func (h *History) takeRecord(e event.Event) {
	switch e := e.(type) {
	case event.StepCompleted:
		h.Records.completed(e.Step, e.Right)
		h.forgetRecord(e.Step)
	case event.StepFailed:
		h.Records.gaveUp(e.Step, e.Status)
		h.reopenRecord(e.Step, e.Status == string(flow.Undecided))
	}
}

// numbers is a set of them. The zero value is empty.
type numbers struct {
	bits []uint64
}

// has reports whether n is in the set.
func (s *numbers) has(n int) bool { return n>>6 < len(s.bits) && s.bits[n>>6]&(1<<(n&63)) != 0 }

// add adds n, from 0, and reports whether it is new.
func (s *numbers) add(n int) bool {
	if n < 0 || s.has(n) {
		return false
	}
	if more := n>>6 + 1 - len(s.bits); more > 0 {
		s.bits = slices.Grow(s.bits, more)[:n>>6+1]
	}
	s.bits[n>>6] |= 1 << (n & 63)
	return true
}

// len is how many there are.
func (s *numbers) len() int {
	n := 0
	for _, word := range s.bits {
		n += bits.OnesCount64(word)
	}
	return n
}

// remove takes n out.
func (s *numbers) remove(n int) {
	if s.has(n) {
		s.bits[n>>6] &^= 1 << (n & 63)
	}
}
