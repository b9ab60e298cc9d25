// Package sympy asks SymPy, a computer algebra system written in Python, whether
// two expressions are equal.
//
// SymPy is not part of the project and need not be there: [New] says what is
// missing. It is started for each question, which takes half a second: little beside
// the answers of models that it is asked about.
//
// # Safety
//
// SymPy's own parser runs what it reads as a program, so it is not used. Only what
// package notation reads is asked about, and it is sent as a tree of known
// operations, from which the other side builds the expression. The process is
// confined by package sandbox besides: it sees Python and nothing of the user,
// changes nothing, has no network, and neither it nor anything that it starts
// outlives the question, which has a time limit.
//
// # Meaning
//
// Variables are real numbers and i is the imaginary unit. Unlike in package math,
// an expression may be complex on the way and in the end.
package sympy

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/maker-mdap/maker/domain/math/notation"
	"github.com/maker-mdap/maker/internal/process/sandbox"
	"github.com/maker-mdap/maker/internal/process/scratch"
	"github.com/maker-mdap/maker/internal/process/supervise"
	"github.com/maker-mdap/maker/internal/text/clip"
)

//go:embed server.py
var server string

// ErrMissing is the error of a machine without Python or SymPy.
var ErrMissing = errors.New("SymPy is not there")

// Options tune a CAS. The zero value of a field means its default.
type Options struct {
	Python  string        // the interpreter; default python3
	Timeout time.Duration // of one question, once it has started; default 5 seconds
	Start   time.Duration // how long starting may take; default 30 seconds
	Sandbox sandbox.Mode  // default auto
}

// The defaults.
const (
	DefaultTimeout = 5 * time.Second
	DefaultStart   = 30 * time.Second
)

// A CAS answers questions with SymPy. It is safe for concurrent use.
type CAS struct {
	options Options
	python  installation
	sandbox *sandbox.Sandbox
	dir     *scratch.Dir
	script  string // what the process runs; only tests have another
}

// New finds SymPy and tries it. The error wraps [ErrMissing] if Python or SymPy is
// not installed.
func New(ctx context.Context, o *Options) (*CAS, error) {
	c := &CAS{script: server}
	if o != nil {
		c.options = *o
	}
	c.options.Python = cmp.Or(c.options.Python, "python3")
	c.options.Timeout = cmp.Or(c.options.Timeout, DefaultTimeout)
	c.options.Start = cmp.Or(c.options.Start, DefaultStart)
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
		_, err = c.ask(ctx, nil)
	}
	if err != nil {
		c.dir.Remove()
		return nil, err
	}
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

// Sandbox says what confines the process.
func (c *CAS) Sandbox() string { return c.sandbox.Describe() }

// Equal reports whether two expressions, in the notation of package notation,
// are equal, and whether that is known. What that package does not read as an
// expression is never sent, and not known. The error is about the process or the
// time limit.
func (c *CAS) Equal(ctx context.Context, a, b string) (equal, known bool, err error) {
	x, y := sendable(a), sendable(b)
	if x == nil || y == nil {
		return false, false, nil
	}
	answers, err := c.ask(ctx, []question{{x, y}})
	if err != nil || len(answers) != 1 || answers[0] == nil {
		return false, false, err // not known, or SymPy failed at it
	}
	return *answers[0], true, nil
}

// A question is whether two expressions are equal.
type question [2]*notation.Expr

// ask runs SymPy with some questions. An answer is nil if it is not known.
func (c *CAS) ask(ctx context.Context, questions []question) (answers []*bool, err error) {
	// A command in the sandbox has no input, so they come in a file.
	file, err := os.CreateTemp(c.dir.Path, "questions")
	if err != nil {
		return nil, fmt.Errorf("sympy: %w", err)
	}
	defer os.Remove(file.Name())
	if questions == nil {
		questions = []question{}
	}
	if err := errors.Join(json.NewEncoder(file).Encode(questions), file.Close()); err != nil {
		return nil, fmt.Errorf("sympy: %w", err)
	}
	limit := c.options.Start + c.options.Timeout*time.Duration(len(questions))
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("sympy: no answer within %s", limit))
	defer cancel()
	seconds := fmt.Sprintf("%.3f", c.options.Timeout.Seconds())
	output := supervise.NewTail(maxOutput)
	outcome, err := c.sandbox.Run(ctx, sandbox.Command{Args: []string{c.python.Executable, "-I", "-c", c.script, file.Name(), seconds}, Output: output})
	if err != nil {
		return nil, err
	}
	said := output.String()
	last := said[strings.LastIndexByte(said, '\n')+1:]
	switch err := json.Unmarshal([]byte(last), &answers); {
	case outcome.Limit != "":
		return nil, fmt.Errorf("sympy: the limit of %s ended it", outcome.Limit)
	case outcome.ExitCode != 0 || err != nil:
		return nil, fmt.Errorf("sympy: it failed with exit code %d: %s", outcome.ExitCode, clip.Short(last))
	}
	return answers, nil
}

// maxOutput is how much of the output is kept, from its end.
const maxOutput = 64 << 10

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
	large := e.Op == notation.Sym && e.Text == notation.Infinity
	if e.Op == notation.Pow || e.Op == notation.Fact {
		exponent := e.Args[len(e.Args)-1]
		exponent.Walk(func(part *notation.Expr) {
			large = large || part.Op == notation.Pow || part.Op == notation.Fact || part.Value != nil && !isSmall(part.Value)
		})
		if len(notation.Variables(exponent)) == 0 {
			r := exponent.Literal()
			large = large || r == nil || !isSmall(r)
		}
	}
	return large || slices.ContainsFunc(e.Args, isLarge)
}

func isSmall(r *big.Rat) bool {
	most := big.NewInt(maxPower)
	return r.Num().CmpAbs(most) <= 0 && r.Denom().Cmp(most) <= 0
}

// Close removes what the questions needed.
func (c *CAS) Close() error {
	c.dir.Remove()
	return nil
}
