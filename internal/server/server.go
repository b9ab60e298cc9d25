// Package server is the HTTP API of maker serve: one process that owns runs, for people and
// programs. It is written on packages maker and runs, so that what it can do, a library user
// can.
//
// Runs that it starts share connections and what is known about how much providers bear, and
// they wait for answers while they go on. Runs of other processes in the same folder are
// listed, followed, paused, cancelled and answered in the same way: by their folders.
//
// Who may do what is not decided here: see [Options.Guard] and [Caller].
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/server/feed"
	"github.com/maker-mdap/maker/internal/server/gateway"
	"github.com/maker-mdap/maker/runs"
)

// Keeper is what the logs of runs that a server keeps going call it.
const Keeper = "maker serve"

// Options are what a server needs. LogDir, Engine and Settings are required.
type Options struct {
	// LogDir is the folder that holds the run folders.
	LogDir string

	// Engine is the one whose connections and limits all runs share.
	Engine *maker.Engine

	// Settings are the options of a run of a kind as the command line would have them here,
	// with given settings over them, each as one text or several. It is called from several
	// goroutines.
	Settings func(kind config.Kinds, given map[string][]string) (*maker.Options, error)

	// Resuming are the options and the change that a resume is given.
	Resuming func(given map[string][]string) (*maker.Options, func(*maker.Config), error)

	// Remember keeps a rule that a person wants for all later runs; nil refuses that.
	Remember func(rule string) error

	// Redact leaves the keys of providers out of a text; nil leaves it as it is.
	Redact func(text string) string

	// Guard lets requests pass, and refuses others; nil lets all pass.
	Guard func(http.Handler) http.Handler

	// Caller is who asks; nil means somebody who may do everything.
	Caller func(ctx context.Context) Caller

	// Me describes who asks; nil means a person.
	Me func(ctx context.Context) Me

	// Reserve takes from a budget of who asks what a run may cost; nil has no budgets. In a
	// context of nobody the server goes on with a run by itself.
	Reserve func(ctx context.Context, want Spending) (Reservation, error)

	// Page answers all that is not the API; nil has no page.
	Page http.Handler

	// Models are those of the gateway that have a name of their own, and Model is the one that
	// is asked if none is named: see package gateway.
	Models map[string]string
	Model  string

	// Sessions is how many sessions of the gateway are kept open; those in which nothing was
	// asked for the longest time are paused, and go on with their next request. 0 means 64.
	Sessions int

	// Families are the user's own.
	Families []domain.Family

	// Logger gets what goes wrong and nobody is told; nil discards it.
	Logger *slog.Logger

	// Patience is how long a follower may take for one write before it is dropped, and Quiet
	// how long nothing is sent before a sign of life; 0 means 30 and 15 seconds.
	Patience, Quiet time.Duration
}

// A Caller is who asks.
type Caller interface {
	Owner() string              // whose the runs are that it starts
	MaySee(owner string) bool   // a run of this owner is there for it
	MaySeeAll() bool            // so are figures about all runs
	MayWrite() bool             // start, pause, resume, cancel and remove runs
	MayAnswer() bool            // answer what they ask
	MaySet(setting string) bool // in the settings of a run
}

// Me describes a caller.
type Me struct {
	Name      string   `json:"name"`
	Scopes    []string `json:"scopes"`
	Runs      string   `json:"runs"` // own or all
	BudgetUSD *float64 `json:"budget_usd"`
	LeftUSD   *float64 `json:"left_usd"`
}

// A Spending is what a run may cost.
type Spending struct {
	Run, Owner string  // empty if it is about to begin
	MaxUSD     float64 // 0 without a limit
	BeforeUSD  float64 // what it has cost
}

// A Reservation is what a run may spend of a budget.
type Reservation struct {
	USD    float64                // from now on; 0 if its own limit holds
	Bind   func(run string)       // says which run it is for
	Settle func(costUSD *float64) // ends it; nil for a cost that nobody knows
}

// anybody may do everything.
type anybody struct{}

func (anybody) Owner() string      { return "" }
func (anybody) MaySee(string) bool { return true }
func (anybody) MaySeeAll() bool    { return true }
func (anybody) MayWrite() bool     { return true }
func (anybody) MayAnswer() bool    { return true }
func (anybody) MaySet(string) bool { return true }

// A Server is an [http.Handler]. [Server.Close] ends it.
type Server struct {
	o       Options
	handler http.Handler
	list    *list
	feeds   feed.Hub
	changes changes

	sessions sessions
	totals   *totals
	tallies  recent[runs.Tally]
	proofs   recent[proof]

	ctx  context.Context // of the runs
	end  context.CancelCauseFunc
	work sync.WaitGroup // the runs

	followers context.Context // of those who follow something
	dismiss   context.CancelFunc

	mu     sync.Mutex
	own    map[string]ownRun // that go on here, by name
	closed bool
}

// An ownRun goes on here. Before is where it stood when it was resumed.
type ownRun struct {
	*maker.Run
	before runs.Progress
}

// ErrClosed says that the server is shutting down.
var ErrClosed = errors.New("the server is shutting down")

