// Package mcpserver is the MCP server of maker mcp: tools with which an agent that people
// already use hands over what must be right. It is written on packages maker and runs, so
// that what it can do, a library user can.
//
// # Who decides
//
// An agent may start runs, look at them and end those that it started here. It cannot answer
// what they ask: no tool does that, and settings that would let calls pass, or that a person
// set to hold it back, are not its to set. A question of a run waits until a person answers
// it with maker answer.
//
// # Long runs
//
// A tool that starts a run waits a while for its end and then returns its name, with which
// the tool follow goes on waiting. Runs go on in the process of the server. When that ends
// they are paused, and a person can resume them.
package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/runs"
)

// Options are what a server needs. LogDir, Engine and Settings are required.
type Options struct {
	// LogDir is the folder that holds the run folders.
	LogDir string

	// Folder is the one that files which an agent names are in; the default is the working
	// folder. What is not below it cannot be named.
	Folder string

	// Engine is the one whose connections and limits all runs share.
	Engine *maker.Engine

	// Settings are the options of a run of a kind as the command line would have them here,
	// with given settings over them, each as one text or several. It is called from several
	// goroutines.
	Settings func(kind config.Kinds, given map[string][]string) (*maker.Options, error)

	// Redact leaves the keys of providers out of a text; nil leaves it as it is.
	Redact func(text string) string

	// Logger gets what goes wrong and nobody is told; nil discards it.
	Logger *slog.Logger

	// Wait is how long a tool that starts a run waits for its end, and Beat how often it
	// reports progress meanwhile; 0 means 20 seconds and one.
	Wait, Beat time.Duration
}

// mostRuns is how many runs may go on at once.
const mostRuns = 16

// A Server has the tools. [Server.Close] ends its runs.
type Server struct {
	o   Options
	mcp *mcp.Server

	ctx  context.Context // of the runs
	end  context.CancelCauseFunc
	work sync.WaitGroup // the runs

	mu     sync.Mutex
	jobs   map[string]*job // that go on, by the names of their runs
	begun  map[string]bool // the names of all that were started here
	going  int             // jobs, and those that are about to be
	closed bool
}

// errClosed says that the server is shutting down.
var errClosed = errors.New("the server is shutting down, so that nothing can be started")

// New returns a server.
func New(o Options) *Server {
	if o.Redact == nil {
		o.Redact = func(text string) string { return text }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Folder = cmp.Or(o.Folder, ".")
	o.Wait, o.Beat = cmp.Or(o.Wait, 20*time.Second), cmp.Or(o.Beat, time.Second)
	s := &Server{o: o, jobs: map[string]*job{}, begun: map[string]bool{}}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "maker", Title: "MAKER", Version: maker.Version}, &mcp.ServerOptions{
		Instructions: text("instructions"),
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, // which do not change
	})
	s.addTools()
	return s
}

// Close pauses the runs that go on here and returns when they have ended. What is committed
// is kept.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end(maker.ErrPaused)
	s.work.Wait()
}

// A job is a run that goes on here.
type job struct {
	run *maker.Run
	end context.CancelCauseFunc

	mu    sync.Mutex
	asked int           // questions to the person so far
	open  int           // of these that have no answer
	told  int           // of asked that an agent was told of
	news  chan struct{} // closed and replaced when something is asked
}

// ask waits until a person has answered in the folder of the run, which ends ctx.
func (j *job) ask(ctx context.Context, q maker.Question) (string, error) {
	j.mu.Lock()
	j.asked, j.open = j.asked+1, j.open+1
	close(j.news)
	j.news = make(chan struct{})
	j.mu.Unlock()
	defer func() {
		j.mu.Lock()
		j.open--
		j.mu.Unlock()
	}()
	return maker.AnsweredElsewhere(ctx, q)
}

// asks returns what is closed when something is asked that an agent was not told of.
func (j *job) asks() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.open > 0 && j.asked > j.told {
		now := make(chan struct{})
		close(now)
		return now
	}
	return j.news
}

