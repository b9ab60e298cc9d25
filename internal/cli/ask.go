package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/cli/readas"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/tool/builtin"
)

func (a *app) askOne() *cobra.Command {
	var flags settings
	var files []string
	var answer readas.Flags
	cmd := &cobra.Command{
		Use:   "ask QUESTION",
		Short: "Ask one question and print the answer that wins the vote",
		Long: `ask puts one question to several voters and prints the answer that leads by
--ahead-by votes, alone, on stdout. How answers are read and compared is up to you:
one of a list, a number, a date, JSON, ...; without a flag it is a text, and texts
agree only if they say the same in the same words. An answer that cannot be read is
discarded and asked for again.

QUESTION may be - to read it from stdin. Files are shown with it: texts, and images
(PNG, JPEG, GIF, WebP); -f - is stdin. Without a winner the exit code is 3, and
stderr says who voted for what. docs/ask.md has more.`,
		Example: `  maker ask "Is this a bug report?" -f mail.txt --one-of yes,no
  maker ask "How much do we owe?" -f invoice.png --number --unit EUR --within 0.01
  git diff | maker ask "Which files does this touch?" -f - --list --unordered
  maker ask "When is it due?" -f letter.txt --date --json
  maker ask "Extract the order." -f mail.txt --schema order.json --ignore remark -k 5`,
		Args: exactArgs("QUESTION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			as, err := answer.Reader(a.fileArg)
			if err != nil {
				return usageError{err}
			}
			question, shown, err := a.questionArgs(args[0], files)
			if err != nil {
				return err
			}
			return a.start(cmd.Context(), &flags, func(e *maker.Engine) (*maker.Run, error) {
				return e.Ask(cmd.Context(), question, as, shown...)
			})
		},
	}
	cmd.Flags().StringArrayVarP(&files, "file", "f", nil, "text or image to show with the question, - for stdin; repeatable")
	answer.Register(cmd.Flags())
	flags.register(cmd, config.Asking, nil)
	return cmd
}

// maxContext bounds all that is shown with a question.
const maxContext = 20 << 20

// questionArgs are the question and what is shown with it.
func (a *app) questionArgs(arg string, files []string) (string, []maker.AskOption, error) {
	stdin := arg == "-"
	var question string
	var err error
	if question, err = a.textArg(arg); err != nil {
		if strings.TrimSpace(arg) == "" {
			err = usageError{errors.New("the question is empty")}
		}
		return "", nil, err
	}
	if !utf8.ValidString(question) {
		return "", nil, usageError{errors.New("the question is not UTF-8")}
	}
	var shown []maker.AskOption
	total := 0
	for _, name := range files {
		if name == "-" {
			if stdin {
				return "", nil, usageError{errors.New("stdin can be read once: as the question, or as one file")}
			}
			stdin = true
		}
		content, err := a.contextArg(name)
		if err != nil {
			return "", nil, err
		}
		if total += len(content.Text) + len(content.Data); total > maxContext {
			return "", nil, usageError{fmt.Errorf("-f: the files have more than %d bytes in all", maxContext)}
		}
		if content.Data != nil {
			shown = append(shown, maker.WithImage(name, content.MediaType, content.Data))
		} else {
			shown = append(shown, maker.WithText(name, content.Text))
		}
	}
	return question, shown, nil
}

// contextArg is the content of a file, or of stdin, that is shown with a question.
func (a *app) contextArg(name string) (flow.Attached, error) {
	var from io.Reader = a.In
	called := "stdin"
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return flow.Attached{}, usageError{err}
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return flow.Attached{}, usageError{fmt.Errorf("-f: %s is a folder, want a file", name)}
		}
		from, called = f, name
	}
	content, err := builtin.Show(from, called)
	switch {
	case err != nil:
		return content, usageError{fmt.Errorf("-f: %w", err)}
	case content.Data == nil && content.MediaType != "text/plain":
		return content, usageError{fmt.Errorf("-f: %s is %s: want a text in UTF-8 or an image", called, content.MediaType)}
	case content.Data == nil && strings.TrimSpace(content.Text) == "":
		return content, usageError{fmt.Errorf("-f: %s is empty", called)}
	}
	return content, nil
}

// finishAsk prints the answer alone, and what else there is to know on stderr.
func (a *app) finishAsk(r *maker.Result) error {
	if r.Status == event.StatusCompleted {
		if !a.quiet {
			simulated := ""
			if r.Simulated {
				simulated = ", simulated"
			}
			v := r.Steps[0].Voting
			fmt.Fprintf(a.Err, "votes %s, %d discarded, %s%s\n", v.Split(), v.RedFlagged, runs.DescribeCost(r.TotalCostUSD), simulated)
			report.Voters(a.Err, r)
		}
		_, err := fmt.Fprintln(a.Out, answerText(a.outputOf(r).JSON))
		return err
	}
	fmt.Fprintf(a.Err, "%s: %s\n", r.Status, show.Line(r.Reason))
	if f := r.FailedStep; f != nil {
		report.Votes(a.Err, f)
	}
	report.Voters(a.Err, r)
	for i := range r.Open {
		fmt.Fprintf(a.Err, "so far: %s\n", show.Line(runs.DescribeOpen(&r.Open[i])))
	}
	return nil
}

// answerText is an answer for a shell: a text as it is, the items of a list on lines of
// their own, anything else as JSON.
func answerText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) == nil {
		lines := make([]string, len(items))
		for i, item := range items {
			if lines[i] = string(item); json.Unmarshal(item, &text) == nil && !strings.Contains(text, "\n") {
				lines[i] = text
			}
		}
		return strings.Join(lines, "\n")
	}
	return string(raw)
}
