package settingsfile

import (
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/cli/redflags"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/server/access"
)

// Protected is what agents must not change, and of that what this program writes to.
type Protected struct{ Files, Own []string }

// FindProtected collects the configuration files and what settings name: those in
// force, and those that the environment and the files have for other commands.
func FindProtected(flags *pflag.FlagSet, files []File) Protected {
	p := Protected{Files: []string{Name}} // in the workspace
	for _, path := range Paths() {
		p.add(config.ByPath, path)
	}
	if path, _, err := trustedLines(); err == nil {
		p.add(config.ByPath, path)
	}
	if path, err := access.DefaultPath(); err == nil {
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
			for _, value := range file.Values[d.Name].Texts {
				p.add(d.Names, value)
			}
		}
	}
	return p
}

// add adds what a setting names. Its paths start in the current folder.
func (p *Protected) add(how config.Naming, value string) {
	if value == "" {
		return
	}
	path, err := filepath.Abs(value)
	if err != nil {
		return // there is no current folder, and nothing in it
	}
	switch how {
	case config.InModels:
		for _, script := range route.Scripts(value) {
			p.add(config.ByPath, script)
		}
	case config.InFolder:
		for _, name := range prompts.Default().Names() {
			p.Files = append(p.Files, filepath.Join(path, name+prompts.Extension))
		}
	case config.ToWriteTo:
		p.Own = append(p.Own, path)
	case config.AsFlags:
		if redflags.Presets[value] == nil {
			p.Files = append(p.Files, path)
		}
	default:
		p.Files = append(p.Files, path)
	}
}
