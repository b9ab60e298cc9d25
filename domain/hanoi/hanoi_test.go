package hanoi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/redflag"
)

// play solves the puzzle by the textbook recursion, independently of the closed
// form and of the strategy in the prompt.
func play(n, from, to int, move func(Move)) {
	if n == 0 {
		return
	}
	via := 3 - from - to
	play(n-1, from, via, move)
	move(Move{n, from, to})
	play(n-1, via, to, move)
}

func TestClosedFormAgainstRecursion(t *testing.T) {
	for n := 1; n <= 12; n++ {
		state := State{}
		for d := n; d >= 1; d-- {
			state[0] = append(state[0], d)
		}
		step := 0
		play(n, 0, 2, func(m Move) {
			if got := MoveAt(n, step); got != m {
				t.Fatalf("MoveAt(%d, %d) = %v, want %v", n, step, got, m)
			}
			if got, want := fmt.Sprint(StateAt(n, step)), fmt.Sprint(state); got != want {
				t.Fatalf("StateAt(%d, %d) = %v, want %v", n, step, got, want)
			}
			if got := solutionOf(n, step); string(got) != string(appendOutput(nil, output{[3]int{m.Disk, m.From, m.To}, StateAt(n, step+1)})) {
				t.Fatalf("appendSolution(%d, %d) = %s", n, step, got)
			}
			src := state[m.From]
			if len(src) == 0 || src[len(src)-1] != m.Disk {
				t.Fatalf("%d disks, step %d: %v is not possible in %v", n, step, m, state)
			}
			state[m.From] = src[: len(src)-1 : len(src)-1]
			state[m.To] = append(state[m.To], m.Disk)
			step++
		})
		if step != Steps(n) {
			t.Errorf("Steps(%d) = %d, want %d", n, Steps(n), step)
		}
		if got, want := fmt.Sprint(StateAt(n, step)), fmt.Sprint(state); got != want {
			t.Errorf("StateAt(%d, %d) = %v, want %v", n, step, got, want)
		}
	}
}

// TestStrategyInThePrompt follows the words of the prompt literally.
func TestStrategyInThePrompt(t *testing.T) {
	for n := 1; n <= 10; n++ {
		clockwise := strings.Contains(newChain(Params{Disks: n}).system, "one peg clockwise")
		if clockwise != (n%2 == 0) {
			t.Errorf("%d disks: the prompt says clockwise: %v", n, clockwise)
		}
		for step := range Steps(n) {
			m := MoveAt(n, step)
			if (m.Disk == 1) != (step%2 == 0) {
				t.Fatalf("%d disks, step %d: %v does not alternate", n, step, m)
			}
			if m.Disk == 1 {
				want := (m.From + 1) % 3
				if !clockwise {
					want = (m.From + 2) % 3
				}
				if m.To != want {
					t.Fatalf("%d disks, step %d: %v goes the wrong way round", n, step, m)
				}
			}
		}
	}
}

func solutionOf(n, step int) json.RawMessage { return appendSolution(nil, n, step) }

