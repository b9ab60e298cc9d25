package person

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/runtime/wholefile"
)

// InboxFolder is where a run finds answers that were given elsewhere.
const InboxFolder = "answers"

// letter is an answer on its way to a run.
type letter struct {
	Question string `json:"question"` // its key
	Answer   string `json:"answer"`
	By       string `json:"by"`
}

// Inbox returns the answers that were left in a run folder.
func Inbox(run string) Person {
	return Func(func(_ context.Context, key string, q *flow.HumanQuestion) (*flow.Answer, error) {
		left, err := Left(run, key)
		switch {
		case err != nil:
			return nil, err
		case left == nil:
			return nil, ErrAbsent
		}
		text, err := Resolve(q, left.Text)
		if err != nil {
			return nil, fmt.Errorf("person: %s: %w", letterFile(run, key), err)
		}
		return &flow.Answer{Text: text, By: left.By}, nil
	})
}

// inboxInterval is how often a run looks for an answer while it asks elsewhere.
const inboxInterval = 250 * time.Millisecond

// errAnswered ends the asking of a question that somebody else has answered.
var errAnswered = errors.New("the question was answered elsewhere")

// OrInbox returns p, but for an answer that is left in a run folder while p is being
// asked: the first that there is counts. What was left and is no answer is for whoever left
// it to mend.
func OrInbox(run string, p Person) Person {
	type reply struct {
		answer *flow.Answer
		err    error
	}
	return Func(func(ctx context.Context, key string, q *flow.HumanQuestion) (*flow.Answer, error) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		asked := make(chan reply, 1)
		go func() {
			a, err := p.Ask(ctx, key, q)
			asked <- reply{a, err}
		}()
		tick := time.NewTicker(inboxInterval)
		defer tick.Stop()
		for {
			select {
			case r := <-asked:
				return r.answer, r.err
			case <-tick.C:
			}
			left, err := Inbox(run).Ask(ctx, key, q)
			if err != nil {
				continue
			}
			cancel(errAnswered)
			if r := <-asked; r.err == nil { // it was faster after all
				return r.answer, nil
			}
			return left, nil
		}
	})
}

// Left is the answer that was left for a question; nil if there is none.
func Left(run, key string) (*flow.Answer, error) {
	data, err := os.ReadFile(letterFile(run, key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("person: %w", err)
	}
	var l letter
	if err := json.Unmarshal(data, &l); err != nil || l.Question != key {
		return nil, fmt.Errorf("person: %s is no answer to %q; remove it and answer again", letterFile(run, key), key)
	}
	return &flow.Answer{Text: l.Answer, By: l.By}, nil
}

// Leave puts an answer where the run will find it, unless there is one already: it
// returns false then.
func Leave(run, key string, a flow.Answer) (bool, error) {
	err := leave(run, key, a, wholefile.Create)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// Replace puts an answer where the run will find it, in place of one that is there.
func Replace(run, key string, a flow.Answer) error {
	return leave(run, key, a, wholefile.Replace)
}

func leave(run, key string, a flow.Answer, write func(path string, data []byte) error) error {
	data, err := json.Marshal(letter{key, a.Text, a.By})
	if err != nil {
		return fmt.Errorf("person: %w", err)
	}
	name := letterFile(run, key)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("person: %w", err)
	}
	if err := write(name, append(data, '\n')); err != nil {
		return fmt.Errorf("person: %w", err)
	}
	return nil
}

// Discard throws away what was left for a question: it is in the log, and was for that
// question only, should it be asked again.
func Discard(run, key string) error {
	if err := os.Remove(letterFile(run, key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("person: %w", err)
	}
	return nil
}

// letterFile is named after a hash, because a key may hold anything.
func letterFile(run, key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(run, InboxFolder, hex.EncodeToString(sum[:8])+".json")
}
