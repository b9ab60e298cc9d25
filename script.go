package maker

import (
	"context"

	"github.com/maker-mdap/maker/internal/engine"
	"github.com/maker-mdap/maker/internal/engine/kind"
)

// A Script is a procedure in Starlark, a small language like Python that is deterministic and
// has no way to the world but what MAKER gives it: docs/scripts.md. It begins with the
// function main, and what that returns is the output of the run.
type Script struct {
	Name  string // of its file, for people
	Text  string
	Files map[string]string // that it loads, by the names that it loads them by
	Args  map[string]string // what main finds in args
}

// LoadScript reads a script and the files beside it that it loads.
func LoadScript(file string) (Script, error) {
	s, err := engine.LoadScript(file)
	return Script{Name: s.Name, Text: s.Text, Files: s.Files}, err
}

func (s Script) params() kind.ScriptParams {
	p := kind.ScriptParams{Args: s.Args}
	p.Script.Name, p.Script.Text, p.Script.Files = s.Name, s.Text, s.Files
	return p
}

// Check finds what is wrong with a script without running it: syntax, unknown names, and
// calls that cannot succeed.
func (s Script) Check() error { return engine.CheckScript(s.params()) }

// Script starts to run a script. It returns at once, and the run ends with ctx.
func (e *Engine) Script(ctx context.Context, s Script) (*Run, error) {
	return begun(e.engine.Script(ctx, s.params()))
}

// A Rehearsal says what of the log of a run an edited script uses again, and what it comes to
// first that is not there.
type Rehearsal = engine.Rehearsal

// What a [Rehearsal] lists: calls of built-in functions by their places, calls of tools that were
// made, and chains of which turns are committed.
type (
	RehearsedCall  = engine.RehearsedCall
	RehearsedMade  = engine.RehearsedMade
	RehearsedChain = engine.RehearsedChain
)

// Rehearse tells what a run makes of what is recorded if it is resumed with an edited script:
// [ResumeOptions].Script. It asks nobody, does nothing and writes nothing. For a run that is
// completed another script is [ErrFinished].
func (e *Engine) Rehearse(run string, opts *ResumeOptions) (*Rehearsal, error) {
	return e.engine.Rehearse(run, opts.options())
}
