package recorded

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/maker-mdap/maker/model"
)

// Options of a [Recorder]. Nil means none.
type Options struct {
	// Redact, if set, is applied to every line as it is about to be written. What it
	// returns must be JSON with the same fields; see [FieldNames].
	Redact func(line []byte) []byte
}

// FieldNames are the names of the fields of a line, but for those of requests and
// responses.
func FieldNames() []string {
	return []string{"hash", "request", "response", "error", "kind", "provider", "status", "message", "retry_after_ms", "retry_now"}
}

// A Recorder is a model that records the calls to another one. It belongs right
// around a provider: an error that is not a [*model.Error] does not come from
// one, and is passed on without being recorded.
type Recorder struct {
	model  model.Model
	redact func(line []byte) []byte

	mu   sync.Mutex
	file *os.File
	err  error // the first that kept a call from being recorded
}

// NewRecorder returns a model that answers like m and appends each call to the
// file at path, which it creates if need be. An unfinished last line, which a
// crash leaves, is removed. The caller closes the recorder when all calls have
// returned.
func NewRecorder(m model.Model, path string, o *Options) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("recorded: %w", err)
	}
	if err := endLastLine(f); err != nil {
		return nil, errors.Join(fmt.Errorf("recorded: %s: %w", path, err), f.Close())
	}
	r := &Recorder{model: m, file: f, redact: func(line []byte) []byte { return line }}
	if o != nil && o.Redact != nil {
		r.redact = o.Redact
	}
	return r, nil
}

// endLastLine makes the file end at the end of a line.
func endLastLine(f *os.File) error {
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	switch last := text[end:]; {
	case len(last) == 0:
		return nil
	case json.Valid(last):
		_, err = f.Write([]byte("\n"))
		return err
	}
	return f.Truncate(int64(end))
}

// Generate asks the model and records what it said. A call that cannot be
// recorded is answered all the same; [Recorder.Close] reports it.
func (r *Recorder) Generate(ctx context.Context, req *model.Request) (*model.Response, error) {
	resp, err := r.model.Generate(ctx, req)
	l := line{Hash: Hash(req), Request: req}
	if err == nil {
		l.Response = resp
	} else {
		e, ok := errors.AsType[*model.Error](err)
		if !ok {
			return resp, err
		}
		l.Error = newFailure(e)
	}
	r.write(l)
	return resp, err
}

// write appends one line with a single write. After a failure it writes no more,
// so that what is there stays readable.
func (r *Recorder) write(l line) {
	text, err := json.Marshal(l)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	if err == nil {
		_, err = r.file.Write(append(r.redact(text), '\n'))
	}
	r.err = err
}

// Close closes the file. It returns the error that kept a call from being
// recorded, if there was one.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	closed := r.file.Close()
	if err := errors.Join(r.err, closed); err != nil {
		return fmt.Errorf("recorded: %w", err)
	}
	return nil
}
