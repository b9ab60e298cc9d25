package sim

import (
	"strconv"
	"strings"
)

// Lines that make a prompt a task.
const (
	stateLine   = "Current state:"
	moveLine    = "Previous move:"
	computeLine = "Compute:"
	whatLine    = "What is "
	sortLine    = "Sort:"
)

// answer appends the answer to the prompt. It reads the prompt's lines from the
// last to the first, because instructions and examples come before the task. A
// line that only looks like a task ("What is the next move?") is passed over.
func (d *decision) answer(buf []byte, prompt string) []byte {
	var state, move string // the rest of the prompt after these labels
	for end := len(prompt); end >= 0; {
		start := strings.LastIndexByte(prompt[:end], '\n') + 1
		line := skipSpace(prompt[start:end])
		at := end - len(line)
		end = start - 1
		if line == "" {
			continue
		}
		switch line[0] {
		case 'C':
			if state != "" {
				break
			}
			if strings.HasPrefix(line, stateLine) {
				if rest := prompt[at+len(stateLine):]; isTowers(rest) {
					state = rest
				}
			} else if expr, ok := strings.CutPrefix(line, computeLine); ok {
				if v, ok := parseArithmetic(expr); ok {
					return v.answer(buf, d)
				}
			}
		case 'W':
			if expr, ok := strings.CutPrefix(line, whatLine); ok && state == "" {
				if v, ok := parseArithmetic(expr); ok {
					return v.answer(buf, d)
				}
			}
		case 'S':
			if list, ok := strings.CutPrefix(line, sortLine); ok && state == "" {
				if l, ok := parseList(list); ok {
					return l.answer(buf, d)
				}
			}
		case 'P':
			if strings.HasPrefix(line, moveLine) && move == "" {
				if rest := prompt[at+len(moveLine):]; isMove(rest) {
					move = rest
				}
			}
		}
		if state != "" && move != "" {
			break
		}
	}
	if state != "" {
		t := parseTowers(state)
		return t.answer(buf, parseMove(move), d)
	}
	buf = d.appendRamble(buf)
	return d.complain(buf, "I am a simulated model and do not know this task. "+
		"I can play Towers of Hanoi, compute with whole numbers, sort whole numbers, and follow a script.")
}

// An answer in prose is some prose and then fields, each on a line of its own;
// a structured one is a JSON object of these fields. The functions below write
// either.

// prose appends what only prose has.
func (d *decision) prose(buf []byte, text string) []byte {
	if d.structured {
		return buf
	}
	return append(buf, text...)
}

// field starts a field, for a value to follow.
func (d *decision) field(buf []byte, first bool, name string) []byte {
	switch {
	case d.structured && first:
		buf = append(buf, '{', '"')
	case d.structured:
		buf = append(buf, ", \""...)
	case !first:
		buf = append(buf, '\n')
	}
	buf = append(buf, name...)
	if d.structured {
		return append(buf, "\": "...)
	}
	return append(buf, " = "...)
}

// end ends the fields.
func (d *decision) end(buf []byte) []byte {
	if d.structured {
		return append(buf, '}')
	}
	return buf
}

// text appends a value that is text.
func (d *decision) text(buf []byte, text string) []byte {
	if d.structured {
		return append(append(append(buf, '"'), text...), '"')
	}
	return append(buf, text...)
}

// chat appends prose where fields were asked for. The text needs no escaping.
func (d *decision) chat(buf []byte, text string) []byte { return d.alone(buf, "explanation", text) }

// complain does the same if there is nothing to put into the fields.
func (d *decision) complain(buf []byte, text string) []byte { return d.alone(buf, "error", text) }

func (d *decision) alone(buf []byte, name, text string) []byte {
	if !d.structured {
		return append(buf, text...)
	}
	return d.end(d.text(d.field(buf, true, name), text))
}

// appendRamble wastes as many tokens as the decision says. A model that may only
// write JSON does so with white space, and real ones do.
func (d *decision) appendRamble(buf []byte) []byte {
	waste := "Wait, let me go over this once more before I settle on anything. "
	if d.structured {
		waste = "\n        "
	}
	for end := len(buf) + d.ramble*bytesPerToken; len(buf) < end; {
		buf = append(buf, waste...)
	}
	if d.ramble > 0 {
		buf = append(buf, '\n')
	}
	return buf
}

// say appends one of the phrases, always the same for the same answer to the
// same step.
func (d *decision) say(buf []byte, salt int, phrases ...string) []byte {
	i := (d.step>>32 + uint64(salt)) % uint64(len(phrases))
	return d.prose(buf, phrases[i])
}

// skipSpace drops white space before what follows. It is called between any two
// numbers, which makes it worth being faster than strings.TrimLeft.
func skipSpace(s string) string {
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return s[i:]
}

// parseNatural reads a whole number without sign. Numbers that cannot be a disk
// or a peg all read as tooLarge.
func parseNatural(s string) (n int, rest string, ok bool) {
	i := 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		n = min(n*10+int(s[i]-'0'), tooLarge)
		i++
	}
	return n, s[i:], i > 0
}

const tooLarge = 1 << 20

func appendInt(buf []byte, n int) []byte { return strconv.AppendInt(buf, int64(n), 10) }
