package sim

import (
	"embed"
	"fmt"
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
	entries, err := scriptFiles.ReadDir("scripts")
	for i := 0; i < len(entries) && err == nil; i++ {
		name := "scripts/" + entries[i].Name()
		var data []byte
		if data, err = scriptFiles.ReadFile(name); err != nil {
			break
		}
		var s *script
		if s, err = parseScript(data); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
			break
		}
		all.rules = append(all.rules, s.rules...)
	}
	if err != nil {
		panic(err) // a test would have seen it
	}
	return all
})
