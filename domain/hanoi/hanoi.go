// Package hanoi is the task of the paper: the Towers of Hanoi, one move a step.
//
// A state is three lists of disks from bottom to top, disk 1 the smallest. A
// move is [disk, from, to] with pegs 0 to 2. A voter sees the rules, a strategy,
// the previous move and the current state, and answers with a move and the
// state it leads to; it knows neither the history nor the number of the step.
//
// The right answer to every step is known in closed form ([MoveAt], [StateAt]),
// which is what makes the task a benchmark: it can be checked independently of
// how it was solved.
package hanoi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
)

// Name is the family's name and that of its reader.
const Name = "hanoi"

// MaxDisks is the largest number of disks whose steps an int can count.
const MaxDisks = 62

// Params are the parameters of a Hanoi run.
type Params struct {
	Disks int `json:"disks"`

	// Verify discards an answer whose move is illegal in the current state or
	// does not lead to the state it names. It is off by default, so that the
	// vote alone is tested.
	Verify bool `json:"verify,omitempty"`

	// JSON asks for the answer as a JSON object instead of two lines.
	JSON bool `json:"json,omitempty"`

	// NoCheck lets a run go on after a wrong move was committed. Otherwise it
	// is stopped at once: going on would only spend money.
	NoCheck bool `json:"no_check,omitempty"`
}

// Validate reports a number of disks that makes no sense.
func (p Params) Validate() error {
	if p.Disks < 1 || p.Disks > MaxDisks {
		return fmt.Errorf("%d disks, want 1 to %d", p.Disks, MaxDisks)
	}
	return nil
}

// Family lets an engine run the task.
func Family() domain.Family {
	return domain.Family{
		Name:    Name,
		Readers: domain.Readers{Name: newReader},
		NewChain: func(raw json.RawMessage) (domain.Chain, string, error) {
			var p Params
			if err := json.Unmarshal(raw, &p); err != nil {
				return nil, "", fmt.Errorf("hanoi: parameters: %w", err)
			}
			if err := p.Validate(); err != nil {
				return nil, "", fmt.Errorf("hanoi: %w", err)
			}
			task := fmt.Sprintf("Towers of Hanoi with %d disks", p.Disks)
			if p.Disks == 1 {
				task = "Towers of Hanoi with 1 disk"
			}
			return newChain(p), task, nil
		},
	}
}

// Steps is the number of moves that solve n disks.
func Steps(n int) int { return 1<<n - 1 }

// A Move takes a disk from one peg to another.
type Move struct{ Disk, From, To int }

// String gives the form in which prompts and answers have it.
func (m Move) String() string { return fmt.Sprintf("[%d, %d, %d]", m.Disk, m.From, m.To) }

// A State is the disks on each peg, from bottom to top.
type State [3][]int

// Start is the state with all n disks on peg 0.
func Start(n int) State { return StateAt(n, 0) }

// MoveAt is the right move of step, counted from 0, with n disks.
func MoveAt(n, step int) Move {
	m := uint64(step) + 1
	move := Move{
		Disk: bits.TrailingZeros64(m) + 1,
		From: int((m & (m - 1)) % 3),
		To:   int(((m | (m - 1)) + 1) % 3),
	}
	// The bit formula sends disk 1 to peg 2 first, which ends on peg 2 for an
	// odd number of disks. For an even number pegs 1 and 2 change places.
	if n%2 == 0 {
		move.From, move.To = mirror(move.From), mirror(move.To)
	}
	return move
}

// StateAt is the state after the first steps right moves with n disks.
func StateAt(n, steps int) State {
	var s State
	for disk := n; disk >= 1; disk-- {
		peg := pegAt(n, steps, disk)
		s[peg] = append(s[peg], disk)
	}
	return s
}

// pegAt is where disk is after steps right moves.
func pegAt(n, steps, disk int) int {
	moves := (uint64(steps) + 1<<(disk-1)) >> disk
	peg := int(moves % 3)
	// Disks of one parity travel one way round, those of the other the other.
	if disk%2 == n%2 {
		return mirror(peg)
	}
	return peg
}

func mirror(peg int) int { return [3]int{0, 2, 1}[peg] }

// chain implements domain.Chain.
type chain struct {
	Params
	system string
	format json.RawMessage // parameters of the reader, unless it verifies
	schema json.RawMessage // of answers in JSON
}

//go:embed system.txt
var systemText string

// answerText and answerJSON say how to answer.
const (
	answerText = `You may think briefly first. Then end with exactly these two lines, the second being the whole state after your move:
move = [disk, from, to]
next_state = [[...], [...], [...]]`
	answerJSON = `Answer with a JSON object and nothing else, its next_state being the whole state after your move:
{"move": [disk, from, to], "next_state": [[...], [...], [...]]}`
)

