package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/prompts"
)

func (a *app) prompts() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "prompts [NAME]",
		Short: "Show the prompts, and what you have changed in them",
		Long: `prompts lists every prompt that is sent to a model, with the hash that logs have.
With NAME it prints that template. With --prompts-dir it says which ones a folder
replaces; diff shows the changes line by line.

To change a prompt, write its template to NAME.tmpl in a folder and give that folder
to a run with --prompts-dir.`,
		Example: `  maker prompts
  maker prompts planner_system > my/planner_system.tmpl
  maker prompts diff --prompts-dir my`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("%s takes one NAME at most", cmd.CommandPath())}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := openPrompts(dir)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.listPrompts(set)
			}
			text, ok := set.Text(args[0])
			if !ok {
				return usageError{fmt.Errorf("no prompt is called %q; there are %s", args[0], strings.Join(set.Names(), ", "))}
			}
			_, err = fmt.Fprint(a.Out, text)
			return err
		},
	}
	diff := &cobra.Command{
		Use:   "diff",
		Short: "Show how the prompts of a folder differ from the built-in ones",
		Long:  "diff prints, for each prompt that --prompts-dir replaces, the lines that were taken out (-) and put in (+).",
		Args:  exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			if dir == "" {
				return usageError{errors.New("maker prompts diff needs --prompts-dir, the folder to compare with")}
			}
			set, err := openPrompts(dir)
			if err != nil {
				return err
			}
			builtin := prompts.Default()
			for _, name := range set.Names() {
				if !set.Replaced(name) {
					continue
				}
				was, _ := builtin.Text(name)
				is, _ := set.Text(name)
				fmt.Fprintf(a.Out, "--- %s (built in)\n+++ %s\n%s", name, filepath.Join(dir, name+prompts.Extension), lineDiff(was, is))
			}
			return nil
		},
	}
	cmd.PersistentFlags().StringVar(&dir, "prompts-dir", "", "folder with templates that replace built-in ones")
	cmd.AddCommand(diff)
	return cmd
}

func (a *app) listPrompts(set *prompts.Set) error {
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	if !a.json {
		fmt.Fprintln(w, "PROMPT\tHASH\tREPLACED")
	}
	for _, name := range set.Names() {
		if a.json {
			text, _ := set.Text(name)
			line := struct {
				Name     string `json:"name"`
				Hash     string `json:"hash"`
				Replaced bool   `json:"replaced"`
				Text     string `json:"text"`
			}{name, set.Hash(name), set.Replaced(name), text}
			if err := a.printJSON(line); err != nil {
				return err
			}
			continue
		}
		replaced := ""
		if set.Replaced(name) {
			replaced = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, set.Hash(name), replaced)
	}
	return w.Flush()
}

func openPrompts(dir string) (*prompts.Set, error) {
	replace, err := readPrompts(dir)
	if err != nil {
		return nil, err
	}
	set, err := prompts.New(replace)
	if err != nil {
		return nil, &maker.ConfigError{Field: "prompts_dir", Err: err}
	}
	return set, nil
}

// readPrompts reads the templates of a folder, by name.
func readPrompts(dir string) (map[string]string, error) {
	if dir == "" {
		return nil, nil
	}
	bad := func(err error) error { return &maker.ConfigError{Field: "prompts_dir", Err: err} }
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, bad(err)
	}
	replace := map[string]string{}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), prompts.Extension)
		if !ok || e.IsDir() {
			continue
		}
		file := filepath.Join(dir, e.Name())
		text, err := readTemplate(file)
		if err == nil {
			_, err = prompts.New(map[string]string{name: text})
		}
		if err != nil {
			return nil, bad(fmt.Errorf("%s: %w", file, err))
		}
		replace[name] = text
	}
	if len(replace) == 0 {
		return nil, bad(fmt.Errorf("%s holds no NAME%s", dir, prompts.Extension))
	}
	return replace, nil
}

func readTemplate(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := readAll(f, file)
	switch {
	case err != nil:
		return "", err
	case !utf8.ValidString(text):
		return "", errors.New("it is no text in UTF-8")
	case strings.TrimSpace(text) == "":
		return "", errors.New("it is empty")
	}
	return text, nil
}

// lineDiff lists the lines that two texts do not share, in order, found by their
// longest common subsequence. Prompts are short.
func lineDiff(was, is string) string {
	a, b := strings.Split(strings.TrimRight(was, "\n"), "\n"), strings.Split(strings.TrimRight(is, "\n"), "\n")
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out strings.Builder
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			fmt.Fprintf(&out, "-%s\n", a[i])
			i++
		default:
			fmt.Fprintf(&out, "+%s\n", b[j])
			j++
		}
	}
	return out.String()
}
