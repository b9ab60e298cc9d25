// Package sympy asks SymPy, a computer algebra system written in Python, whether
// two expressions are equal.
//
// SymPy is not part of the project and need not be there: [New] says what is
// missing. It runs as one resident process, because starting it takes half a
// second and a question a few milliseconds.
//
// # Safety
//
// SymPy's own parser runs what it reads as a program, so it is not used. Only what
// package notation reads is asked about, and it is sent as a tree of known
// operations, from which the other side builds the expression. The process is
// confined by package sandbox besides: it sees Python and nothing of the user,
// changes nothing, has no network, and neither it nor anything that it starts
// outlives the [CAS]. Each question has a time limit.
//
// # Meaning
//
// Variables are real numbers and i is the imaginary unit. Unlike in package math,
// an expression may be complex on the way and in the end.
package sympy

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/maker-mdap/maker/domain/math/notation"
	"github.com/maker-mdap/maker/internal/process/sandbox"
	"github.com/maker-mdap/maker/internal/process/scratch"
)

//go:embed server.py
var server string

// ErrMissing is the error of a machine without Python or SymPy.
var ErrMissing = errors.New("SymPy is not there")

// Options tune a CAS. The zero value of a field means its default.
type Options struct {
	Python  string        // the interpreter; default python3
	Timeout time.Duration // of one question; default 5 seconds
	Start   time.Duration // how long starting may take; default 30 seconds
	Sandbox sandbox.Mode  // default auto
}

// The defaults.
const (
	DefaultTimeout = 5 * time.Second
	DefaultStart   = 30 * time.Second
)

// A CAS answers questions with SymPy. It is safe for concurrent use, and answers
// one question at a time.
type CAS struct {
	options Options
	python  installation
	sandbox *sandbox.Sandbox
	dir     *scratch.Dir
	script  string // what the process runs; only tests have another

	turn    chan struct{} // holds one token: the right to use what follows
	process *process      // nil if it has to be started
	version string
	next    int64
	closed  bool
}

// New starts SymPy. The error wraps [ErrMissing] if Python or SymPy is not
// installed. The context is for starting only; [CAS.Close] ends the process.
func New(ctx context.Context, o *Options) (*CAS, error) {
	c := &CAS{script: server, turn: make(chan struct{}, 1)}
	if o != nil {
		c.options = *o
	}
	if c.options.Python == "" {
		c.options.Python = "python3"
	}
	if c.options.Timeout <= 0 {
		c.options.Timeout = DefaultTimeout
	}
	if c.options.Start <= 0 {
		c.options.Start = DefaultStart
	}
	var err error
	if c.python, err = find(ctx, c.options); err != nil {
		return nil, err
	}
	if c.dir, err = scratch.New("sympy"); err != nil {
		return nil, fmt.Errorf("sympy: %w", err)
	}
	confine := sandbox.Options{
		Mode:      c.options.Sandbox,
		Workspace: c.dir.Path,
		Readable:  c.python.Folders,
		Limits:    sandbox.Limits{Processes: 4, FileBytes: 1 << 20, CPU: time.Hour, Grace: 50 * time.Millisecond},
	}
	c.sandbox, err = sandbox.New(ctx, confine)
	if errors.Is(err, sandbox.ErrNone) && confine.Mode != sandbox.Strict {
		// Where there is none it is done without: what runs is ours, and is sent nothing
		// that it would run.
		confine.Mode = sandbox.Off
		c.sandbox, err = sandbox.New(ctx, confine)
	}
	if err == nil {
		err = c.start(ctx)
	}
	if err != nil {
		c.dir.Remove()
		return nil, err
	}
	c.turn <- struct{}{}
	return c, nil
}

// An installation is where Python and SymPy are.
type installation struct {
	Executable string
	Folders    []string
}

const finder = `
import importlib.util, json, os, sys
found = [importlib.util.find_spec(name) for name in ("sympy", "mpmath")]
if None in found:
    sys.exit(3)
print(json.dumps({"Executable": sys.executable,
    "Folders": sorted({sys.prefix, sys.base_prefix} | {os.path.dirname(os.path.dirname(s.origin)) for s in found})}))
`

