package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker/internal/cli/demo"
	"github.com/maker-mdap/maker/internal/cli/tty"
)

func (a *app) demo() *cobra.Command {
	fast := false
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show in two minutes what this is, without a key",
		Long: `demo runs this program on the built-in simulator, in a folder of its own that is
removed at the end: a wrong vote that is outvoted, a run that is killed and goes on,
an effect that is approved and done once, and a certificate. It needs no key and no
network. Ctrl-C ends it.`,
		Args:        exactArgs(),
		Annotations: map[string]string{ownSettings: "none", anySettings: "none"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := thisProgram()
			if err != nil {
				return fmt.Errorf("cannot find this program: %w", err)
			}
			o := demo.Options{Program: program, Out: a.Out, Err: a.Err, Pause: 1500 * time.Millisecond}
			if out, ok := a.Out.(*output); ok {
				o.Out = out.w // the terminal itself, if it is one: a program that runs on it looks
			}
			if f, ok := a.Err.(*os.File); ok && tty.IsTerminal(f) {
				o.Erase = "\r\x1b[J"
				o.Width, _ = sizeOf(f)
			}
			if fast {
				o.Pause = 0
			}
			return demo.Run(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&fast, "fast", false, "without the pauses for reading")
	return cmd
}

// thisProgram is the path of the program that is running, as it was called if that is known:
// a program can go by several names.
func thisProgram() (string, error) {
	if called, err := exec.LookPath(os.Args[0]); err == nil {
		return filepath.Abs(called)
	}
	return os.Executable()
}
