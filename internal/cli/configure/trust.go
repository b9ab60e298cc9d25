package configure

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker/internal/cli/settingsfile"
)

// Trust is the command that trusts a configuration file, or no longer.
func Trust(a App) *cobra.Command {
	var yes, revoke bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Trust the maker.yaml of this folder as it is",
		Long: `trust lets the maker.yaml of this folder take effect where it could run programs,
let calls pass, move what is confined or send data elsewhere:
` + settingsfile.ThatNeedTrust() + `.
It shows the file and what it names, and asks. What is trusted is this content in this
place: after any change it has to be trusted again. Your own maker.yaml, in your
configuration folder, needs no trust.`,
		Example: `  maker trust
  maker trust --revoke`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, err := settingsfile.Read(settingsfile.Name)
			if errors.Is(err, fs.ErrNotExist) {
				return a.Usage(fmt.Errorf("there is no %s in this folder", settingsfile.Name))
			}
			if err != nil {
				return a.Usage(err)
			}
			return a.decideTrust(cmd, file, yes, revoke)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "trust it no longer")
	return cmd
}

func (a App) decideTrust(cmd *cobra.Command, file settingsfile.File, yes, revoke bool) error {
	err := file.CheckTrust()
	untrusted, unknown := errors.AsType[*settingsfile.UntrustedError](err)
	switch {
	case revoke:
		if err := file.SetTrust(false); err != nil {
			return err
		}
		fmt.Fprintf(a.Out, "%s is not trusted any more\n", file.Path)
		return nil
	case err == nil && len(file.Risks()) == 0:
		fmt.Fprintf(a.Out, "%s needs no trust: it sets nothing that could run or open anything\n", file.Path)
		return nil
	case err == nil:
		fmt.Fprintf(a.Out, "%s is trusted as it is\n", file.Path)
		return nil
	case !unknown:
		return err
	}
	file.Show(a.Out)
	fmt.Fprintf(a.Out, "%s sets %s\n", file.Path, strings.Join(untrusted.Risks, ", "))
	if !yes {
		if !a.Attended() {
			return a.Usage(errors.New("nobody is there to say so; look at the file, and then run `maker trust --yes`"))
		}
		answer, err := a.Confirm(cmd.Context(), fmt.Sprintf("Trust %s as it is?", file.Path))
		if err != nil {
			return err
		}
		if !answer {
			return a.Usage(fmt.Errorf("%s is not trusted", file.Path))
		}
	}
	if err := file.SetTrust(true); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s is trusted as it is, until it changes\n", file.Path)
	return nil
}
