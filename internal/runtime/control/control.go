// Package control is how one process tells another, which writes a run, to end it: by a
// file in the folder of the run, without a server.
//
// A request is written whole, is for one session of the run and no other, and is taken by
// removing it. Whoever asked looks at the log to see what came of it; a request that nobody
// has taken is withdrawn. One that its sender could not withdraw is dropped by the next
// session, with a reason.
package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/maker-mdap/maker/internal/runtime/wholefile"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/show"
)

// Folder is where requests are, in the folder of a run.
const Folder = "control"

// Interval is how often the writer of a run looks for requests. A missing folder costs it
// one call of the system.
const Interval = 250 * time.Millisecond

// An Action is what is asked for.
type Action string

// The actions.
const (
	Cancel Action = "cancel" // end the run: it is not wanted any more
	Pause  Action = "pause"  // end the process, to go on later
)

// actions are all of them; the first that is asked for wins.
var actions = []Action{Cancel, Pause}

// A Request asks the session that writes a run for something.
type Request struct {
	Action  Action `json:"request"`
	By      string `json:"by"`
	Session string `json:"session"` // as the lock names it
}

func (r Request) String() string { return fmt.Sprintf("%s was asked for by %s", r.Action, r.By) }

const (
	maxFile = 16 << 10 // bytes of a request
	maxBy   = 200      // characters of who asks
)

func file(run string, a Action) string { return filepath.Join(run, Folder, string(a)+".json") }

// Leave puts a request where the writer of the run in a folder looks for it, in place of
// an earlier one for the same.
func Leave(run string, r Request) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	const tries = 5 // whoever takes the last request removes the folder
	for range tries {
		if err = os.Mkdir(filepath.Join(run, Folder), 0o755); err == nil || errors.Is(err, fs.ErrExist) {
			err = wholefile.Replace(file(run, r.Action), append(data, '\n'))
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	return nil
}

// sweep removes what requests left that were cut short while they were written.
func sweep(run string) {
	begun, _ := filepath.Glob(filepath.Join(run, Folder, ".*"))
	for _, name := range begun {
		_ = os.Remove(name) // it may be a request after all, and have its place by now
	}
	_ = os.Remove(filepath.Join(run, Folder)) // it stays if something is in it
}

// Pending reports whether a request has not been taken yet.
func Pending(run string, a Action) bool {
	_, err := os.Lstat(file(run, a))
	return err == nil
}

// Withdraw takes a request back and reports whether it was still there.
func Withdraw(run string, a Action) (bool, error) {
	err := os.Remove(file(run, a))
	_ = os.Remove(filepath.Join(run, Folder)) // it stays if something is in it
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("control: %w", err)
	}
	return true, nil
}

// Clear takes back all requests to a run that is over: nobody is left to take them.
func Clear(run string) error {
	var errs []error
	for _, a := range []Action{Pause, Cancel} {
		_, err := Withdraw(run, a)
		errs = append(errs, err)
	}
	sweep(run)
	return errors.Join(errs...)
}

// Watch looks for requests to a session of the run in a folder until ctx ends, and hands
// each to take, which is called by this goroutine. What is no request to this session is
// dropped, and warn says why.
func Watch(ctx context.Context, run, session string, take func(Request), warn func(string)) {
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	sweep(run)
	w := watcher{run: run, session: session, take: take, warn: warn, said: map[Action]string{}}
	for {
		w.look()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

type watcher struct {
	run, session string
	take         func(Request)
	warn         func(string)
	said         map[Action]string // what was said about a file that cannot be removed
}

// look takes the requests that are there.
func (w *watcher) look() {
	if _, err := os.Lstat(filepath.Join(w.run, Folder)); err != nil {
		return
	}
	for _, a := range actions {
		r, err := read(w.run, a)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && r.Session != w.session {
			err = fmt.Errorf("%s, for a session of the run that has ended", r)
		}
		_, stays := Withdraw(w.run, a)
		if stays != nil && w.said[a] == fmt.Sprint(err) {
			continue
		}
		w.said[a] = fmt.Sprint(err)
		if err != nil {
			w.warn(fmt.Sprintf("%s was dropped: %v", file(w.run, a), err))
			continue
		}
		w.take(r)
	}
}

// read reads a request, whatever somebody put in its place.
func read(run string, a Action) (Request, error) {
	name := file(run, a)
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return Request{}, err
	case !info.Mode().IsRegular(): // opening a pipe would wait for its other end
		return Request{}, errors.New("it is no file")
	}
	f, err := os.Open(name)
	if err != nil {
		return Request{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return Request{}, err
	}
	return parse(a, data)
}

// parse reads the text of a request.
func parse(a Action, data []byte) (Request, error) {
	var r Request
	switch err := json.Unmarshal(data, &r); {
	case len(data) > maxFile:
		return Request{}, fmt.Errorf("it is longer than %d bytes", maxFile)
	case err != nil:
		return Request{}, errors.New("it is no request: not the JSON that a request is")
	case r.Action != a:
		return Request{}, fmt.Errorf("it is no request to %s", a)
	}
	if r.By = clip.Text(show.Line(r.By), maxBy); r.By == "" {
		r.By = "somebody"
	}
	return r, nil
}