func TestQuestions(t *testing.T) {
	c, task, err := Family().NewChain(json.RawMessage(`{"disks":3,"verify":true}`))
	if err != nil {
		t.Fatal(err)
	}
	if task != "Towers of Hanoi with 3 disks" || c.Steps() != 7 {
		t.Errorf("NewChain() = %q with %d steps", task, c.Steps())
	}
	q, err := c.Question(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "Previous move: none\nCurrent state: [[3, 2, 1], [], []]\n\nGive the next move and the state after it."
	if q.Prompt != want {
		t.Errorf("Question(0) = %q, want %q", q.Prompt, want)
	}
	var previous json.RawMessage
	for step := range c.Steps() {
		q, err := c.Question(step, previous)
		if err != nil {
			t.Fatal(err)
		}
		// Nothing but the previous move and the state may tell steps apart.
		if strings.Contains(q.Prompt, "step") || strings.Contains(q.System, "step "+fmt.Sprint(step)) {
			t.Errorf("Question(%d) names its step: %q", step, q.Prompt)
		}
		reader, err := Family().Readers.New(q.Answer.Reader, q.Answer.Params)
		if err != nil {
			t.Fatal(err)
		}
		previous = solutionOf(3, step)
		m := MoveAt(3, step)
		a, flag := reader.Read(fmt.Sprintf("move = %v\nnext_state = %s", m, appendSpaced(nil, appendState(nil, StateAt(3, step+1)))))
		if flag != nil || string(a.Value) != string(previous) {
			t.Errorf("Read(step %d) = %s, %v, want %s", step, a.Value, flag, previous)
		}
		if err := c.Check(step, previous); err != nil {
			t.Errorf("Check(%d) = %v", step, err)
		}
	}
	if err := c.Finish(previous); err != nil {
		t.Errorf("Finish() = %v", err)
	}
}

func TestWrongStepsAreKnown(t *testing.T) {
	c := newChain(Params{Disks: 3})
	err := c.Check(2, solutionOf(3, 1))
	if err == nil || !strings.Contains(err.Error(), "step 2 is wrong") {
		t.Errorf("Check(2, output of step 1) = %v", err)
	}
	if err := newChain(Params{Disks: 3, NoCheck: true}).Check(2, solutionOf(3, 1)); err != nil {
		t.Errorf("Check() without checking = %v", err)
	}
	if err := c.Finish(solutionOf(3, 5)); err == nil {
		t.Error("Finish() before the end: no error")
	}
	for _, disks := range []string{`{"disks":0}`, `{"disks":-1}`, `{"disks":65}`, `{"disks":"x"}`, ``} {
		if _, _, err := Family().NewChain(json.RawMessage(disks)); err == nil {
			t.Errorf("NewChain(%s): no error", disks)
		}
	}
}

func newTestReader(t *testing.T, params string) domain.Reader {
	t.Helper()
	r, err := newReader(json.RawMessage(params))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRead(t *testing.T) {
	plain := newTestReader(t, `{"disks":3}`)
	for _, c := range []struct{ name, text, want, flag string }{
		{"plain", "move = [1, 0, 2]\nnext_state = [[3, 2], [], [1]]", `{"move":[1,0,2],"next_state":[[3,2],[],[1]]}`, ""},
		{"spaces", "move=[ 1 ,0,2 ]  \nnext_state  =  [ [3,2] , [ ] , [1] ].", `{"move":[1,0,2],"next_state":[[3,2],[],[1]]}`, ""},
		{"over lines", "move = [1,\n0,\n2]\nnext_state = [\n[3, 2],\n[],\n[1]\n]", `{"move":[1,0,2],"next_state":[[3,2],[],[1]]}`, ""},
		{"the last counts", "move = [2, 0, 1]\nnext_state = [[3],[2],[1]]\nNo.\nmove = [1, 0, 2]\nnext_state = [[3, 2], [], [1]]", `{"move":[1,0,2],"next_state":[[3,2],[],[1]]}`, ""},
		{"reasoning around", "I remove = disk. The move is clear.\nmove = [1,0,2]\nnext_state = [[3,2],[],[1]]\nDone: that was my move.", `{"move":[1,0,2],"next_state":[[3,2],[],[1]]}`, ""},
		{"order of the lines", "next_state = [[3,2],[],[1]]\nmove = [1,0,2]", `{"move":[1,0,2],"next_state":[[3,2],[],[1]]}`, ""},
		{"legality is not checked", "move = [3,0,2]\nnext_state = [[1,2],[],[3]]", `{"move":[3,0,2],"next_state":[[1,2],[],[3]]}`, ""},
		{"markdown", "**move = [1,0,2]**\n`next_state = [[3,2],[],[1]]`", `{"move":[1,0,2],"next_state":[[3,2],[],[1]]}`, ""},
		{"JSON", ` {"move": [1, 0, 2], "next_state": [[3, 2], [], [1]]}`, `{"move":[1,0,2],"next_state":[[3,2],[],[1]]}`, ""},
		{"JSON in another order", `{"next_state":[[3,2],[],[1]],"move":[1,0,2]}`, `{"move":[1,0,2],"next_state":[[3,2],[],[1]]}`, ""},
		{"broken JSON", `{"move": [1, 0, 2], "next_state": [[3, 2], [], [1]]`, "", "the answer is not valid JSON"},
		{"JSON without a field", `{"move": [1, 0, 2], "x": 1}`, "", "next_state: there is none"},
		{"JSON with one field", `{"move": [1, 0, 2]}`, "", "move: the object has 1 fields, want 2"},
		{"JSON with a wrong field", `{"move": "1,0,2", "next_state": [[3, 2], [], [1]]}`, "", "move: a list does not start with ["},
		{"empty", "", "", "move: there is none"},
		{"no state", "move = [1,0,2]", "", "next_state: there is none"},
		{"prose", "The next_state follows from the move.", "", "move: there is none"},
		{"two numbers", "move = [1,0]\nnext_state = [[3,2],[],[1]]", "", "move: 2 numbers, want 3"},
		{"four numbers", "move = [1,0,2,2]\nnext_state = [[3,2],[],[1]]", "", "move: 4 numbers, want 3"},
		{"a fraction", "move = [1.0,0,2]\nnext_state = [[3,2],[],[1]]", "", "move: a list is not closed"},
		{"a string", `move = ["1",0,2]` + "\nnext_state = [[3,2],[],[1]]", "", "move: a list holds something that is not an integer"},
		{"overflow", "move = [99999999999999999999,0,2]\nnext_state = [[3,2],[],[1]]", "", "move: a list holds something that is not an integer"},
		{"a disk twice", "move = [1,0,2]\nnext_state = [[3,2],[1],[1]]", "", "next_state: disk 1 is there twice"},
		{"a disk missing", "move = [1,0,2]\nnext_state = [[3],[],[1]]", "", "next_state: 2 disks, want 3"},
		{"a disk too many", "move = [1,0,2]\nnext_state = [[4,3,2],[],[1]]", "", "next_state: there is no disk 4"},
		{"a negative disk", "move = [1,0,2]\nnext_state = [[3,-2],[],[1]]", "", "next_state: there is no disk -2"},
		{"two pegs", "move = [1,0,2]\nnext_state = [[3,2],[1]]", "", "next_state: 2 lists, want 3"},
		{"four pegs", "move = [1,0,2]\nnext_state = [[3,2],[1],[],[]]", "", "next_state: it does not end after three lists"},
		{"nested", "move = [1,0,2]\nnext_state = [[3,[2]],[1],[]]", "", "next_state: a list holds something that is not an integer"},
		{"cut", "move = [1,0,2]\nnext_state = [[3,2],[],[1", "", "next_state: a list is not closed"},
		{"bare minus", "move = [-,0,2]\nnext_state = [[3,2],[],[1]]", "", "move: a list holds something that is not an integer"},
	} {
		a, flag := plain.Read(c.text)
		reason := ""
		if flag != nil {
			reason = flag.Reason
			if flag.Name != redflag.SchemaInvalid {
				t.Errorf("%s: flag %s, want %s", c.name, flag.Name, redflag.SchemaInvalid)
			}
		}
		if string(a.Value) != c.want || a.Key != c.want || reason != c.flag {
			t.Errorf("%s: Read(%q) = %s, %q, want %s, %q", c.name, c.text, a.Value, reason, c.want, c.flag)
		}
	}
}

func TestVerify(t *testing.T) {
	r := newTestReader(t, `{"disks":3,"state":[[3, 2], [], [1]]}`)
	for _, c := range []struct{ text, flag string }{
		{"move = [2,0,1]\nnext_state = [[3],[2],[1]]", ""},
		{"move = [1,2,0]\nnext_state = [[3,2,1],[],[]]", ""},
		{"move = [2,0,2]\nnext_state = [[3],[],[1,2]]", "illegal move: disk 2 onto the smaller disk 1"},
		{"move = [3,0,1]\nnext_state = [[2],[3],[1]]", "illegal move: disk 3 is not on top of peg 0"},
		{"move = [1,1,0]\nnext_state = [[3,2,1],[],[]]", "illegal move: disk 1 is not on top of peg 1"},
		{"move = [1,2,2]\nnext_state = [[3,2],[],[1]]", "illegal move: from peg 2 to peg 2"},
		{"move = [1,2,7]\nnext_state = [[3,2],[],[1]]", "illegal move: from peg 2 to peg 7"},
		{"move = [1,-1,0]\nnext_state = [[3,2],[],[1]]", "illegal move: from peg -1 to peg 0"},
		{"move = [2,0,1]\nnext_state = [[3,2],[],[1]]", "the move does not lead to the state"},
		{"move = [2,0,1]\nnext_state = [[2],[3],[1]]", "the move does not lead to the state"},
	} {
		_, flag := r.Read(c.text)
		reason := ""
		if flag != nil {
			reason = flag.Reason
		}
		if reason != c.flag {
			t.Errorf("Read(%q) = %q, want %q", c.text, reason, c.flag)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("move = [1, 0, 2]\nnext_state = [[3, 2], [], [1]]")
	f.Add("move = [[[[\nnext_state = ]]]]")
	f.Add("move=[-,-,-]next_state=[[],[],[")
	f.Fuzz(func(t *testing.T, text string) {
		r := reader{disks: 3}
		a, flag := r.Read(text)
		if (flag == nil) != (a.Value != nil) {
			t.Fatalf("Read(%q) = %s, %v", text, a.Value, flag)
		}
		if flag != nil {
			return
		}
		// What was read is what a later step will read from the log.
		move, state, err := splitOutput(a.Value)
		if err != nil || !json.Valid(a.Value) {
			t.Fatalf("Read(%q) = %s, which does not survive: %v", text, a.Value, err)
		}
		again, flag := r.Read(fmt.Sprintf("move = %s\nnext_state = %s", move, state))
		if flag != nil || again.Key != a.Key {
			t.Fatalf("Read(%q) = %s, read again %s, %v", text, a.Value, again.Value, flag)
		}
	})
}

func BenchmarkQuestion(b *testing.B) {
	c := newChain(Params{Disks: 20})
	previous := solutionOf(20, 500_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Question(500_001, previous); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	m := MoveAt(20, 500_000)
	text := fmt.Sprintf("The previous move was of disk 1.\nmove = %v\nnext_state = %s", m, appendSpaced(nil, appendState(nil, StateAt(20, 500_001))))
	r := reader{disks: 20}
	b.ReportAllocs()
	for b.Loop() {
		if _, flag := r.Read(text); flag != nil {
			b.Fatal(flag)
		}
	}
}
