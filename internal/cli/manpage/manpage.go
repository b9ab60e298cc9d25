// Package manpage writes the help of all commands as pages for man(1).
package manpage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Command is the command that writes the pages. Version is that of the program.
func Command(version string, usage func(error) error) *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write pages for man into a folder",
		Long: `man writes a page for man(1) about each command into a folder, which it makes if it is
not there. Look at one with man ./maker.1, or put them where man looks.`,
		Example: `  maker man ~/.local/share/man/man1
  man maker-hanoi`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := Write(args[0], cmd.Root(), version); err != nil {
				return usage(err)
			}
			return nil
		},
	}
}

// Write writes a page for each command that people use into a folder.
func Write(dir string, root *cobra.Command, version string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for all := []*cobra.Command{root}; len(all) > 0; all = all[1:] {
		cmd := all[0]
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				all = append(all, c)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name(cmd)+".1"), Page(cmd, version), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// name is what a page is called: maker-tools-call.
func name(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// Page is the page of a command.
func Page(cmd *cobra.Command, version string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s %s\n", quoted(strings.ToUpper(name(cmd))), quoted("maker "+version), quoted("User Commands"))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(name(cmd)), escape(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", escape(cmd.UseLine()))
	long := cmd.Long
	if long == "" {
		long = cmd.Short
	}
	b.WriteString(".SH DESCRIPTION\n")
	paragraphs(&b, long)
	flags(&b, "OPTIONS", cmd.NonInheritedFlags())
	flags(&b, "OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s.fi\n", lines(cmd.Example))
	}
	related(&b, cmd)
	return b.Bytes()
}

// paragraphs writes a text. What is indented stays as it is.
func paragraphs(b *bytes.Buffer, text string) {
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(part, "  ") {
			fmt.Fprintf(b, ".PP\n.nf\n%s.fi\n", lines(part))
		} else {
			fmt.Fprintf(b, ".PP\n%s", lines(part))
		}
	}
}

func flags(b *bytes.Buffer, title string, set *pflag.FlagSet) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if title != "" {
			fmt.Fprintf(b, ".SH %s\n", title)
			title = ""
		}
		flag := "--" + f.Name
		if f.Shorthand != "" {
			flag = "-" + f.Shorthand + ", " + flag
		}
		kind, help := pflag.UnquoteUsage(f)
		if kind != "" {
			flag += " " + kind
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" {
			help += " (default: " + f.DefValue + ")"
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s", escape(flag), lines(help))
	})
}

func related(b *bytes.Buffer, cmd *cobra.Command) {
	var names []string
	if cmd.HasParent() {
		names = append(names, name(cmd.Parent()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, name(c))
		}
	}
	if len(names) == 0 {
		return
	}
	for i, n := range names {
		names[i] = fmt.Sprintf("\\fB%s\\fR(1)", escape(n))
	}
	fmt.Fprintf(b, ".SH SEE ALSO\n%s\n", strings.Join(names, ", "))
}

// lines are those of a text, none of which is a command of the formatter.
func lines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		line = escape(strings.TrimRight(line, "\n"))
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			line = `\&` + line
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

var special = strings.NewReplacer(`\`, `\e`, `-`, `\-`)

func escape(text string) string { return special.Replace(text) }

// quoted is an argument of a command of the formatter.
func quoted(text string) string { return `"` + strings.ReplaceAll(escape(text), `"`, `""`) + `"` }
