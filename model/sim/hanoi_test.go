package sim

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The judge in these tests shares no code with the simulator: it reads answers
// with a regular expression and JSON, and knows the rules on its own.

var answerLines = regexp.MustCompile(`(?m)^move = (\[.*\])\nnext_state = (\[.*\])$`)

// readAnswer returns nil if the text violates the format.
func readAnswer(text string, disks int) (move []int, state [][]int) {
	m := answerLines.FindStringSubmatch(text)
	if m == nil || json.Unmarshal([]byte(m[1]), &move) != nil || json.Unmarshal([]byte(m[2]), &state) != nil {
		return nil, nil
	}
	var all []int
	for _, peg := range state {
		all = append(all, peg...)
	}
	slices.Sort(all)
	for i, d := range all {
		if d != i+1 {
			return nil, nil
		}
	}
	if len(move) != 3 || len(state) != 3 || len(all) != disks {
		return nil, nil
	}
	return move, state
}

// play makes a legal move, or reports that it is not one.
func play(state [][]int, move []int) ([][]int, bool) {
	next := [][]int{slices.Clone(state[0]), slices.Clone(state[1]), slices.Clone(state[2])}
	from, to := next[move[1]], next[move[2]]
	if len(from) == 0 || from[len(from)-1] != move[0] || len(to) > 0 && to[len(to)-1] < move[0] {
		return nil, false
	}
	next[move[1]] = from[:len(from)-1]
	next[move[2]] = append(to, move[0])
	return next, true
}

func start(disks int) [][]int {
	state := [][]int{{}, {}, {}}
	for d := disks; d > 0; d-- {
		state[0] = append(state[0], d)
	}
	return state
}

func hanoiPrompt(state [][]int, previous string) string {
	s, _ := json.Marshal(state)
	return fmt.Sprintf("Rules: one disk at a time.\nCurrent state: [[9], [9], [9]] is how a state looks.\n"+
		"Previous move: %s\nCurrent state: %s\nWhat is the next move?", previous, s)
}

func TestHanoiToTheEnd(t *testing.T) {
	m := newModel(t, "default?p=1")
	for disks := 1; disks <= 10; disks++ {
		state, previous := start(disks), "none"
		moves := 0
		for len(state[2]) < disks {
			r, err := m.Generate(t.Context(), ask(hanoiPrompt(state, previous)))
			if err != nil {
				t.Fatal(err)
			}
			move, claimed := readAnswer(r.Text, disks)
			if move == nil {
				t.Fatalf("%d disks, move %d: answer %q does not have the format", disks, moves, r.Text)
			}
			next, ok := play(state, move)
			if !ok || fmt.Sprint(next) != fmt.Sprint(claimed) {
				t.Fatalf("%d disks, move %d: state %v, move %v gives %v, answer says %v", disks, moves, state, move, next, claimed)
			}
			state, previous = next, fmt.Sprintf("[%d, %d, %d]", move[0], move[1], move[2])
			moves++
		}
		if want := 1<<disks - 1; moves != want {
			t.Errorf("%d disks took %d moves, want %d", disks, moves, want)
		}
	}
}

func TestHanoiReading(t *testing.T) {
	m := newModel(t, "default?p=1")
	const move, none = "move = [1, 0, 2]\nnext_state = [[3, 2], [], [1]]", ""
	for _, test := range []struct{ name, prompt, want string }{
		{"plain", "Current state: [[3, 2, 1], [], []]\nPrevious move: none", move},
		{"no previous move", "Current state: [[3, 2, 1], [], []]", move},
		{"tight", "Current state:[[3,2,1],[],[]]\nPrevious move:None", move},
		{"on the next line", "Current state:\n  [[3, 2, 1],\n [],\n []]\nPrevious move:\nnone", move},
		{"carriage returns", "Previous move: none\r\nCurrent state: [[3, 2, 1], [], []]\r\n", move},
		{"last state counts", "Current state: [[2, 1], [], []]\nCurrent state: [[3, 2, 1], [], []]", move},
		{"last move counts", "Previous move: [1, 1, 0]\nPrevious move: [2, 1, 0]\nCurrent state: [[3, 2, 1], [], []]", move},
		{"a label without a state", "Current state: [[3, 2, 1], [], []]\nCurrent state: three lists", move},
		{"a question after it", "Current state: [[3, 2, 1], [], []]\nWhat is 1 + 1?", "answer = 2"},
		{"disk missing", "Current state: [[3, 1], [], []]", none},
		{"disk twice", "Current state: [[3, 2, 1], [1], []]", none},
		{"huge disk", "Current state: [[99999999999999999999, 1], [], []]", none},
		{"no disks", "Current state: [[], [], []]", none},
		{"disk 1 buried", "Current state: [[1, 2, 3], [], []]", none},
		{"nothing but disk 1 can move", "Current state: [[3, 2, 1], [], []]\nPrevious move: [1, 2, 0]", none},
	} {
		r, err := m.Generate(t.Context(), ask(test.prompt))
		if err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(r.Text, "\n")
		if got != test.want {
			t.Errorf("%s: Generate(%q) = %q, want lines %q", test.name, test.prompt, r.Text, test.want)
		}
	}
}

