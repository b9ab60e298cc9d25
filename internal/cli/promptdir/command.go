package promptdir

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/text/nearest"
)

// An App is what the command needs of the program.
type App struct {
	Out       io.Writer
	JSON      func() bool // whether to print JSON
	PrintJSON func(v any) error
	Usage     func(error) error // makes an error one about usage
}

// Command is the command that shows the prompts.
func Command(a App) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "prompts [NAME]",
		Short: "Show the prompts, and what you have changed in them",
		Long: `prompts lists every prompt that is sent to a model, with the hash that logs have.
With NAME it prints that template. With --prompts-dir it says which ones a folder
replaces; the built-in framings of such a prompt (NAME_2 and so on) are not used.

To change a prompt, write its template to NAME.tmpl in a folder and give that folder
to a run with --prompts-dir.`,
		Example: `  maker prompts
  maker prompts planner_system > my/planner_system.tmpl
  maker prompts --prompts-dir my`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return a.Usage(fmt.Errorf("%s takes one NAME at most", cmd.CommandPath()))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := open(dir)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.list(set)
			}
			text, ok := set.Text(args[0])
			if !ok {
				return a.Usage(fmt.Errorf("no prompt is called %q; %s", args[0], nearest.Among(args[0], set.Names())))
			}
			_, err = fmt.Fprint(a.Out, text)
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "prompts-dir", "", config.Find("prompts_dir").Help)
	return cmd
}

func (a App) list(set *prompts.Set) error {
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	if !a.JSON() {
		fmt.Fprintln(w, "PROMPT\tHASH\tREPLACED")
	}
	for _, name := range set.Names() {
		if a.JSON() {
			text, _ := set.Text(name)
			line := struct {
				Name     string `json:"name"`
				Hash     string `json:"hash"`
				Replaced bool   `json:"replaced"`
				Unused   bool   `json:"unused,omitempty"` // the prompt that it is a framing of is replaced
				Text     string `json:"text"`
			}{name, set.Hash(name), set.Replaced(name), set.Unused(name), text}
			if err := a.PrintJSON(line); err != nil {
				return err
			}
			continue
		}
		replaced := ""
		if set.Replaced(name) {
			replaced = "yes"
		} else if set.Unused(name) {
			replaced = "not used"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, set.Hash(name), replaced)
	}
	return w.Flush()
}

func open(dir string) (*prompts.Set, error) {
	replace, err := Read(dir)
	if err != nil {
		return nil, err
	}
	set, err := prompts.New(replace)
	if err != nil {
		return nil, &config.Error{Field: "prompts_dir", Err: err}
	}
	return set, nil
}
