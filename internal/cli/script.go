package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/cli/scripting"
)

func (a *app) script() *cobra.Command {
	var flags settings
	var args []string
	var check bool
	cmd := &cobra.Command{
		Use:   "script FILE.star",
		Short: "Run a procedure of your own, written as a small script",
		Long: `script runs a file in Starlark, a small language like Python. Its function main asks
voted questions (ask, map, chain), has agents work (act), calls tools once (call), asks
you (human) and looks at files (rows, read); what it returns is printed. It can be
stopped at any moment and resumed where it stood.

--arg NAME=VALUE is args.NAME in the script. --check finds unknown names and wrong
calls without running anything. docs/scripts.md leads from one question to a script.`,
		Example: `  maker script triage.star --arg file=tickets.csv
  maker script triage.star --check`,
		Args: exactArgs("FILE.star"),
		RunE: func(cmd *cobra.Command, files []string) error {
			s, err := maker.LoadScript(files[0])
			if err == nil {
				s.Args, err = scripting.Args(args)
			}
			if err == nil {
				err = s.Check()
			}
			if err != nil {
				return usageError{err}
			}
			if check {
				fmt.Fprintf(a.Err, "%s: no problems found\n", files[0])
				return nil
			}
			return a.start(cmd.Context(), &flags, func(e *maker.Engine) (*maker.Run, error) { return e.Script(cmd.Context(), s) })
		},
	}
	cmd.Flags().StringArrayVar(&args, "arg", nil, "NAME=VALUE: args.NAME in the script; repeatable")
	cmd.Flags().BoolVar(&check, "check", false, "find what is wrong with the script, and run nothing")
	flags.register(cmd, config.Scripting, nil)
	return cmd
}
