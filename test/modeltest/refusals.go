package modeltest

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/maker-mdap/maker/model"
)

// A picky server refuses requests that have a parameter.
type picky struct {
	param          string
	refusal        string
	answer         answer
	taken, refused atomic.Int64
}

func (p *picky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if bytes.Contains(body, []byte(`"`+p.param+`"`)) {
		p.refused.Add(1)
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, p.refusal)
		return
	}
	p.taken.Add(1)
	p.answer.write(w)
}

// Refusals has a server refuse parameters, which a client has to learn.
func Refusals(t *testing.T, c Config) {
	plain := readAnswer(t, c.path("answers", "plain.http"))
	for _, param := range []string{"temperature", c.Schema} {
		t.Run(param, func(t *testing.T) { learns(t, c, param, plain) })
	}
	t.Run("AtOnce", func(t *testing.T) { learnsAtOnce(t, c, plain) })
	t.Run("Stubborn", func(t *testing.T) { stubborn(t, c, plain) })
}

// demanding is a request with everything that may be refused.
func demanding() *model.Request {
	req := ask("Hello")
	req.Temperature = new(float64)
	req.Output = &model.OutputFormat{Mode: model.JSONSchema, Name: "x", Schema: []byte(`{"type": "object"}`)}
	req.CachePrefix = true
	return req
}

// learns expects one refusal, one warning, and no refusal after that.
func learns(t *testing.T, c Config, param string, plain answer) {
	s := &picky{param: param, refusal: c.Refuse(param), answer: plain}
	m := newClient(t, c, serve(t, s.ServeHTTP), "m")
	for range 3 {
		if _, err := m.Generate(t.Context(), demanding()); err != nil {
			t.Fatal(err)
		}
	}
	// Structured output has a step in between, which may be refused too.
	if n := s.refused.Load(); n < 1 || n > 2 || n > 1 && param != c.Schema {
		t.Errorf("%d requests were refused, want 1 in 3 calls", n)
	}
	if s.taken.Load() != 3 {
		t.Errorf("%d requests were taken, want 3", s.taken.Load())
	}
	if w := m.warned(); len(w) != 1 || !strings.Contains(w[0], "the server said") {
		t.Errorf("warnings %q, want one with what the server said", w)
	}
}

// learnsAtOnce has many callers meet the same refusal.
func learnsAtOnce(t *testing.T, c Config, plain answer) {
	const callers = 32
	s := &picky{param: "temperature", refusal: c.Refuse("temperature"), answer: plain}
	m := newClient(t, c, serve(t, s.ServeHTTP), "m")
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			if _, err := m.Generate(t.Context(), demanding()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	before := s.refused.Load()
	if before < 1 || before > callers {
		t.Errorf("%d requests of %d callers were refused, want at most one each", before, callers)
	}
	if _, err := m.Generate(t.Context(), demanding()); err != nil || s.refused.Load() != before {
		t.Errorf("the next call: %v, %d requests refused, want none", err, s.refused.Load()-before)
	}
	if w := m.warned(); len(w) != 1 {
		t.Errorf("warnings %q, want one", w)
	}
}

// stubborn refuses whatever is sent, so that nothing is learned.
func stubborn(t *testing.T, c Config, plain answer) {
	s := &picky{param: "messages", refusal: c.Refuse("temperature"), answer: plain}
	m := newClient(t, c, serve(t, s.ServeHTTP), "m")
	for range 2 {
		before := s.refused.Load()
		_, err := m.Generate(t.Context(), demanding())
		wantKind(t, "refused twice", err, model.Invalid, "temperature")
		if n := s.refused.Load() - before; n != 2 {
			t.Errorf("%d requests, want 2: with a temperature and without", n)
		}
	}
	if w := m.warned(); len(w) != 0 {
		t.Errorf("warnings %q, want none: nothing was learned", w)
	}
}
