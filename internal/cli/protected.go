package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/model/sim"
)

// protected is what agents must not change: files, and what this program writes to.
type protected struct{ files, own []string }

// findProtected collects the configuration files and what settings name: those in
// force, and those that the environment and the files have for other commands.
func findProtected(cmd *cobra.Command, files []configFile) protected {
	p := protected{files: []string{configName}} // in the workspace
	p.addFiles(configPaths()...)
	if path, _, err := trustedLines(); err == nil {
		p.addFiles(path)
	}
	for _, d := range config.Settings() {
		if f := cmd.Flags().Lookup(d.Flag()); f != nil {
			p.add(d, f.Value.String())
		}
		for _, name := range append([]string{d.Name}, d.Aliases...) {
			p.add(d, os.Getenv(config.VariablePrefix+strings.ToUpper(name)))
		}
		for _, file := range files {
			for _, text := range file.values[d.Name].texts {
				p.add(d, text)
			}
		}
	}
	return p
}

// add adds what a setting names.
func (p *protected) add(d *config.Setting, value string) {
	switch {
	case value == "":
	case d.Group == config.Find("model").Group:
		for _, name := range route.List(value) {
			bare := name[:max(0, strings.LastIndexByte(name, '@'))] // without a temperature
			for _, name := range []string{name, bare} {
				if s, err := sim.Parse(name); err == nil && s.Script != "" {
					p.addFiles(s.Script)
				}
			}
		}
	case !d.Names, d.Name == "red_flags" && presets[value] != nil:
	case d.Name == "log_dir", d.Name == "record":
		p.own = append(p.own, absolute(value))
	case d.Name == "prompts_dir":
		for _, name := range prompts.Default().Names() {
			p.addFiles(filepath.Join(value, name+prompts.Extension))
		}
	default:
		p.addFiles(value)
	}
}

func (p *protected) addFiles(paths ...string) {
	for _, path := range paths {
		p.files = append(p.files, absolute(path))
	}
}

// absolute is a path that starts in the current folder. Without one there is nothing
// in it.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