// schema is that of an answer in JSON, as tight as a schema can be: a weak model gives few
// valid answers without it.
func schema(disks int) json.RawMessage {
	disk := fmt.Sprintf(`{"type":"integer","minimum":1,"maximum":%d}`, disks)
	const peg = `{"type":"integer","minimum":0,"maximum":2}`
	stack := fmt.Sprintf(`{"type":"array","items":%s,"minItems":0,"maxItems":%d}`, disk, disks)
	return fmt.Appendf(nil, `{"type":"object","properties":{`+
		`"move":{"type":"array","prefixItems":[%s,%s,%s],"minItems":3,"maxItems":3},`+
		`"next_state":{"type":"array","items":%s,"minItems":3,"maxItems":3}},`+
		`"required":["move","next_state"],"additionalProperties":false}`, disk, peg, peg, stack)
}

const (
	promptPrevious = "Previous move: "
	promptState    = "\nCurrent state: "
	promptEnd      = "\n\nGive the next move and the state after it."
)

func newChain(p Params) *chain {
	direction := "clockwise (0 to 1, 1 to 2, 2 to 0)"
	if p.Disks%2 == 1 {
		direction = "counter-clockwise (0 to 2, 2 to 1, 1 to 0)"
	}
	answer := answerText
	if p.JSON {
		answer = answerJSON
	}
	system := strings.NewReplacer("{disks}", strconv.Itoa(p.Disks), "{direction}", direction, "{answer}", answer).Replace(systemText)
	return &chain{
		Params: p,
		system: system,
		format: fmt.Appendf(nil, `{"disks":%d}`, p.Disks),
		schema: schema(p.Disks),
	}
}

func (c *chain) Steps() int { return Steps(c.Disks) }

func (c *chain) Question(step int, previous json.RawMessage) (*flow.Question, error) {
	// The prompt repeats the lists as the winner wrote them, so it is the same
	// text whether the run was resumed or not.
	move, state := []byte("none"), []byte(nil)
	if step == 0 {
		state = appendState(nil, Start(c.Disks))
	} else {
		var err error
		if move, state, err = splitOutput(previous); err != nil {
			return nil, fmt.Errorf("hanoi: output of step %d: %w", step-1, err)
		}
	}
	var room [512]byte
	prompt := appendSpaced(append(room[:0], promptPrevious...), move)
	prompt = appendSpaced(append(prompt, promptState...), state)
	prompt = append(prompt, promptEnd...)
	format := flow.Format{Reader: Name, Params: c.format}
	if c.Verify {
		format.Params = fmt.Appendf(nil, `{"disks":%d,"state":%s}`, c.Disks, state)
	}
	q := &flow.Question{System: c.system, Prompt: string(prompt), Answer: format}
	if c.JSON {
		q.Schema = c.schema
	}
	return q, nil
}

// appendSpaced appends lists with a space after each comma.
func appendSpaced(b, lists []byte) []byte {
	for _, c := range lists {
		if b = append(b, c); c == ',' {
			b = append(b, ' ')
		}
	}
	return b
}

// WrongError is a committed step that is not the solution's.
type WrongError struct {
	Step      int
	Got, Want string
}

func (e *WrongError) Error() string {
	return fmt.Sprintf("step %d is wrong: the vote chose %s, the solution is %s; "+
		"the checker knows this in closed form, the vote could not know", e.Step, e.Got, e.Want)
}

// Checks implements domain.Checker.
func (c *chain) Checks() (steps, last bool) { return !c.NoCheck, true }

// NeverRepeats implements domain.Onward: the shortest solution comes to no state twice.
func (c *chain) NeverRepeats() bool { return true }

func (c *chain) Check(step int, output json.RawMessage) error {
	if c.NoCheck {
		return nil
	}
	var room [256]byte
	want := appendSolution(room[:0], c.Disks, step)
	if string(output) == string(want) {
		return nil
	}
	return &WrongError{Step: step, Got: string(output), Want: string(want)}
}

func (c *chain) Finish(last json.RawMessage) error {
	_, got, err := splitOutput(last)
	if err != nil {
		return fmt.Errorf("hanoi: last output: %w", err)
	}
	if want := appendState(nil, StateAt(c.Disks, c.Steps())); string(got) != string(want) {
		return fmt.Errorf("the last state is %s, not %s: at least one committed move was wrong, "+
			"and nothing along the way could know (see --check and --verify)", got, want)
	}
	return nil
}

// appendSolution appends the right output of a step to b.
func appendSolution(b []byte, n, step int) []byte {
	m := MoveAt(n, step)
	b = append(b, outputMove...)
	b = appendList(b, []int{m.Disk, m.From, m.To})
	b = append(b, outputState+"["...)
	var pegs [3]uint64 // the disks on each, as bits
	for disk := 1; disk <= n; disk++ {
		pegs[pegAt(n, step+1, disk)] |= 1 << disk
	}
	for peg, disks := range pegs {
		if peg > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		for first := true; disks != 0; first = false {
			disk := bits.Len64(disks) - 1
			disks &^= 1 << disk
			if !first {
				b = append(b, ',')
			}
			b = appendNumber(b, disk)
		}
		b = append(b, ']')
	}
	return append(b, "]}"...)
}
