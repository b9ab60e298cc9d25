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
	cmd         *exec.Cmd
	out         bytes.Buffer
	exited      chan struct{}
}

// ForTest starts a server for a test, which is skipped if only short ones are wanted: whoever
// does not have the program yet waits for minutes.
func ForTest(t testing.TB, db string) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a server")
	}
	s, err := Start(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Kill() })
	return s
}

// Start starts a server. If db is not empty it keeps what it knows there.
func Start(ctx context.Context, db string) (*Server, error) {
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
	s := &Server{Address: address, program: program, db: db}
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
	if s.db != "" {
		args = append(args, "--db-filename", s.db)
	}
	s.out.Reset()
	s.cmd = exec.Command(s.program, args...)
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	s.exited = exited
	go func() {
		_ = s.cmd.Wait() // what it said is told if it is missed
		close(exited)
	}()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		c, err := client.DialContext(ctx, client.Options{HostPort: s.Address, Logger: Quiet{}})
		if err == nil {
			c.Close()
			return nil
		}
		select {
		case <-exited:
			return fmt.Errorf("the development server of Temporal has ended: %s", s.out.String())
		case <-ctx.Done():
			return errors.Join(err, s.Kill())
		case <-time.After(50 * time.Millisecond): // it is another program: there is nothing else to wait for
		}
	}
}

// Kill ends the server without a word.
func (s *Server) Kill() error {
	err := s.cmd.Process.Kill()
	<-s.exited
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	return err
}

// Restart kills the server and starts it again on what it has kept.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Kill(); err != nil {
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
