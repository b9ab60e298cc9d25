package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/runs"
)

// A Problem says what is wrong with a request, as in RFC 9457.
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Field  string `json:"field,omitempty"` // that is to blame
}

func (p *Problem) Error() string { return p.Detail }

func problemf(status int, field, format string, args ...any) *Problem {
	return &Problem{Title: http.StatusText(status), Status: status, Field: field, Detail: fmt.Sprintf(format, args...)}
}

// problemOf is an error as a problem.
func problemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if c, ok := errors.AsType[*maker.ConfigError](err); ok {
		return problemf(http.StatusBadRequest, fieldOf(c.Field), "%s: %v", fieldOf(c.Field), c.Err)
	}
	if b, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return problemf(http.StatusRequestEntityTooLarge, "", "the body has more than %d bytes", b.Limit)
	}
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, runs.ErrNoRun), isA[*runs.NoStepError](err):
		status = http.StatusNotFound
	case isA[*runs.NotRunningError](err), isA[*runs.EndedError](err), isA[*runs.LockedError](err), isA[*runs.AnsweredError](err),
		isA[*runs.NotAskedError](err), isA[*runs.NewerError](err), errors.Is(err, maker.ErrFinished), errors.Is(err, maker.ErrTooOld):
		status = http.StatusConflict
	case isA[*runs.TooLongError](err):
		status = http.StatusRequestEntityTooLarge
	case isA[*runs.DeafError](err), errors.Is(err, ErrClosed), errors.Is(err, maker.ErrClosed), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		status = http.StatusServiceUnavailable
	}
	return problemf(status, "", "%v", err)
}

// fieldOf is where a request has a field of a configuration.
func fieldOf(name string) string {
	switch {
	case config.Find(name) != nil:
		return "settings." + config.Find(name).Name
	case name == "question" || name == "problem" || name == "text" || name == "plan" || name == "task":
		return "task"
	}
	return "params." + name
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// refuse says what is wrong.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil && !isA[*Problem](err) {
		return // nobody is there any more
	}
	p := *problemOf(err)
	p.Detail = s.o.Redact(p.Detail)
	if p.Status >= http.StatusInternalServerError && p.Status != http.StatusServiceUnavailable {
		s.o.Logger.Warn(fmt.Sprintf("%s %s: %s", r.Method, r.URL.Path, p.Detail))
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // whoever has gone away is not told
}

// give answers with JSON.
func give(w http.ResponseWriter, status int, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // whoever has gone away is not told
	return nil
}

// mostBody is how much a request may say: a table of records is the largest that there is.
const mostBody = 32 << 20

// bodyTime is how long a body may take.
var bodyTime = time.Minute

// read reads the body of a request. An empty one leaves v as it is. Fields that nobody knows
// are refused: they would be without effect.
func read(w http.ResponseWriter, r *http.Request, v any) error {
	// Whoever is slower than this does not mean to say anything.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime)) // a test has none
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	if err != nil {
		w.Header().Set("Connection", "close") // nobody waits for the rest of it
		if isA[*http.MaxBytesError](err) {
			return err
		}
		return problemf(http.StatusBadRequest, "", "the body cannot be read: %v", err)
	}
	_ = control.SetReadDeadline(time.Time{})
	if len(strings.TrimSpace(string(data))) == 0 {
		return nil
	}
	if kind := r.Header.Get("Content-Type"); kind != "" && !strings.HasPrefix(kind, "application/json") {
		return problemf(http.StatusUnsupportedMediaType, "", "the body is %s, want application/json", kind)
	}
	return decode(data, v, "")
}

// decode reads JSON strictly. The place of the value is what errors begin with.
func decode(data []byte, v any, place string) error {
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			err = errors.New("there is something behind the value")
		}
	}
	if err == nil {
		return nil
	}
	field := place
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field = within(place, t.Field)
		return problemf(http.StatusBadRequest, field, "%s is of a wrong type: %s", cmp.Or(field, "the body"), t.Value)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		field = within(place, strings.Trim(name, `"`))
		return problemf(http.StatusBadRequest, field, "there is no field %s; GET /api/openapi.json says what there is", field)
	}
	return problemf(http.StatusBadRequest, field, "the body is not what it should be: %v", err)
}

func within(place, field string) string {
	if place == "" || field == "" {
		return place + field
	}
	return place + "." + field
}

func joined(list []string) string { return strings.Join(list, ", ") }

// notThere reports whether a file or value is missing.
func notThere(err error) bool { return errors.Is(err, os.ErrNotExist) }
