package builtin

import (
	"fmt"
	"slices"
	"strings"
)

// clipped keeps the beginning and the end of what is written to it, in memory
// that does not grow with it.
type clipped struct {
	half  int
	head  []byte
	tail  []byte // up to twice of what is kept
	total int
}

func newClipped(limit int) *clipped { return &clipped{half: limit / 2} }

func (c *clipped) Write(p []byte) (int, error) {
	c.total += len(p)
	room := min(c.half-len(c.head), len(p))
	c.head = append(c.head, p[:room]...)
	end := p[max(room, len(p)-c.half):]
	if over := len(c.tail) - c.half; over > 0 && len(c.tail)+len(end) > 2*c.half {
		c.tail = append(c.tail[:0], c.tail[over:]...)
	}
	c.tail = append(c.tail, end...)
	return len(p), nil
}

// String returns what was kept as valid text, with a note where some is missing.
func (c *clipped) String() string {
	end := c.tail[max(0, len(c.tail)-c.half):]
	missing := c.total - len(c.head) - len(end)
	if missing == 0 {
		return valid(slices.Concat(c.head, end))
	}
	return endLine(valid(c.head)) + fmt.Sprintf("[cut: %d bytes in the middle are left out]\n", missing) + valid(end)
}

func endLine(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
