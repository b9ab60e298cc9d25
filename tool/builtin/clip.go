package builtin

import (
	"fmt"
	"strings"
)

// clipped keeps the beginning and the end of what is written to it, in memory
// that does not grow with it.
type clipped struct {
	half  int
	head  []byte
	tail  []byte // a ring
	at    int    // where the ring continues
	total int64
}

func newClipped(limit int) *clipped { return &clipped{half: limit / 2} }

func (c *clipped) Write(p []byte) (int, error) {
	n := len(p)
	c.total += int64(n)
	room := min(c.half-len(c.head), len(p))
	c.head = append(c.head, p[:room]...)
	p = p[room:]
	if len(p) > c.half {
		p = p[len(p)-c.half:]
	}
	for len(p) > 0 {
		if len(c.tail) < c.half {
			room := min(c.half-len(c.tail), len(p))
			c.tail = append(c.tail, p[:room]...)
			p = p[room:]
			continue
		}
		copied := copy(c.tail[c.at:], p)
		c.at = (c.at + copied) % c.half
		p = p[copied:]
	}
	return n, nil
}

// String returns what was kept as valid text, with a note where some is missing.
func (c *clipped) String() string {
	end := append(append([]byte(nil), c.tail[c.at:]...), c.tail[:c.at]...)
	missing := c.total - int64(len(c.head)) - int64(len(end))
	if missing == 0 {
		return valid(append(append([]byte(nil), c.head...), end...))
	}
	return endLine(valid(c.head)) + fmt.Sprintf("[cut: %d bytes in the middle are left out]\n", missing) + valid(end)
}

func endLine(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
