package sim

import "github.com/maker-mdap/maker/model"

// A task is what a question turns out to be: a rule of a script answers it, it is an
// inquiry of maker solve, or it stands on a line of the prompt.
type task struct {
	scripted match
	inquiry  *inquiry
	line     lineTask

	// problem stands for the seed and for what is to be found out, however that is
	// worded. Whatever the samples of a step have in common follows from it: how hard
	// the step is, which wrong answers compete, and the common draw. So a problem that
	// is put in other words is no easier, and those who err together err together.
	problem uint64

	// sequence stands for what the samples of a sequence are counted by; see
	// [match.sequence].
	sequence uint64
}

// recognise finds out what a question is. A script of one's own comes first. Those that
// ship with the simulator come before lines of the prompt, because a step of a plan may
// have such a line; but not before the towers, which are asked about a million times.
// It returns what stands for the seed and the question.
func (m *Model) recognise(t *task, req *model.Request) (key uint64) {
	q := asked(req)
	t.problem = mix(m.recogniseProblem(t, &q) ^ m.seed)
	if t.sequential() {
		t.sequence = mix(t.scripted.sequence(&q) ^ m.seed)
	}
	return mix(q.hash() ^ m.seed)
}

func (m *Model) recogniseProblem(t *task, q *question) uint64 {
	if t.scripted = m.script.find(q); t.scripted.rule != nil {
		return t.scripted.problem()
	}
	if t.line.read(q.prompt); t.line.isTowers {
		return t.line.hash()
	}
	if t.inquiry = readInquiry(q.prompt); t.inquiry != nil && (t.inquiry.Ask != "solve" || t.inquiry.known != nil) {
		return t.inquiry.hash()
	}
	if t.scripted = shipped().find(q); t.scripted.rule != nil {
		return t.scripted.problem()
	}
	if t.inquiry != nil {
		return t.inquiry.hash()
	}
	if t.line.found() {
		return t.line.hash()
	}
	return q.hash()
}

// sequential reports whether the samples of the question are answered in order.
func (t *task) sequential() bool { return t.scripted.rule != nil && t.scripted.rule.Sequence }

// noScript is what the simulator says to a task that it does not know. It declines, so
// that nobody takes this for an attempt, and a run fails with these words.
const noScript = "the simulator has no script for this task; see docs/simulator.md"

// say is the answer that is a text.
func say(text string) *answer { return &answer{text: text, stop: model.StopEnd} }
