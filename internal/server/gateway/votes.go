package gateway

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/maker-mdap/maker"
)

// votes are those that are under way. A client that repeats a request, because it has waited
// for too long or a connection broke, joins the vote that it began.
type votes struct {
	mu     sync.Mutex
	joined map[[sha256.Size]byte]*vote
}

// A vote is one that is under way.
type vote struct {
	done    chan struct{} // closed when verdict and err are set
	verdict *maker.ChatVerdict
	err     error

	waiting int // clients
	cancel  context.CancelFunc
}

// join begins a vote, or joins one on the same request, and returns when it is decided or ctx
// ends. Once nobody waits for a vote any more it ends.
func (v *votes) join(ctx context.Context, key [sha256.Size]byte, begin func(context.Context) (*maker.ChatVerdict, error)) (*maker.ChatVerdict, error) {
	v.mu.Lock()
	mine := v.joined[key]
	if mine == nil {
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		mine = &vote{done: make(chan struct{}), cancel: cancel}
		if v.joined == nil {
			v.joined = map[[sha256.Size]byte]*vote{}
		}
		v.joined[key] = mine
		go func() {
			mine.verdict, mine.err = begin(own)
			v.forget(key, mine)
			close(mine.done)
		}()
	}
	mine.waiting++
	v.mu.Unlock()

	select {
	case <-mine.done:
		return mine.verdict, mine.err
	case <-ctx.Done():
	}
	v.mu.Lock()
	if mine.waiting--; mine.waiting == 0 {
		mine.cancel()
		if v.joined[key] == mine { // who comes now begins anew
			delete(v.joined, key)
		}
	}
	v.mu.Unlock()
	return nil, maker.ErrGone
}

func (v *votes) forget(key [sha256.Size]byte, mine *vote) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.joined[key] == mine {
		delete(v.joined, key)
	}
	mine.cancel()
}
