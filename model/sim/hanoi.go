package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxDisks is far more than anybody can move.
const maxDisks = 128

// towers is a state of the game: three pegs, bottom to top, disk 1 the smallest.
// It has a fixed size, so that a step needs no allocation.
type towers struct {
	pegs   [3][maxDisks]uint8
	height [3]int
	disks  int // 0 if the state is corrupt
}

type move struct{ disk, from, to int }

// read reads [[3, 2, 1], [], []] at the beginning of a text, and reports whether
// there is such a thing: three lists of whole numbers.
func (t *towers) read(s string) (ok bool) {
	*t = towers{}
	largest, sound := 0, true
	var seen [maxDisks + 1]bool
	s, ok = cutSign(s, '[')
	for peg := 0; ok && peg < 3; peg++ {
		if peg > 0 {
			if s, ok = cutSign(s, ','); !ok {
				return false
			}
		}
		s, ok = scanList(s, func(disk int) {
			if disk < 1 || disk > maxDisks || seen[disk] {
				sound = false
				return
			}
			seen[disk] = true
			t.push(peg, disk)
			largest = max(largest, disk)
		})
	}
	if sound && largest == t.height[0]+t.height[1]+t.height[2] {
		t.disks = largest
	}
	_, closed := cutSign(s, ']')
	return ok && closed
}

// push puts a disk on top of a peg.
func (t *towers) push(peg, disk int) {
	t.pegs[peg][t.height[peg]] = uint8(disk)
	t.height[peg]++
}

// hash stands for the state and the disk that was moved last.
func (t *towers) hash(previous int) uint64 {
	h := uint64(previous)
	for p := range t.pegs {
		for _, disk := range t.pegs[p][:t.height[p]] {
			h = (h ^ uint64(disk)) * golden
		}
		h = (h ^ 0xff) * golden // the peg ends here
	}
	return mix(h)
}

// cutSign drops a sign and the white space before it.
func cutSign(s string, sign byte) (rest string, ok bool) {
	if s = skipSpace(s); s == "" || s[0] != sign {
		return s, false
	}
	return s[1:], true
}

// scanList reads [3, 2, 1], calls f for each number and returns the rest. Numbers that
// cannot be a disk or a peg are all the same large one.
func scanList(s string, f func(int)) (rest string, ok bool) {
	if s, ok = cutSign(s, '['); !ok {
		return s, false
	}
	if rest, ok = cutSign(s, ']'); ok {
		return rest, true
	}
	for ok := true; ok; s, ok = cutSign(s, ',') {
		s = skipSpace(s)
		n, i := 0, 0
		for ; i < len(s) && '0' <= s[i] && s[i] <= '9'; i++ {
			n = min(n*10+int(s[i]-'0'), 1<<20)
		}
		if i == 0 {
			return s, false
		}
		f(n)
		s = s[i:]
	}
	return cutSign(s, ']')
}

// readMove reads [disk, from, to] or none at the beginning of a text, and returns the
// disk, 0 for none.
func readMove(s string) (disk int, ok bool) {
	s = skipSpace(s)
	if len(s) >= 4 && strings.EqualFold(s[:4], "none") {
		return 0, true
	}
	n := 0
	_, ok = scanList(s, func(number int) {
		if n++; n == 1 {
			disk = number
		}
	})
	if !ok || n != 3 {
		return 0, false
	}
	return disk, true
}

// top returns the uppermost disk of a peg. An empty peg counts as a disk larger
// than all others.
func (t *towers) top(peg int) int {
	if h := t.height[peg]; h > 0 {
		return int(t.pegs[peg][h-1])
	}
	return maxDisks + 1
}

// peg returns the peg that holds the disk.
func (t *towers) peg(disk int) int {
	for p := range t.pegs {
		if slices.Contains(t.pegs[p][:t.height[p]], uint8(disk)) {
			return p
		}
	}
	return -1
}

func (t *towers) legal(m move) bool {
	return t.top(m.from) == m.disk && m.disk < t.top(m.to)
}

// place takes the disk from wherever it is and puts it on top of a peg.
func (t *towers) place(disk, peg int) {
	from := t.peg(disk)
	stack := t.pegs[from][:t.height[from]]
	at := slices.Index(stack, uint8(disk))
	copy(stack[at:], stack[at+1:])
	t.height[from]--
	t.push(peg, disk)
}

// next returns the move that the strategy asks for, if there is one.
func (t *towers) next(previous int) (move, bool) {
	if t.disks == 0 {
		return move{}, false
	}
	one := t.peg(1)
	if t.top(one) != 1 {
		return move{}, false
	}
	if previous != 1 {
		step := 1 // clockwise, for an even number of disks
		if t.disks%2 == 1 {
			step = 2
		}
		return move{1, one, (one + step) % 3}, true
	}
	a, b := (one+1)%3, (one+2)%3
	if t.top(a) > t.top(b) {
		a, b = b, a
	}
	m := move{t.top(a), a, b}
	return m, m.disk <= t.disks
}