// tell notes that an agent is told of what is asked, and reports whether anything is.
func (j *job) tell() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.told = j.asked
	return j.open > 0
}

// begin starts a run that goes on until it ends or the server does.
func (s *Server) begin(o *maker.Options, start func(ctx context.Context, e *maker.Engine) (*maker.Run, error)) (*job, error) {
	s.mu.Lock()
	closed, full := s.closed, s.going >= mostRuns
	if !closed && !full {
		s.going++
		s.work.Add(1) // so that Close waits for a run that is about to begin
	}
	s.mu.Unlock()
	switch {
	case closed:
		return nil, errClosed
	case full:
		return nil, fmt.Errorf("%d runs go on, and more at a time are not started here; follow them to their end, or cancel some", mostRuns)
	}
	j := &job{news: make(chan struct{})}
	o.Ask = j.ask
	ctx, end := context.WithCancelCause(s.ctx)
	j.end = end
	engine, err := s.o.Engine.With(o)
	if err == nil {
		j.run, err = start(ctx, engine)
	}
	if err != nil {
		end(nil)
		s.over(j)
		return nil, err
	}
	s.mu.Lock()
	s.jobs[j.run.ID()], s.begun[j.run.ID()] = j, true
	s.mu.Unlock()
	go func() {
		if _, err := j.run.Result(); err != nil {
			s.o.Logger.Warn(fmt.Sprintf("%s: %v", j.run.ID(), err))
		}
		end(nil)
		s.over(j)
	}()
	return j, nil
}

func (s *Server) over(j *job) {
	s.mu.Lock()
	s.going--
	if j.run != nil {
		delete(s.jobs, j.run.ID())
	}
	s.mu.Unlock()
	s.work.Done()
}

// find opens a run by its name, and the job that it is if it goes on here.
func (s *Server) find(name string) (*runs.Run, *job, error) {
	if name == "" || name != filepath.Base(name) || filepath.Base(name) == "." || filepath.Base(name) == ".." {
		return nil, nil, fmt.Errorf("run: %q is not the name of a run; want one that ask, map, run or script returned", name)
	}
	dir, err := runs.Find(s.o.LogDir, name)
	if err != nil {
		return nil, nil, err
	}
	run, err := runs.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return run, s.jobs[run.ID()], nil
}

// add adds a tool. What goes wrong in it is its result, with what to do about it.
func add[In, Out any](s *Server, t *mcp.Tool, f func(ctx context.Context, req *mcp.CallToolRequest, in In) (Out, error)) {
	t.Description = text(t.Name)
	mcp.AddTool(s.mcp, t, func(ctx context.Context, req *mcp.CallToolRequest, in In) (_ *mcp.CallToolResult, out Out, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.o.Logger.Error(s.o.Redact(fmt.Sprintf("tool %s: %v\n%s", t.Name, p, debug.Stack())))
				err = errors.New("a defect of maker ended this call, and its stderr says where; runs that go on are not affected, and `maker runs` lists them")
			}
		}()
		if out, err = f(ctx, req, in); err != nil {
			err = errors.New(s.o.Redact(s.explain(err)))
		}
		return nil, out, err
	})
}

// explain says what went wrong in the words of the tools.
func (s *Server) explain(err error) string {
	if c, ok := errors.AsType[*maker.ConfigError](err); ok {
		if d := config.Find(c.Field); d != nil {
			return fmt.Sprintf("the setting %s: %v", d.Name, c.Err)
		}
		return fmt.Sprintf("%s: %v", c.Field, c.Err)
	}
	switch {
	case errors.Is(err, runs.ErrNoRun):
		return err.Error() + "; want the name that ask, map, run or script returned"
	case errors.Is(err, context.Canceled), errors.Is(err, maker.ErrClosed):
		return "the call was ended before it was done"
	}
	return err.Error()
}
