package sim

import (
	"embed"
	"fmt"
	"io/fs"
	"sync"
)

// The scripts that ship with the simulator are for the examples in README.md and docs,
// so that these run as they are printed; a test of cmd/maker holds them to that. They
// match our own prompts, and what no longer matches fails there.
//
//go:embed scripts/*.yaml
var scriptFiles embed.FS

// shipped is all of them together, in the order of their names.
var shipped = sync.OnceValue(func() *script {
	all := new(script)
	err := fs.WalkDir(scriptFiles, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := scriptFiles.ReadFile(name)
		if err != nil {
			return err
		}
		s, err := parseScript(data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all.rules = append(all.rules, s.rules...)
		return nil
	})
	if err != nil {
		panic(err) // a test would have seen it
	}
	return all
})