// New returns a server.
func New(o Options) *Server {
	if o.Redact == nil {
		o.Redact = func(text string) string { return text }
	}
	if o.Caller == nil {
		o.Caller = func(context.Context) Caller { return anybody{} }
	}
	if o.Me == nil {
		o.Me = func(context.Context) Me {
			return Me{Name: "person", Scopes: []string{"read", "write", "answer"}, Runs: "all"}
		}
	}
	if o.Reserve == nil {
		o.Reserve = func(context.Context, Spending) (Reservation, error) { return Reservation{}, nil }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Patience, o.Quiet = cmp.Or(o.Patience, 30*time.Second), cmp.Or(o.Quiet, 15*time.Second)
	s := &Server{o: o, totals: newTotals(), own: map[string]ownRun{}}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	s.followers, s.dismiss = context.WithCancel(context.Background())
	s.list = newList(o.LogDir, s.planned)
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		mux.HandleFunc(r.method+" "+r.path, func(w http.ResponseWriter, req *http.Request) {
			if err := r.answer(w, req); err != nil {
				s.refuse(w, req, err)
			}
		})
	}
	s.handleRest(mux)
	s.handler = mux
	if o.Guard != nil {
		s.handler = o.Guard(mux)
	}
	return s
}

// handleRest answers what no route is about.
func (s *Server) handleRest(mux *http.ServeMux) {
	known := map[string][]string{}
	for _, r := range s.routes() {
		known[r.path] = append(known[r.path], r.method)
	}
	for path, methods := range known {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", joined(methods))
			s.refuse(w, r, problemf(http.StatusMethodNotAllowed, "", "%s takes %s", r.URL.Path, joined(methods)))
		})
	}
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, problemf(http.StatusNotFound, "", "there is nothing at %s; GET /api/openapi.json says what there is", r.URL.Path))
	})
	page := s.o.Page
	if page == nil {
		page = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.refuse(w, r, problemf(http.StatusNotFound, "", "there is nothing at %s; the API is below /api/", r.URL.Path))
		})
	}
	mux.Handle("/v1/", gateway.New(gateway.Options{Open: s.session, Named: s.o.Models, Default: s.o.Model, Quiet: s.o.Quiet, Logger: s.o.Logger}))
	mux.Handle("/", page)
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close pauses the runs that go on here, and then lets go of those who follow some. It returns
// when the runs have ended. What is committed is kept.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end(maker.PausedBy(Keeper))
	s.work.Wait()
	s.dismiss()
}

// begin keeps an eye on a run that goes on here, and has taken something before. The function
// starts it.
func (s *Server) begin(held Reservation, before runs.Progress, start func(ctx context.Context) (*maker.Run, error)) (*maker.Run, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		held.settle(&before.Spent.USD)
		return nil, ErrClosed
	}
	s.work.Add(1) // so that Close waits for a run that is about to begin
	s.mu.Unlock()
	run, err := start(s.ctx)
	if err != nil {
		s.work.Done()
		held.settle(&before.Spent.USD)
		return nil, err
	}
	if held.Bind != nil {
		held.Bind(run.ID())
	}
	s.mu.Lock()
	s.own[run.ID()] = ownRun{run, before}
	s.mu.Unlock()
	counted := s.totals.begin(run)
	go func() {
		defer s.work.Done()
		result, err := run.Result()
		var cost *float64
		if err != nil {
			s.o.Logger.Warn(fmt.Sprintf("%s: %v", run.ID(), err))
		} else {
			cost = result.TotalCostUSD
		}
		held.settle(cost)
		s.totals.end(counted)
		s.mu.Lock()
		if s.own[run.ID()].Run == run {
			delete(s.own, run.ID())
		}
		s.mu.Unlock()
	}()
	return run, nil
}

func (r Reservation) settle(cost *float64) {
	if r.Settle != nil {
		r.Settle(cost)
	}
}

// running is a run that goes on here; nil if it does not.
func (s *Server) running(id string) *maker.Run {
	run, _ := s.doing(id)
	return run
}

// doing is running, with where the run stood when it was resumed.
func (s *Server) doing(id string) (*maker.Run, runs.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own[id].Run, s.own[id].before
}

// planned is how many steps a run has whose plan says so; 0 if there is none yet.
func (s *Server) planned(one runs.Summary) int {
	run, err := runs.Open(one.Dir)
	if err != nil {
		return one.Total
	}
	p, err := s.tally(run).Progress()
	if err != nil {
		return one.Total
	}
	return p.Total
}

// Resume goes on with the runs that a server in this folder was keeping going before: those
// that were killed with it, and those that it paused when it was shut down, but for sessions,
// which go on when something is asked in them. It returns their
// names, and what kept others from going on.
func (s *Server) Resume(ctx context.Context) (resumed []string, err error) {
	all, err := runs.List(s.o.LogDir)
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		if one.Kind == maker.KindSession {
			continue // its next request goes on with it
		}
		switch one.State {
		case runs.StatusInterrupted, event.StopPaused, runs.StateAnswered:
		default:
			continue
		}
		if kept, failed := s.wasKept(one); failed != nil || !kept {
			err = errors.Join(err, failed)
			continue
		}
		if _, failed := s.resume(ctx, one.Dir, resumption{}); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", one.Run, failed))
			continue
		}
		resumed = append(resumed, one.Run)
	}
	return resumed, err
}

// wasKept reports whether a server was keeping a run going until it ended itself.
func (s *Server) wasKept(one runs.Summary) (bool, error) {
	run, err := runs.Open(one.Dir)
	if err != nil {
		return false, err
	}
	last, err := run.Session()
	return last.Keeper == Keeper && (!last.Paused || last.PausedBy == Keeper), err
}