// find looks for Python and SymPy without running anything of SymPy.
func find(ctx context.Context, o Options) (installation, error) {
	path, err := exec.LookPath(o.Python)
	if err != nil {
		return installation{}, fmt.Errorf("sympy: %w: %s was not found; install Python 3 and SymPy, or do without", ErrMissing, o.Python)
	}
	ctx, cancel := context.WithTimeout(ctx, o.Start)
	defer cancel()
	// -I: neither the environment nor the current folder may add to it.
	out, err := exec.CommandContext(ctx, path, "-I", "-c", finder).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 3 {
		return installation{}, fmt.Errorf("sympy: %w: %s has no module sympy; install it with %s -m pip install sympy, or do without", ErrMissing, path, path)
	}
	var found installation
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	if err != nil {
		return installation{}, fmt.Errorf("sympy: %w: %s does not work: %w", ErrMissing, path, err)
	}
	return found, nil
}

// Version is the version of SymPy.
func (c *CAS) Version() string { return c.version }

// Sandbox says what confines the process.
func (c *CAS) Sandbox() string { return c.sandbox.Describe() }

// Equal reports whether two expressions, in the notation of package notation,
// are equal, and whether that is known. What that package does not read as an
// expression is never sent, and not known. The error is about the process or the
// time limit; a later question starts the process again.
func (c *CAS) Equal(ctx context.Context, a, b string) (equal, known bool, err error) {
	x, y := sendable(a), sendable(b)
	if x == nil || y == nil {
		return false, false, nil
	}
	select {
	case <-c.turn:
	case <-ctx.Done():
		return false, false, context.Cause(ctx)
	}
	defer func() { c.turn <- struct{}{} }()
	if c.closed {
		return false, false, errors.New("sympy: it is closed")
	}
	if c.process == nil {
		if err := c.start(ctx); err != nil {
			return false, false, err
		}
	}
	c.next++
	answer, err := c.process.ask(ctx, c.options.Timeout, question{c.next, x, y})
	if err != nil {
		return false, false, errors.Join(err, c.stop())
	}
	if answer.Equal == nil {
		return false, false, nil // not known, or SymPy failed at it
	}
	return *answer.Equal, true, nil
}

// The limits of an expression that is sent. SymPy works powers of numbers out at
// once, however large.
const (
	maxBytes = 1000 // of its text
	maxPower = 2000
)

// sendable returns the expression that a text is, or nil if it is none, or one
// that SymPy would take too long for.
func sendable(text string) *notation.Expr {
	if len(text) > maxBytes {
		return nil
	}
	v, ok := notation.Parse(text)
	if !ok || v.Kind != notation.Expression || v.Name != "" || isLarge(v.Expr) {
		return nil
	}
	return v.Expr
}

// isLarge reports whether there is a power or a factorial that may be large, or
// infinity, of which nothing is known.
func isLarge(e *notation.Expr) bool {
	large := false
	switch e.Op {
	case notation.Sym:
		large = e.Text == "oo"
	case notation.Pow:
		large = size(e.Args[1]) > maxPower
	case notation.Fact:
		large = size(e.Args[0]) > maxPower
	}
	for _, arg := range e.Args {
		large = large || isLarge(arg)
	}
	return large
}

// size is a bound for the numbers in an exponent, if they are put together.
func size(e *notation.Expr) float64 {
	switch e.Op {
	case notation.Num:
		n, d, _ := strings.Cut(strings.TrimPrefix(e.Text, "-"), "/")
		x, _ := strconv.ParseFloat(n, 64) // infinite if it is too large
		if y, err := strconv.ParseFloat(d, 64); err == nil {
			x *= y
		}
		return max(x, 1)
	case notation.Neg:
		return size(e.Args[0])
	case notation.Add:
		return size(e.Args[0]) + size(e.Args[1])
	case notation.Mul, notation.Div:
		return size(e.Args[0]) * size(e.Args[1])
	case notation.Pow, notation.Fact:
		return maxPower + 1
	}
	return 1
}

// Close ends the process and waits for it.
func (c *CAS) Close() error {
	<-c.turn
	defer func() { c.turn <- struct{}{} }()
	if c.closed {
		return nil
	}
	c.closed = true
	defer c.dir.Remove()
	return c.stop()
}

// start starts the process. The caller has the turn.
func (c *CAS) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.Start, fmt.Errorf("sympy: it did not start within %s", c.options.Start))
	defer cancel()
	p, err := launch(c.sandbox, []string{c.python.Executable, "-I", "-c", c.script}, filepath.Join(c.dir.Path, "questions"), c.options.Timeout)
	if err != nil {
		return err
	}
	answer, err := p.answer(ctx, 0)
	if err != nil {
		return errors.Join(err, p.stop())
	}
	c.process, c.version = p, answer.Version
	return nil
}

// stop ends the process, if there is one. The caller has the turn.
func (c *CAS) stop() error {
	if c.process == nil {
		return nil
	}
	err := c.process.stop()
	c.process = nil
	return err
}
