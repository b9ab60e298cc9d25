// Package devserver starts Temporal's development server for tests and measurements. The
// program is installed when it is first needed, and kept.
package devserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
)

// Version is that of the program: the newest that the go command can install.
const Version = "v1.5.1"

// Install returns the program, and makes it if this machine does not have it yet: that takes
// minutes.
func Install(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "maker", "temporal-"+Version)
	program := filepath.Join(dir, "temporal")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	cmd := exec.CommandContext(ctx, "go", "install", "github.com/temporalio/cli/cmd/temporal@"+Version)
	cmd.Dir = os.TempDir() // in no module
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("install Temporal's development server: %w\n%s", err, out)
	}
	return program, nil
}

// A Server is one that runs.
type Server struct {
	Address string

	program, db string

	mu     sync.Mutex // of the process
	cmd    *exec.Cmd
	out    bytes.Buffer
	exited chan struct{}
}

// ForTest starts a server for a test, which is skipped if only short ones are wanted: whoever
// does not have the program yet waits for minutes. It is started again, as any operator has it,
// when it does not answer any more.
func ForTest(t testing.TB) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a server")
	}
	s, err := Start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var watching sync.WaitGroup
	watching.Go(func() { s.watch(t) })
	t.Cleanup(func() { // by when the test's context has ended
		watching.Wait()
		_ = s.Kill()
		if t.Failed() {
			t.Logf("Temporal's development server said:\n%s", s.said())
		}
	})
	return s
}

// watch starts the server again when it does not answer any more: once in some hundred tests it
// takes connections, and answers nothing.
func (s *Server) watch(t testing.TB) {
	ctx := t.Context()
	const patience = 20 * time.Second
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(patience / 10):
		}
		s.mu.Lock()
		err := s.probe(ctx, patience)
		if err != nil && ctx.Err() == nil {
			_ = s.cmd.Process.Signal(syscall.SIGQUIT) // so that it says what it does
			select {
			case <-s.exited:
			case <-time.After(patience / 4):
			}
			_ = s.kill()
			t.Logf("Temporal's development server does not answer, and is started again: %v\n%s", err, s.said())
			if err := s.start(ctx); err != nil && ctx.Err() == nil {
				t.Errorf("it does not start: %v", err)
			}
		}
		s.mu.Unlock()
	}
}

// probe reports why the server does not answer.
func (s *Server) probe(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		c, err := client.DialContext(ctx, client.Options{HostPort: s.Address, Logger: Quiet{}})
		if err == nil {
			c.Close()
			return nil
		}
		select {
		case <-s.exited:
			return errEnded
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond): // it is another program: there is nothing else to wait for
		}
	}
}

var errEnded = errors.New("it has ended")

// said is what the server said, which has ended: the beginning of it.
func (s *Server) said() []byte {
	const most = 100_000
	return s.out.Bytes()[:min(s.out.Len(), most)]
}

// Start starts a server that keeps what it knows in a folder, or in memory if there is none: that
// is faster, but then it may forget everything if a request is given up at the wrong moment
// (github.com/temporalio/temporal/issues/8017).
func Start(ctx context.Context, dir string) (*Server, error) {
	program, err := Install(ctx)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	s := &Server{Address: address, program: program}
	if dir != "" {
		s.db = filepath.Join(dir, "temporal.db")
	}
	return s, s.start(ctx)
}

// start starts the program and waits until it answers.
func (s *Server) start(ctx context.Context) error {
	_, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	args := []string{"server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", port, "--log-level", "error",
		// The port for its own measurements is one more than that of the page, which is
		// away by a thousand.
		"--ui-port", strconv.Itoa(n%30000 + 30000),
		// Otherwise it does ten activities in a row a second.
		"--dynamic-config-value", "history.transferProcessorMaxPollRPS=2000",
		"--dynamic-config-value", "system.enableActivityEagerExecution=true",
		// One machine needs no more, and then parts are begun in their order.
		"--dynamic-config-value", "matching.numTaskqueueReadPartitions=1",
		"--dynamic-config-value", "matching.numTaskqueueWritePartitions=1"}
	if s.db != "" { // which has to outlive its process, not a power cut
		args = append(args, "--db-filename", s.db, "--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=off")
	}
	s.out.Reset()
	s.cmd = exec.Command(s.program, args...)
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	s.cmd.Env = append(os.Environ(), "GOTRACEBACK=all") // see watch
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.exited = make(chan struct{})
	go func(cmd *exec.Cmd, exited chan<- struct{}) {
		_ = cmd.Wait() // what it said is told if it is missed
		close(exited)
	}(s.cmd, s.exited)
	if err := s.probe(ctx, time.Minute); err != nil {
		_ = s.kill()
		return fmt.Errorf("the development server of Temporal does not answer: %w: %s", err, s.said())
	}
	return nil
}

// Kill ends the server without a word.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kill()
}

func (s *Server) kill() error {
	err := s.cmd.Process.Kill()
	<-s.exited
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	return err
}

// Restart kills the server and starts it again on what it has kept.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.kill(); err != nil {
		return err
	}
	return s.start(ctx)
}

// Quiet is a logger that says nothing.
type Quiet struct{}

// Debug, Info, Warn and Error say nothing.
func (Quiet) Debug(string, ...any) {}
func (Quiet) Info(string, ...any)  {}
func (Quiet) Warn(string, ...any)  {}
func (Quiet) Error(string, ...any) {}
