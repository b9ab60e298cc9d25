package server

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/runs"
)

// by is what the log calls who asks.
func (s *Server) by(r *http.Request) string { return s.o.Me(r.Context()).Name + " (" + Keeper + ")" }

func (s *Server) answerRun(w http.ResponseWriter, r *http.Request, run *runs.Run) error {
	if err := may(s.o.Caller(r.Context()).MayAnswer(), "answer what runs ask"); err != nil {
		return err
	}
	var in givenAnswer
	if err := read(w, r, &in); err != nil {
		return err
	}
	if n := len(in.Answer); n > runs.MaxAnswer {
		return problemf(http.StatusRequestEntityTooLarge, "answer", "%v", &runs.LongAnswerError{Length: n})
	}
	open, err := run.Waiting()
	if err != nil {
		return err
	}
	if in.Question == "" && len(open) == 1 {
		in.Question = open[0].Key
	}
	if in.Question == "" {
		return problemf(http.StatusBadRequest, "question", "the run waits for %d answers; question says which one is meant", len(open))
	}
	if i := slices.IndexFunc(open, func(q runs.Question) bool { return q.Key == in.Question }); i >= 0 {
		meant, err := open[i].Understand(in.Answer)
		if err != nil {
			return problemf(http.StatusBadRequest, "answer", "%v", err)
		}
		if err := s.remember(s.o.Caller(r.Context()), open[i].Kind, meant); err != nil {
			return err
		}
	}
	give := run.Answer
	if in.Replace {
		give = run.ReplaceAnswer
	}
	// It lies in a file until it is used, and is in the log from then on.
	if err := give(in.Question, s.o.Redact(in.Answer), s.by(r)); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// remember keeps the rule of an answer that is to hold for all later runs.
func (s *Server) remember(c Caller, kind, meant string) error {
	rule, always := strings.CutPrefix(meant, person.ForEver+" ")
	if kind != event.ClarifyApproval || !always {
		return nil
	}
	if err := may(c.MaySeeAll(), "make rules for all later runs, because it is for its own alone; run is for this run only"); err != nil {
		return err
	}
	if s.o.Remember == nil {
		return problemf(http.StatusBadRequest, "answer", "rules for all later runs cannot be kept here; run is for this run only")
	}
	if err := s.o.Remember(rule); err != nil {
		return problemf(http.StatusBadRequest, "answer", "the rule %s cannot be kept: %v; run is for this run only", rule, err)
	}
	return nil
}

// endTime is how long a run may take to end.
const endTime = 30 * time.Second

func (s *Server) pauseRun(w http.ResponseWriter, r *http.Request, run *runs.Run) error {
	return s.endRun(w, r, run, run.Pause)
}

func (s *Server) cancelRun(w http.ResponseWriter, r *http.Request, run *runs.Run) error {
	return s.endRun(w, r, run, run.Cancel)
}

func (s *Server) endRun(w http.ResponseWriter, r *http.Request, run *runs.Run, end func(ctx context.Context, by string) error) error {
	if err := may(s.o.Caller(r.Context()).MayWrite(), "end runs"); err != nil {
		return err
	}
	if err := read(w, r, &struct{}{}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), endTime)
	defer cancel()
	if err := end(ctx, s.by(r)); err != nil {
		return err
	}
	return give(w, http.StatusOK, named(runs.Summarize(run.Dir())))
}

func (s *Server) removeRun(w http.ResponseWriter, r *http.Request, run *runs.Run) error {
	return s.removeUnreadable(w, r, run.Dir())
}

// removeUnreadable removes a run, also one that cannot be read.
func (s *Server) removeUnreadable(w http.ResponseWriter, r *http.Request, dir string) error {
	if err := may(s.o.Caller(r.Context()).MayWrite(), "remove runs"); err != nil {
		return err
	}
	if err := runs.Remove(dir); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// A resumption says how a run goes on.
type resumption struct {
	Settings map[string]any `json:"settings,omitempty"`
	Retry    []string       `json:"retry,omitempty"`
	SetAside bool           `json:"set_aside,omitempty"`
}

func (s *Server) resumeRun(w http.ResponseWriter, r *http.Request, run *runs.Run) error {
	c := s.o.Caller(r.Context())
	if err := may(c.MayWrite(), "resume runs"); err != nil {
		return err
	}
	var in resumption
	if err := read(w, r, &in); err != nil {
		return err
	}
	if err := s.mayAll(c, in.Settings); err != nil {
		return err
	}
	if run.Kind() == maker.KindSession { // which a request may be about to go on with
		defer s.sessions.hold(run.Owner(), run.Task())()
		if now := s.sessions.get(run.Owner(), run.Task()); now != nil && now.Run().ID() != run.ID() && s.running(now.Run().ID()) != nil {
			return problemf(http.StatusConflict, "", "requests are answered in %s, which came after it: pause or cancel that first", now.Run().ID())
		}
	}
	if _, err := s.resume(r.Context(), run.Dir(), in); err != nil {
		return err
	}
	return give(w, http.StatusOK, named(runs.Summarize(run.Dir())))
}

// resume goes on with a run here.
func (s *Server) resume(ctx context.Context, dir string, in resumption) (*maker.Run, error) {
	given, err := texts(in.Settings)
	if err != nil {
		return nil, err
	}
	opts, change, err := s.o.Resuming(given)
	if err != nil {
		return nil, err
	}
	run, err := runs.Open(dir)
	if err != nil {
		return nil, err
	}
	before, _ := s.tally(run).Progress() // a damaged log is the resume's to refuse
	before.Spent.USD = 0
	if sum := runs.Summarize(dir); sum.CostUSD != nil {
		before.Spent.USD = *sum.CostUSD
	}
	cfg, err := run.Config()
	if err != nil {
		return nil, err
	}
	change(&cfg)
	held, err := s.o.Reserve(ctx, Spending{Run: run.ID(), Owner: run.Owner(), MaxUSD: cfg.MaxUSD, BeforeUSD: before.Spent.USD})
	if err != nil {
		return nil, problemf(http.StatusForbidden, "settings.max_usd", "%v", err)
	}
	s.prepare(opts, run.Owner())
	engine, err := s.o.Engine.With(opts)
	if err != nil {
		held.settle(&before.Spent.USD)
		return nil, err
	}
	return s.begin(held, before, func(ctx context.Context) (*maker.Run, error) {
		return s.resumeRunOf(ctx, engine, run, &maker.ResumeOptions{Retry: in.Retry, SetAside: in.SetAside, Change: func(c *maker.Config) {
			change(c)
			if held.USD > 0 {
				c.MaxUSD = before.Spent.USD + held.USD
			}
		}})
	})
}

// prepare makes options those of a run that goes on here.
func (s *Server) prepare(o *maker.Options, owner string) {
	o.LogDir, o.Owner, o.Keeper = s.o.LogDir, owner, Keeper
	o.Confined = owner != "" // what a program sends names no files of this machine
	o.Families = s.o.Families
	o.Ask = maker.AnsweredElsewhere
}
