package solver

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/internal/text/clip"
)

// What a run remembers stays small, however large the tree is: it becomes part of
// prompts.
const (
	MaxFacts = 5    // that everybody knows
	MaxNotes = 20   // of what was solved, the latest
	MaxWork  = 1200 // characters of work shown, the latest

	maxNote = 300 // characters of one note
)

// memory is what is known beside the tree.
type memory struct {
	facts []string
	notes []string
	work  string
}

// newMemory begins with the facts that were given and those that the domain finds
// in the problem.
func newMemory(cfg *Config, problem string) memory {
	var s Support
	s.evidence(cfg.Adapter, problem)
	facts := union(union(union(nil, cfg.Facts), s.Equations), s.Points)
	return memory{facts: facts[:min(len(facts), MaxFacts)]}
}

// learn notes the solution of a problem.
func (m *memory) learn(problem string, s Solution) {
	m.notes = append(m.notes, clip.Text(problem+": "+s.Solution, maxNote))
	m.notes = m.notes[max(0, len(m.notes)-MaxNotes):]
	if blank(s.Work) {
		return
	}
	if m.work != "" {
		m.work += "\n"
	}
	m.work += s.Work
	if extra := utf8.RuneCountInString(m.work) - MaxWork; extra > 0 {
		m.work = string([]rune(m.work)[extra:])
	}
}

// hash stands for all that is known: two states with the same hash will go the
// same way. What is known from the memo is known already.
func (s *solver) hash() string {
	type known struct{ Problem, Stage, Solution string }
	state := struct {
		Tree   []known
		Facts  []string
		Notes  []string
		Work   string
		Answer string
	}{Facts: s.memory.facts, Notes: s.memory.notes, Work: s.memory.work, Answer: s.answer.Answer}
	for _, n := range s.all() {
		if n.first == nil {
			state.Tree = append(state.Tree, known{n.normal, n.stage.String(), n.solution.Solution})
		}
	}
	sum := sha256.Sum256(encode(state))
	return hex.EncodeToString(sum[:8])
}

// part is a node as an adapter sees it.
func (n *node) part() domain.Part {
	return domain.Part{Problem: n.problem, Solution: n.solution.Solution}
}
