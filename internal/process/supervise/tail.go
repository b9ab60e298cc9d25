package supervise

import (
	"strings"
	"sync"
)

// A Tail is a writer that keeps the end of what is written to it, such as the last words
// of a process, which are the ones that say why it ended. It is safe for concurrent use.
type Tail struct {
	limit int

	mu   sync.Mutex
	data []byte
}

// NewTail returns one that keeps so many bytes.
func NewTail(limit int) *Tail { return &Tail{limit: limit} }

// Write never fails.
func (b *Tail) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = append(b.data, data[max(0, len(data)-b.limit):]...)
	if over := len(b.data) - b.limit; over > 0 {
		b.data = append(b.data[:0], b.data[over:]...)
	}
	return len(data), nil
}

// String returns what was kept, without white space around it. It may begin in the
// middle of a character.
func (b *Tail) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.TrimSpace(string(b.data))
}