// TestHanoiRivals checks the wrong answers of every step of a game: as many as
// asked for, distinct, well-formed, wrong, and of all three kinds.
func TestHanoiRivals(t *testing.T) {
	const disks, rivals = 5, 4
	correct := newModel(t, "default?p=1")
	erring := newModel(t, fmt.Sprintf("default?p=0&rivals=%d", rivals))
	single := newModel(t, "default?p=0")
	kinds := map[string]int{}
	state, previous := start(disks), "none"
	for len(state[2]) < disks {
		prompt := hanoiPrompt(state, previous)
		r, _ := correct.Generate(t.Context(), ask(prompt))
		move, next := readAnswer(r.Text, disks)
		texts := map[string]bool{}
		for range 100 {
			w, err := erring.Generate(t.Context(), ask(prompt))
			if err != nil {
				t.Fatal(err)
			}
			texts[w.Text] = true
		}
		if len(texts) != rivals {
			t.Errorf("state %v: %d distinct wrong texts in 100 samples, want %d", state, len(texts), rivals)
		}
		answers := map[string]bool{fmt.Sprint(move, next): true}
		for text := range texts {
			m, s := readAnswer(text, disks)
			if m == nil {
				t.Fatalf("state %v: wrong answer %q is malformed", state, text)
			}
			answers[fmt.Sprint(m, s)] = true
		}
		if len(answers) != rivals+1 {
			t.Errorf("state %v: right and wrong answers are %d in all, want %d", state, len(answers), rivals+1)
		}
		w, _ := single.Generate(t.Context(), ask(prompt))
		switch m, _ := readAnswer(w.Text, disks); {
		case slices.Equal(m, move):
			kinds["other state"]++
		default:
			kind := "illegal move"
			if _, ok := play(state, m); ok {
				kind = "legal move"
			}
			kinds[kind]++
		}
		previous = fmt.Sprintf("[%d, %d, %d]", move[0], move[1], move[2])
		state = next
	}
	for _, kind := range []string{"legal move", "illegal move", "other state"} {
		if kinds[kind] < 3 {
			t.Errorf("the only rival is a(n) %s at %d of 31 steps, want some of each kind: %v", kind, kinds[kind], kinds)
		}
	}
}

// TestHanoiFewRivals asks for more wrong answers than a tiny game has.
func TestHanoiFewRivals(t *testing.T) {
	m := newModel(t, "default?p=0&rivals=1000")
	texts := map[string]bool{}
	for range 200 {
		r, err := m.Generate(t.Context(), ask("Current state: [[1], [], []]"))
		if err != nil {
			t.Fatal(err)
		}
		texts[r.Text] = true
	}
	if len(texts) != 3 { // the other way round, and two other states
		t.Errorf("one disk has %d wrong answers, want 3: %v", len(texts), texts)
	}
}

func TestHanoiMalformed(t *testing.T) {
	for _, disks := range []int{1, 3, 20, maxDisks} {
		m := newModel(t, "default?malformed=1")
		texts := map[string]bool{}
		for range 200 {
			r, err := m.Generate(t.Context(), ask(hanoiPrompt(start(disks), "none")))
			if err != nil {
				t.Fatal(err)
			}
			texts[r.Text] = true
			if move, _ := readAnswer(r.Text, disks); move != nil {
				t.Fatalf("malformed answer %q can be read", r.Text)
			}
		}
		if len(texts) != 5 {
			t.Errorf("%d disks: %d malformed answers, want 5", disks, len(texts))
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add("Current state: [[3, 2, 1], [], []]\nPrevious move: [2, 0, 1]", uint64(1), uint8(0), uint16(0))
	f.Add("Current state: [[1], [2], [3, 4]]\nPrevious move: [1, 0, 1]", uint64(7), uint8(1), uint16(3))
	f.Add("Compute: ((1 + 2) * 3 - 4) / -5", uint64(5), uint8(1), uint16(2))
	f.Add("What is 12 × 13 ÷ 0?", uint64(5), uint8(2), uint16(2))
	f.Add("Sort: [3, -1, 2, 2]", uint64(9), uint8(1), uint16(8))
	f.Add("Compute: 4 + 9\nCompute: 2 + 3\nanswer = 5", uint64(5), uint8(1), uint16(2))
	f.Fuzz(func(t *testing.T, prompt string, step uint64, q uint8, n uint16) {
		d := decision{quality: quality(q % 3), step: step, rival: int(n), form: int(n), ramble: int(n % 3)}
		answer := func() string {
			var l lineTask
			if l.read(prompt); !l.found() {
				t.Skip("no task in it")
			}
			return string(d.answerLine(nil, &l))
		}
		first := answer()
		if first == "" {
			t.Errorf("answer(%q) is empty", prompt)
		}
		if again := answer(); again != first {
			t.Errorf("answer(%q) = %q, then %q", prompt, first, again)
		}
	})
}
