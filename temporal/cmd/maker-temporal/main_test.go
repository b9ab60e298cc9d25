package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/maker-mdap/maker/internal/cli"
	"github.com/maker-mdap/maker/temporal/internal/devserver"
)

// asProgram has the binary of the tests be a program: maker-temporal, or maker.
const asProgram = "MAKER_TEST_PROGRAM"

func TestMain(m *testing.M) {
	switch os.Getenv(asProgram) {
	case "maker-temporal":
		main()
	case "maker":
		os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	os.Exit(m.Run())
}

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// site is a server, a store, and a folder in which commands are run.
type site struct {
	t      *testing.T
	dir    string
	server *devserver.Server
	env    []string
}

func newSite(t *testing.T, env ...string) *site {
	t.Helper()
	server := devserver.ForTest(t)
	s := &site{t: t, dir: t.TempDir(), server: server}
	s.env = append(os.Environ(), "MAKER_TEMPORAL_ADDRESS="+server.Address, "MAKER_TEMPORAL_STORE="+filepath.Join(s.dir, "store"),
		"XDG_CONFIG_HOME="+filepath.Join(s.dir, "config"), "MAKER_MODEL=sim/default?p=0.9")
	s.env = append(s.env, env...)
	return s
}

func (s *site) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// process is a program that runs.
type process struct {
	t       *testing.T
	what    string
	cmd     *exec.Cmd
	out     bytes.Buffer // of stdout, whole once it has ended
	ended   chan struct{}
	mu      sync.Mutex
	said    []string      // lines of stderr
	more    chan struct{} // closed when there is another line
	reading sync.WaitGroup
}

// begin starts maker-temporal.
func (s *site) begin(args ...string) *process { return s.program("maker-temporal", args...) }

func (s *site) program(name string, args ...string) *process {
	s.t.Helper()
	p := &process{t: s.t, what: name + " " + strings.Join(args, " "), cmd: exec.Command(os.Args[0], args...), ended: make(chan struct{}), more: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = s.dir, append(s.env, asProgram+"="+name)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.cmd.Stdout = &p.out
	stderr, err := p.cmd.StderrPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	p.reading.Go(func() { p.read(stderr) })
	go func() {
		p.reading.Wait()
		_ = p.cmd.Wait() // the exit code says it
		close(p.ended)
	}()
	s.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	return p
}

func (p *process) read(r io.Reader) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		p.mu.Lock()
		p.said = append(p.said, in.Text())
		close(p.more)
		p.more = make(chan struct{})
		p.mu.Unlock()
	}
}

// await waits until the program says something on stderr, and returns the line.
func (p *process) await(pattern string) string {
	p.t.Helper()
	want := regexp.MustCompile(pattern)
	timeout := time.After(patience)
	for n := 0; ; {
		p.mu.Lock()
		said, more := p.said, p.more
		p.mu.Unlock()
		for ; n < len(said); n++ {
			if want.MatchString(said[n]) {
				return said[n]
			}
		}
		select {
		case <-more:
		case <-timeout:
			p.t.Fatalf("%s does not say %q, but\n%s", p.what, pattern, strings.Join(said, "\n"))
		case <-p.ended:
			if p.mu.Lock(); n == len(p.said) {
				p.t.Fatalf("%s has ended and did not say %q, but\n%s", p.what, pattern, strings.Join(p.said, "\n"))
			}
			p.mu.Unlock()
		}
	}
}

// end waits for the end of the program, and returns what it printed.
func (p *process) end(code int) (stdout, stderr string) {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.mu.Lock()
		defer p.mu.Unlock()
		p.t.Fatalf("%s does not end; it says\n%s", p.what, strings.Join(p.said, "\n"))
	}
	stderr = strings.Join(p.said, "\n")
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("%s = %d, want %d; it says\n%s\n%s", p.what, got, code, &p.out, stderr)
	}
	return p.out.String(), stderr
}

func (p *process) signal(sig os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
}

// do runs maker-temporal to its end.
func (s *site) do(code int, args ...string) (stdout, stderr string) {
	s.t.Helper()
	return s.begin(args...).end(code)
}

// worker starts a worker, and waits until it is ready.
func (s *site) worker(args ...string) *process {
	s.t.Helper()
	p := s.begin(append([]string{"worker", "--lost", "2s"}, args...)...)
	p.await("is ready")
	return p
}

// replay exports a run and has maker replay it.
func (s *site) replay(run string) {
	s.t.Helper()
	dir, _ := s.do(0, "export", run)
	stdout, _ := s.program("maker", "replay", strings.TrimSpace(dir)).end(0)
	wants(s.t, stdout, "agrees with the stored result: completed")
}

func wants(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		if !regexp.MustCompile("(?m)" + pattern).MatchString(text) {
			t.Errorf("this does not have %q:\n%s", pattern, text)
		}
	}
}

// nameOf is the run that a line names.
func nameOf(line string) string { return strings.TrimPrefix(strings.TrimSpace(line), "run ") }
