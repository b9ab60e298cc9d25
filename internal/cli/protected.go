package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/cli/redflags"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/model/sim"
)

// protected is what agents must not change, and of that what this program writes to.
type protected struct{ files, own []string }

// findProtected collects the configuration files and what settings name: those in
// force, and those that the environment and the files have for other commands.
func findProtected(flags *pflag.FlagSet, files []configFile) protected {
	p := protected{files: []string{configName}} // in the workspace
	for _, path := range configPaths() {
		p.add(config.ByPath, path)
	}
	if path, _, err := trustedLines(); err == nil {
		p.add(config.ByPath, path)
	}
	for _, d := range config.Settings() {
		if d.Names == config.Nothing {
			continue
		}
		if f := flags.Lookup(d.Flag()); f != nil {
			p.add(d.Names, f.Value.String())
		}
		p.add(d.Names, os.Getenv(d.Variable()))
		for _, file := range files {
			for _, value := range file.values[d.Name].texts {
				p.add(d.Names, value)
			}
		}
	}
	return p
}

// add adds what a setting names. Its paths start in the current folder.
func (p *protected) add(how config.Naming, value string) {
	if value == "" {
		return
	}
	path, err := filepath.Abs(value)
	if err != nil {
		return // there is no current folder, and nothing in it
	}
	switch how {
	case config.InModels:
		for _, name := range route.List(value) {
			bare := name[:max(0, strings.LastIndexByte(name, '@'))] // without a temperature
			for _, name := range []string{name, bare} {
				if s, err := sim.Parse(name); err == nil {
					p.add(config.ByPath, s.Script)
				}
			}
		}
	case config.InFolder:
		for _, name := range prompts.Default().Names() {
			p.files = append(p.files, filepath.Join(path, name+prompts.Extension))
		}
	case config.ToWriteTo:
		p.own = append(p.own, path)
	case config.AsFlags:
		if redflags.Presets[value] == nil {
			p.files = append(p.files, path)
		}
	default:
		p.files = append(p.files, path)
	}
}
