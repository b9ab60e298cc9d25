package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/temporal/store"
)

// A claim is a session as the store has it.
type claim struct {
	Owner  string `json:"owner"`
	Before int    `json:"before"` // chunks of the session before it that count
}

// BeginSession claims the next session of a run, unless the owner has it already: then it
// is the same. Whatever somebody still writes to the one before it does not count.
func BeginSession(ctx context.Context, s store.Store, run, owner string) (int, error) {
	for {
		names, err := s.List(ctx, Sessions(run))
		if err != nil {
			return 0, err
		}
		last := len(names) - 1
		next := claim{Owner: owner}
		if last >= 0 {
			held, err := readClaim(ctx, s, run, last)
			if err != nil {
				return 0, err
			}
			if held.Owner == owner {
				return last, nil
			}
			if next.Before, err = chunks(ctx, s, run, last); err != nil {
				return 0, err
			}
		}
		data, err := json.Marshal(next)
		if err != nil {
			return 0, err
		}
		if err := s.Create(ctx, Claim(run, last+1), data); !errors.Is(err, store.ErrExists) {
			return last + 1, err
		}
	}
}

func readClaim(ctx context.Context, s store.Store, run string, session int) (claim, error) {
	var c claim
	data, err := s.Get(ctx, Claim(run, session))
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return c, fmt.Errorf("session %d of %s: %w", session, run, err)
	}
	return c, nil
}

// chunks is how many there are of a session without a gap.
func chunks(ctx context.Context, s store.Store, run string, session int) (int, error) {
	for n := 0; ; n++ {
		_, err := s.Get(ctx, ChunkName(run, session, n))
		if errors.Is(err, fs.ErrNotExist) {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// content is what is in a chunk.
type content struct {
	Lines Lines     `json:"lines,omitempty"`
	Block *BlockRef `json:"block,omitempty"`
}

// PutChunk writes a piece of the events of a run.
func PutChunk(ctx context.Context, s store.Store, c *Chunk) error {
	data, err := json.Marshal(content{c.Lines, c.Block})
	if err != nil {
		return err
	}
	return store.Put(ctx, s, ChunkName(c.Run, c.Session, c.N), data)
}

// ReadSessions visits the events of a run before a session, in order, and its blocks.
func ReadSessions(ctx context.Context, s store.Store, run string, before int, visit func(json.RawMessage) error, block func(BlockRef)) error {
	for session := range before {
		next, err := readClaim(ctx, s, run, session+1)
		if err != nil {
			return err
		}
		for n := range next.Before {
			if err := readChunk(ctx, s, run, session, n, visit, block); err != nil {
				return err
			}
		}
	}
	return nil
}

func readChunk(ctx context.Context, s store.Store, run string, session, n int, visit func(json.RawMessage) error, block func(BlockRef)) error {
	data, err := s.Get(ctx, ChunkName(run, session, n))
	if err != nil {
		return err
	}
	var c content
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("chunk %d of session %d of %s: %w", n, session, run, err)
	}
	for _, line := range c.Lines {
		if err := visit(line); err != nil {
			return err
		}
	}
	if c.Block == nil {
		return nil
	}
	block(*c.Block)
	return ReadBlock(ctx, s, run, *c.Block, visit)
}

// A Tail reads the events of a run as they come to the store.
type Tail struct {
	Store store.Store
	Run   string

	session, n int
}

// Read visits what has come since the last Read.
func (t *Tail) Read(ctx context.Context, visit func(json.RawMessage) error) error {
	for {
		err := readChunk(ctx, t.Store, t.Run, t.session, t.n, visit, func(BlockRef) {})
		if err == nil {
			t.n++
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		next, err := t.Store.Get(ctx, Claim(t.Run, t.session+1))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		var c claim
		if err := json.Unmarshal(next, &c); err != nil {
			return fmt.Errorf("session %d of %s: %w", t.session+1, t.Run, err)
		}
		if t.n < c.Before {
			continue // it came in between
		}
		t.session, t.n = t.session+1, 0
	}
}

// ReadSubmitted is what a run began with.
func ReadSubmitted(ctx context.Context, s store.Store, run string) (event.TaskSubmitted, error) {
	line, err := s.Get(ctx, Submitted(run))
	if err != nil {
		return event.TaskSubmitted{}, err
	}
	rec, err := event.Decode(line)
	if err != nil {
		return event.TaskSubmitted{}, err
	}
	submitted, ok := rec.Event.(event.TaskSubmitted)
	if !ok {
		return submitted, fmt.Errorf("the run %s begins with %s", run, rec.Event.Type())
	}
	return submitted, nil
}