// answer appends the answer to the step: a sentence or two, the move and the
// state that follows.
func (t *towers) answer(buf []byte, previous int, d *decision) []byte {
	buf = d.appendRamble(buf)
	m, ok := t.next(previous)
	if !ok {
		return d.alone(buf, "error", "This state cannot be right: the strategy asks for a move that it does not allow. I give no move.")
	}
	after := *t
	after.place(m.disk, m.to)
	switch d.quality {
	case malformed:
		return after.appendMalformed(buf, m, d)
	case wrong:
		m, after = t.rival(m, after, d)
	}
	salt := m.disk + 3*m.from + m.to
	if previous == 1 {
		buf = d.say(buf, salt,
			"The last move was disk 1, so another disk has to go. Only one such move is open.\n",
			"Disk 1 has just moved. I look at the tops of the pegs for the one move without it.\n",
			"It is not the turn of disk 1.\n")
	} else {
		buf = d.say(buf, salt,
			"It is the turn of disk 1, which goes on in its usual direction.\n",
			"The last move was not disk 1. So disk 1 moves now, one peg on.\n",
			"Every other move is disk 1, and this is one of them.\n")
	}
	buf = m.append(d.field(buf, true, "move"))
	return d.end(after.append(d.field(buf, false, "next_state")))
}

// rival returns a wrong answer to the step. There are three kinds: a legal move
// that the strategy does not ask for, an illegal move, and the right move with
// another state. The kinds take turns; the step decides which comes first.
func (t *towers) rival(right move, after towers, d *decision) (move, towers) {
	var others [6]move
	legal, other := 0, 0
	for from := range 3 {
		for _, to := range [2]int{(from + 1) % 3, (from + 2) % 3} {
			m := move{t.top(from), from, to}
			if m.disk > t.disks || !t.legal(m) {
				continue
			}
			legal++
			if m != right {
				others[other] = m
				other++
			}
		}
	}
	const legalMove, illegalMove, otherState = 0, 1, 2
	counts := [3]int{legalMove: other, illegalMove: 2*t.disks - legal, otherState: 2 * t.disks}
	i := d.rival % (counts[0] + counts[1] + counts[2])
	kind, variant := int(d.step%3), 0
	for turn := 1; variant >= counts[kind] || i > 0; turn++ {
		if variant < counts[kind] {
			i--
		}
		kind = (kind + 1) % 3
		variant = turn / 3
	}
	variant = (variant + int(d.step>>8&0xffff)) % counts[kind]
	switch kind {
	case legalMove:
		right = others[variant]
		after = *t
		after.place(right.disk, right.to)
	case illegalMove:
		right = t.illegal(variant)
		after = *t
		after.place(right.disk, right.to)
	case otherState:
		disk := variant/2 + 1
		after.place(disk, (after.peg(disk)+1+variant%2)%3)
	}
	return right, after
}

// illegal returns the i-th of the moves that take a disk from where it is, but
// from below others or onto a smaller one.
func (t *towers) illegal(i int) move {
	for n := 0; ; n++ {
		disk := n/2 + 1
		from := t.peg(disk)
		m := move{disk, from, (from + 1 + n%2) % 3}
		if t.legal(m) {
			continue
		}
		if i == 0 {
			return m
		}
		i--
	}
}

// appendMalformed appends an answer that violates the format. The receiver is
// the state after the right move m.
func (t *towers) appendMalformed(buf []byte, m move, d *decision) []byte {
	switch d.form % 5 {
	case 0: // no state
		buf = d.prose(buf, "The move follows from the strategy.\n")
		return d.end(m.append(d.field(buf, true, "move")))
	case 1: // a number too many
		buf = d.prose(buf, "Here is the move, with its number of steps.\n")
		buf = m.append(d.field(buf, true, "move"))
		buf = append(buf[:len(buf)-1], ", 1]"...)
		return d.end(t.append(d.field(buf, false, "next_state")))
	case 2: // a disk twice
		buf = m.append(d.field(buf, true, "move"))
		double := *t
		double.push((m.to+1)%3, m.disk)
		return d.end(double.append(d.field(buf, false, "next_state")))
	case 3: // prose only
		return d.chat(buf, fmt.Sprintf("Take disk %d from peg %d to peg %d; the rest stays where it is.", m.disk, m.from, m.to))
	default: // brackets that do not close
		buf = m.append(d.field(buf, true, "move"))
		buf = t.append(d.field(buf, false, "next_state"))
		return buf[:len(buf)-1]
	}
}

func (m move) append(buf []byte) []byte { return appendList(buf, []int{m.disk, m.from, m.to}) }

func (t *towers) append(buf []byte) []byte {
	buf = append(buf, '[')
	for p := range t.pegs {
		if p > 0 {
			buf = append(buf, ", "...)
		}
		buf = appendList(buf, t.pegs[p][:t.height[p]])
	}
	return append(buf, ']')
}

func appendList[T int | uint8](buf []byte, list []T) []byte {
	buf = append(buf, '[')
	for i, n := range list {
		if i > 0 {
			buf = append(buf, ", "...)
		}
		buf = strconv.AppendInt(buf, int64(n), 10)
	}
	return append(buf, ']')
}
