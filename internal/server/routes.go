package server

import (
	"errors"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/runs"
)

// A route is one request that the server answers.
type route struct {
	method, path string
	answer       func(w http.ResponseWriter, r *http.Request) error
}

func (s *Server) routes() []route {
	return []route{
		{"GET", "/api/runs", s.listRuns},
		{"POST", "/api/runs", s.startRun},
		{"POST", "/api/preview", s.previewRun},
		{"GET", "/api/kinds", s.listKinds},
		{"GET", "/api/runs/{run}", s.ofRun(s.getRun)},
		{"DELETE", "/api/runs/{run}", s.ofRun(s.removeRun)},
		{"GET", "/api/runs/{run}/strip", s.ofRun(s.getStrip)},
		{"GET", "/api/runs/{run}/steps", s.ofRun(s.listSteps)},
		{"GET", "/api/runs/{run}/steps/{step}", s.ofRun(s.getStep)},
		{"GET", "/api/runs/{run}/shape", s.ofRun(s.getShape)},
		{"GET", "/api/runs/{run}/records", s.ofRun(s.listRecords)},
		{"GET", "/api/runs/{run}/effects", s.ofRun(s.listEffects)},
		{"GET", "/api/runs/{run}/questions", s.ofRun(s.listQuestions)},
		{"GET", "/api/runs/{run}/certificate", s.ofRun(s.getCertificate)},
		{"GET", "/api/runs/{run}/result", s.ofRun(s.getResult)},
		{"GET", "/api/runs/{run}/replay", s.ofRun(s.getReplay)},
		{"GET", "/api/runs/{run}/values/{hash}", s.ofRun(s.getValue)},
		{"POST", "/api/runs/{run}/answers", s.ofRun(s.answerRun)},
		{"POST", "/api/runs/{run}/pause", s.ofRun(s.pauseRun)},
		{"POST", "/api/runs/{run}/cancel", s.ofRun(s.cancelRun)},
		{"POST", "/api/runs/{run}/resume", s.ofRun(s.resumeRun)},
		{"GET", "/api/runs/{run}/events", s.ofRun(s.follow)},
		{"GET", "/api/events", s.followList},
		{"GET", "/api/me", s.getMe},
		{"GET", "/api/openapi.json", s.describe},
		{"GET", "/metrics", s.measure},
		{"GET", "/healthz", s.health},
		{"GET", "/readyz", s.ready},
	}
}

// mostName is how long the name of a folder can be.
const mostName = 255

// ofRun finds the run of a request: a folder of exactly this name, and one that the caller may
// see. Another one is as if it were not there.
func (s *Server) ofRun(answer func(w http.ResponseWriter, r *http.Request, run *runs.Run) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		name := r.PathValue("run")
		missing := problemf(http.StatusNotFound, "run", "there is no run %q", name)
		if !isRunName(name) {
			return missing
		}
		run, err := runs.Open(filepath.Join(s.o.LogDir, name))
		switch {
		case errors.Is(err, runs.ErrNoRun) || notThere(err):
			return missing
		case err != nil && !s.o.Caller(r.Context()).MaySeeAll(): // nobody knows whose it is
			return missing
		case err != nil && r.Method == http.MethodDelete:
			return s.removeUnreadable(w, r, filepath.Join(s.o.LogDir, name))
		case err != nil:
			return problemf(http.StatusUnprocessableEntity, "run", "%v", err)
		case !s.o.Caller(r.Context()).MaySee(run.Owner()):
			return missing
		}
		return answer(w, r, run)
	}
}

// isRunName reports whether a name can be that of a run in the folder, and of nothing else.
func isRunName(name string) bool {
	return filepath.IsLocal(name) && name != "." && !strings.ContainsAny(name, "/\\\x00") && !strings.HasPrefix(name, ".") && len(name) <= mostName
}

// may refuses what the caller may not.
func may(ok bool, what string) error {
	if ok {
		return nil
	}
	return problemf(http.StatusForbidden, "", "this token may not %s", what)
}

// number reads a number of the query.
func number(r *http.Request, name string, value, most int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return value, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, problemf(http.StatusBadRequest, name, "%s is %q, want a number from 0", name, text)
	}
	if most > 0 {
		n = min(n, most)
	}
	return n, nil
}

// numbers reads several.
func numbers(r *http.Request, to map[string]*int) error {
	for name, at := range to {
		n, err := number(r, name, *at, 0)
		if err != nil {
			return err
		}
		*at = n
	}
	return nil
}

// truth reads a truth value of the query.
func truth(r *http.Request, name string) (bool, error) {
	switch text := r.URL.Query().Get(name); text {
	case "", "false", "0":
		return false, nil
	case "true", "1":
		return true, nil
	default:
		return false, problemf(http.StatusBadRequest, name, "%s is %q, want true or false", name, text)
	}
}

// oneOf reads a word of the query.
func oneOf(r *http.Request, name string, words ...string) (string, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return words[0], nil
	}
	for _, w := range words {
		if w == text {
			return text, nil
		}
	}
	return "", problemf(http.StatusBadRequest, name, "%s is %q, want %s", name, text, strings.Join(words, " or "))
}

func (s *Server) getMe(w http.ResponseWriter, r *http.Request) error {
	return give(w, http.StatusOK, MeHere{s.o.Me(r.Context()), maker.Version, s.o.LogDir})
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	return give(w, http.StatusOK, Health{"ok"})
}

// ready says whether runs can be started.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return ErrClosed
	}
	if _, err := runs.Folders(s.o.LogDir); err != nil {
		return problemf(http.StatusServiceUnavailable, "", "%v", err)
	}
	return give(w, http.StatusOK, Health{"ready"})
}
