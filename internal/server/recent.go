package server

import (
	linked "container/list"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/maker-mdap/maker/runs"
)

// mostRecent is how many runs the server remembers something of that takes long to find out.
const mostRecent = 500

// recent remembers something of runs, by their folders: of so many at most, those that were
// asked for last.
type recent[V any] struct {
	mu    sync.Mutex
	known map[string]*linked.Element
	order linked.List // of *remembered[V], the last one first
}

type remembered[V any] struct {
	dir   string
	value *V
}

// of is what is remembered of a run; if nothing is, what the function makes.
func (r *recent[V]) of(dir string, begin func() *V) *V {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.known[dir]; ok {
		r.order.MoveToFront(e)
		return e.Value.(*remembered[V]).value
	}
	if r.known == nil {
		r.known = map[string]*linked.Element{}
	}
	v := begin()
	r.known[dir] = r.order.PushFront(&remembered[V]{dir, v})
	if r.order.Len() > mostRecent {
		last := r.order.Remove(r.order.Back()).(*remembered[V])
		delete(r.known, last.dir)
	}
	return v
}

// tally is that of a run.
func (s *Server) tally(run *runs.Run) *runs.Tally { return s.tallies.of(run.Dir(), run.Tally) }

// A proof is the certificate of a run as its log was.
type proof struct {
	mu          sync.Mutex // one finds it out, others wait for that
	log         stamp
	written     bool
	begun       time.Time
	certificate *runs.Certificate
}

// certificate is what a run has proved. It is found out anew if the log has grown, and of all
// who wait for that once.
func (s *Server) certificate(run *runs.Run) (*runs.Certificate, error) {
	asked := time.Now()
	p := s.proofs.of(run.Dir(), func() *proof { return &proof{} })
	p.mu.Lock()
	defer p.mu.Unlock()
	_, written := run.Writer() // before the log is looked at: it says how the run stands
	log := stampOf(filepath.Join(run.Dir(), "events.jsonl"))
	if p.certificate != nil && (p.log == log && p.written == written || p.begun.After(asked)) {
		return p.certificate, nil
	}
	begun := time.Now()
	c, err := run.Certify()
	if err != nil {
		return nil, err
	}
	p.log, p.written, p.begun, p.certificate = log, written, begun, c
	return c, nil
}

func (s *Server) getCertificate(w http.ResponseWriter, _ *http.Request, run *runs.Run) error {
	c, err := s.certificate(run)
	if err != nil {
		return err
	}
	return give(w, http.StatusOK, c)
}
