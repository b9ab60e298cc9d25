package hanoi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/redflag"
)

// output is an answer: what a step commits.
type output struct {
	move  [3]int
	state State
}

// reader reads the answers to one question.
type reader struct {
	disks int
	from  *State // the state to verify against, nil if that is off
}

func newReader(params json.RawMessage) (domain.Reader, error) {
	// The parameters of a run that does not verify are the same for every one
	// of its million questions, so the plain form is read without reflection.
	if digits, ok := bytes.CutPrefix(params, []byte(`{"disks":`)); ok {
		n := 0
		for len(digits) > 1 && isDigit(digits[0]) && n < len(plainReaders) {
			n, digits = 10*n+int(digits[0]-'0'), digits[1:]
		}
		if 0 < n && n < len(plainReaders) && string(digits) == "}" {
			return plainReaders[n], nil
		}
	}
	var p struct {
		Disks int    `json:"disks"`
		State *State `json:"state"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	return reader{p.Disks, p.State}, nil
}

// plainReaders are those that do not verify, by the number of disks.
var plainReaders = func() (all [MaxDisks + 1]domain.Reader) {
	for n := range all {
		all[n] = reader{disks: n}
	}
	return all
}()

// Read takes the last move and the last next_state of the text, or the fields of
// these names if the text is a JSON object. It is strict: what does not have
// exactly the asked form is discarded, never interpreted.
func (r reader) Read(text string) (domain.Answer, *redflag.Flag) {
	var out output
	value := lastValue
	if start := (scanner{text: text}); start.next() == '{' {
		if value = fieldValue; !json.Valid([]byte(text)) {
			return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "the answer is not valid JSON")
		}
	}
	rest, err := value(text, "move")
	if err == nil {
		out.move, rest, err = parseMove(rest)
	}
	if err == nil {
		err = alone(rest)
	}
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "move: %v", err)
	}
	var room [MaxDisks]int
	rest, err = value(text, "next_state")
	if err == nil {
		out.state, rest, err = parseState(rest, r.disks, room[:0])
	}
	if err == nil {
		err = alone(rest)
	}
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "next_state: %v", err)
	}
	if r.from != nil {
		if err := verify(*r.from, out); err != nil {
			return domain.Answer{}, redflag.New(redflag.SelfContradiction, "%v", err)
		}
	}
	answer := appendOutput(make([]byte, 0, 48+4*r.disks), out)
	return domain.Answer{Value: answer, Key: string(answer), IsJSON: true}, nil
}

var errNone = errors.New("there is none")

// lastValue returns what follows the last `name =` of text. It goes from sign to sign, of
// which there are few.
func lastValue(text, name string) (value string, err error) {
	err = errNone
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '=') // much faster than from the end
		if i < 0 {
			return value, err
		}
		before := at + i
		at = before + 1
		for before > 0 && (text[before-1] == ' ' || text[before-1] == '\t') {
			before--
		}
		word, ok := strings.CutSuffix(text[:before], name)
		if ok && (word == "" || !isWord(word[len(word)-1])) { // not such as the end of "remove"
			value, err = text[at:], nil
		}
	}
}

// fieldValue returns a field of a JSON object.
func fieldValue(text, name string) (string, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return "", errors.New("the answer is no JSON object")
	}
	if len(fields) != 2 {
		return "", fmt.Errorf("the object has %d fields, want 2", len(fields))
	}
	value, ok := fields[name]
	if !ok {
		return "", errNone
	}
	return string(value), nil
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// scanner reads bracketed lists of integers. A million steps are read with it, so it
// goes over the text once.
type scanner struct {
	text string
	at   int
}

// next is the byte after white space, and 0 at the end.
func (s *scanner) next() byte {
	for ; s.at < len(s.text); s.at++ {
		if c := s.text[s.at]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

func (s *scanner) accept(c byte) bool {
	if s.next() != c {
		return false
	}
	s.at++
	return true
}

// list appends the integers of a flat list to dst.
func (s *scanner) list(dst []int) ([]int, error) {
	if !s.accept('[') {
		return nil, errors.New("a list does not start with [")
	}
	if s.accept(']') {
		return dst, nil
	}
	for {
		v, ok := s.integer()
		if !ok {
			return nil, errors.New("a list holds something that is not an integer")
		}
		dst = append(dst, v)
		switch s.next() {
		case ',':
			s.at++
		case ']':
			s.at++
			return dst, nil
		default:
			return nil, errors.New("a list is not closed")
		}
	}
}

// integer reads a number of at most 9 digits: nobody has more disks.
func (s *scanner) integer() (v int, ok bool) {
	text, at := s.text, s.at
	for at < len(text) && text[at] == ' ' {
		at++
	}
	// Nearly every number is a disk, which has one digit or two.
	if at+1 < len(text) && isDigit(text[at]) {
		v = int(text[at] - '0')
		if at++; isDigit(text[at]) {
			v = 10*v + int(text[at]-'0')
			at++
		}
		if at < len(text) && !isDigit(text[at]) {
			s.at = at
			return v, true
		}
		v = 0
	}
	negative := s.next() == '-'
	if negative {
		s.at++
	}
	start := s.at
	for s.at < len(s.text) && s.at-start < 10 && isDigit(s.text[s.at]) {
		v = 10*v + int(s.text[s.at]-'0')
		s.at++
	}
	if negative {
		v = -v
	}
	return v, s.at > start && s.at-start < 10
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// parseMove reads a move and returns what follows it.
func parseMove(text string) (move [3]int, rest string, err error) {
	s := scanner{text: text}
	var room [4]int
	list, err := s.list(room[:0])
	if err != nil {
		return move, "", err
	}
	if len(list) != 3 {
		return move, "", fmt.Errorf("%d numbers, want 3", len(list))
	}
	return [3]int(list), s.text[s.at:], nil
}

// alone reports an error if the line goes on in words or with another list: then
// it is not clear which one is meant.
func alone(rest string) error {
	line, _, _ := strings.Cut(rest, "\n")
	for i := range len(line) {
		if c := line[i]; isWord(c) || c == '[' {
			return errors.New("there is more on its line")
		}
	}
	return nil
}

// parseState reads a state that must hold the disks 1 to n once each, in any
// order, and returns what follows it. Its lists are kept in room, as far as that
// goes.
func parseState(text string, n int, room []int) (_ State, rest string, _ error) {
	s := scanner{text: text}
	state, err := s.state(room)
	if err != nil {
		return state, "", err
	}
	var seen uint64
	total := 0
	for _, peg := range state {
		for _, disk := range peg {
			if disk < 1 || disk > n {
				return state, "", fmt.Errorf("there is no disk %d", disk)
			}
			if bit := uint64(1) << disk; seen&bit == 0 {
				seen |= bit
			} else {
				return state, "", fmt.Errorf("disk %d is there twice", disk)
			}
			total++
		}
	}
	if total != n {
		return state, "", fmt.Errorf("%d disks, want %d", total, n)
	}
	return state, s.text[s.at:], nil
}

func (s *scanner) state(all []int) (State, error) {
	var state State
	if !s.accept('[') {
		return state, errors.New("it does not start with [")
	}
	for i := range state {
		if i > 0 && !s.accept(',') {
			return state, fmt.Errorf("%d lists, want 3", i)
		}
		start := len(all)
		var err error
		if all, err = s.list(all); err != nil {
			return state, err
		}
		state[i] = all[start:len(all):len(all)]
	}
	if !s.accept(']') {
		return state, errors.New("it does not end after three lists")
	}
	return state, nil
}

// verify says what is impossible about an answer, given the state it starts
// from.
func verify(from State, out output) error {
	disk, src, dst := out.move[0], out.move[1], out.move[2]
	if src < 0 || src > 2 || dst < 0 || dst > 2 || src == dst {
		return fmt.Errorf("illegal move: from peg %d to peg %d", src, dst)
	}
	if len(from[src]) == 0 || from[src][len(from[src])-1] != disk {
		return fmt.Errorf("illegal move: disk %d is not on top of peg %d", disk, src)
	}
	if n := len(from[dst]); n > 0 && from[dst][n-1] < disk {
		return fmt.Errorf("illegal move: disk %d onto the smaller disk %d", disk, from[dst][n-1])
	}
	want := from
	want[src] = from[src][:len(from[src])-1]
	want[dst] = append(from[dst][:len(from[dst]):len(from[dst])], disk)
	if string(appendState(nil, want)) != string(appendState(nil, out.state)) {
		return errors.New("the move does not lead to the state")
	}
	return nil
}

// splitOutput returns the lists that appendOutput wrote.
func splitOutput(raw json.RawMessage) (move, state []byte, err error) {
	rest, ok := bytes.CutPrefix(raw, []byte(outputMove))
	if ok {
		move, rest, ok = bytes.Cut(rest, []byte(outputState))
	}
	if ok {
		state, ok = bytes.CutSuffix(rest, []byte("}"))
	}
	if !ok {
		return nil, nil, fmt.Errorf("it is not a move and a state: %.80q", raw)
	}
	return move, state, nil
}

const (
	outputMove  = `{"move":`
	outputState = `,"next_state":`
)

func appendOutput(b []byte, out output) []byte {
	b = append(b, outputMove...)
	b = appendList(b, out.move[:])
	b = append(b, outputState...)
	b = appendState(b, out.state)
	return append(b, '}')
}

func appendState(b []byte, s State) []byte {
	b = append(b, '[')
	for i, peg := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendList(b, peg)
	}
	return append(b, ']')
}

func appendList(b []byte, list []int) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, v)
	}
	return append(b, ']')
}

// appendNumber is strconv.AppendInt, faster for the numbers that disks have.
func appendNumber(b []byte, v int) []byte {
	switch {
	case 0 <= v && v < 10:
		return append(b, byte('0'+v))
	case 10 <= v && v < 100:
		return append(b, byte('0'+v/10), byte('0'+v%10))
	}
	return strconv.AppendInt(b, int64(v), 10)
}
