package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/model/sim"
)

// namesFiles marks flags that name files which agents must not change, and says how.
const namesFiles = "names-files"

// How flags name files.
const (
	byPath    = "path"
	asFlags   = "flags"   // a path, or the name of a preset of red flags
	inFolder  = "folder"  // a folder with templates
	inModels  = "models"  // scripts of simulated models
	toWriteTo = "written" // a path that this program writes to
)

// names marks a flag.
func names(f *pflag.FlagSet, flag, how string) {
	f.Lookup(flag).Annotations = map[string][]string{namesFiles: {how}}
}

// protected is what agents must not change, and of that what this program writes to.
type protected struct{ files, own []string }

// findProtected collects the configuration files and what settings name: those in
// force, and those that the environment and the files have for other commands.
func findProtected(cmd *cobra.Command, files []configFile) protected {
	p := protected{files: []string{configName}} // in the workspace
	for _, path := range configPaths() {
		p.add(byPath, path)
	}
	if path, _, err := trustedLines(); err == nil {
		p.add(byPath, path)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		for _, how := range f.Annotations[namesFiles] {
			p.add(how, f.Value.String())
		}
	})
	for _, c := range append(cmd.Root().Commands(), cmd.Root()) {
		for _, flags := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				for _, how := range f.Annotations[namesFiles] {
					p.add(how, os.Getenv(envName(f.Name)))
					for _, file := range files {
						for _, value := range file.values[f.Name].texts {
							p.add(how, value)
						}
					}
				}
			})
		}
	}
	return p
}

// add adds what a setting names. Its paths start in the current folder.
func (p *protected) add(how, value string) {
	if value == "" {
		return
	}
	path, err := filepath.Abs(value)
	if err != nil {
		return // there is no current folder, and nothing in it
	}
	switch how {
	case inModels:
		for _, name := range route.List(value) {
			bare := name[:max(0, strings.LastIndexByte(name, '@'))] // without a temperature
			for _, name := range []string{name, bare} {
				if s, err := sim.Parse(name); err == nil {
					p.add(byPath, s.Script)
				}
			}
		}
	case inFolder:
		for _, name := range prompts.Default().Names() {
			p.files = append(p.files, filepath.Join(path, name+prompts.Extension))
		}
	case toWriteTo:
		p.own = append(p.own, path)
	case asFlags:
		if presets[value] == nil {
			p.files = append(p.files, path)
		}
	default:
		p.files = append(p.files, path)
	}
}
