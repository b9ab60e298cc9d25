package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/engine/kind"
	"github.com/maker-mdap/maker/internal/orchestrator/script"
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
	if !utf8.ValidString(p.Script.Text) { // which JSON, and so the log, could not hold
		return nil, config.Errorf("script", "the script is not UTF-8")
	}
	for name, value := range p.Args {
		if !utf8.ValidString(name + value) {
			return nil, config.Errorf("args", "%q is not UTF-8", name)
		}
	}
	return e.launchParams(ctx, kind.Script, p)
}
