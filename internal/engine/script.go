package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/internal/orchestrator/script"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/internal/runtime/rehearsal"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
)

// LoadScript reads a script with the files that it loads.
func LoadScript(file string) (script.Source, error) {
	read := func(name string) (string, error) {
		data, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		if !utf8.Valid(data) {
			return "", fmt.Errorf("%s is not UTF-8", name)
		}
		return string(data), nil
	}
	text, err := read(file)
	if err != nil {
		return script.Source{}, err
	}
	return script.Load(filepath.Base(file), text, func(name string) (string, error) {
		return read(filepath.Join(filepath.Dir(file), filepath.FromSlash(name)))
	})
}

// CheckScript finds what is wrong with a script without running it.
func CheckScript(p kind.ScriptParams) error {
	program, err := script.Compile(p.Script)
	if err != nil {
		return err
	}
	if err := program.CheckArgs(p.Args); err != nil {
		return &config.Error{Field: "arg", Err: err}
	}
	return nil
}

// Script starts to run a script.
func (e *Engine) Script(ctx context.Context, p kind.ScriptParams) (*Run, error) {
	if err := checkText(p.Script); err != nil {
		return nil, err
	}
	for name, value := range p.Args {
		if !utf8.ValidString(name + value) {
			return nil, config.Errorf("args", "%q is not UTF-8", name)
		}
	}
	return e.launchParams(ctx, kind.Script, p.Hashed())
}

// checkText refuses a script that JSON, and so the log, could not hold.
func checkText(s script.Source) error {
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		if !utf8.ValidString(name + s.Files[name]) {
			return config.Errorf("script", "%q is not UTF-8", name)
		}
	}
	if !utf8.ValidString(s.Name + s.Text) {
		return config.Errorf("script", "the script is not UTF-8")
	}
	return nil
}

// edit has a run go on with another script, if it is one. It returns the parameters of the run,
// if they are others now.
func edit(past *history.History, s *script.Source) (json.RawMessage, error) {
	if s == nil {
		return nil, nil
	}
	p, err := edited(past, *s)
	if err != nil || p == nil {
		return nil, err
	}
	params, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("maker: parameters of the run: %w", err)
	}
	past.Edit(params)
	return params, nil
}

// edited are the parameters of a run with another script; nil if it is the one that the run has.
func edited(past *history.History, s script.Source) (*kind.ScriptParams, error) {
	if past.Submitted.Kind != kind.Script {
		return nil, config.Errorf("script", "the run is not one of a script, but of maker %s", past.Submitted.Kind)
	}
	if err := checkText(s); err != nil {
		return nil, err
	}
	p, err := kind.ReadScriptParams(past.Params)
	if err != nil {
		return nil, err
	}
	if p.Script.Text == s.Text && maps.Equal(p.Script.Files, s.Files) {
		return nil, nil
	}
	p.Script = s
	p = p.Hashed()
	return &p, nil
}

// What an edited script makes of what is recorded.
type (
	Rehearsal      = rehearsal.Report
	RehearsedCall  = rehearsal.Call
	RehearsedMade  = rehearsal.Made
	RehearsedChain = rehearsal.Chain
)

// Rehearse tells what a resume with a script makes of what the log has. It asks nobody, and
// writes nothing.
func (e *Engine) Rehearse(run string, o ResumeOptions) (*Rehearsal, error) {
	dir, err := e.find(run)
	if err != nil {
		return nil, err
	}
	lock := filepath.Join(dir, runlog.LockFile)
	if holder, held := runlog.HolderOf(lock); held {
		return nil, &runlog.LockedError{Path: lock, Holder: holder}
	}
	past, err := history.Read(dir, o.SetAside)
	if err != nil {
		return nil, err
	}
	if o.Script == nil {
		return &Rehearsal{}, nil
	}
	now, err := edited(past, *o.Script)
	if err != nil {
		return nil, err
	}
	if now == nil {
		return &Rehearsal{}, nil
	}
	if _, done := past.End.(event.TaskCompleted); done {
		return nil, ErrFinished
	}
	was, err := kind.ReadScriptParams(past.Params)
	if err != nil {
		return nil, err
	}
	cfg, err := o.config(past, kind.Of(kind.Script))
	if err != nil {
		return nil, err
	}
	rehearse := func(p kind.ScriptParams) func(*rehearsal.Trace) error {
		return func(t *rehearsal.Trace) error { return p.Rehearse(cfg, t.Flow(), t) }
	}
	return rehearsal.Of(past, rehearse(was), rehearse(*now))
}
