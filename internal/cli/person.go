package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli/tty"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/text/show"
)

// people adds the ways to reach the person: prepared answers, and the terminal.
func (a *app) people(o *maker.Options, answers string) error {
	if answers != "" {
		data, err := os.ReadFile(answers)
		if err != nil {
			return &maker.ConfigError{Field: "answers", Err: err}
		}
		o.Answers = data
	}
	if a.hasTerminal() {
		o.Ask = a.ask
	}
	return nil
}

// hasTerminal reports whether somebody can be asked here.
func (a *app) hasTerminal() bool {
	in, ok := a.In.(*os.File)
	return ok && !a.noInput && !a.json && tty.IsTerminal(in)
}

// ask puts a question on the terminal. Only what is typed after it was shown answers
// it.
func (a *app) ask(ctx context.Context, q maker.Question) (string, error) {
	a.asking.Lock() // one question at a time
	defer a.asking.Unlock()
	if v := a.view.Load(); v != nil {
		v.Pause()
		defer v.Resume()
	}
	step := a.stepName(q.Step)
	for whole := false; ; {
		folded := showQuestion(a.Err, step, q, whole)
		line, err := a.readAnswer(ctx, promptOf(q))
		switch {
		case errors.Is(err, io.EOF):
			return "", maker.ErrAbsent
		case err != nil:
			return "", err
		}
		if whole = strings.TrimSpace(line) == showAll && (folded || q.Call != nil); whole {
			continue
		}
		text, err := person.Resolve(&q, line)
		if err == nil {
			return text, nil
		}
		fmt.Fprintf(a.Err, "%s\n", show.Line(err.Error()))
	}
}

// showAll is what to type to see a call as a whole.
const showAll = "?"

// readAnswer prompts for a line. What was typed before is ignored, and that is said.
func (a *app) readAnswer(ctx context.Context, prompt string) (string, error) {
	if a.keyboard == nil {
		a.keyboard = tty.New(a.In.(*os.File))
	}
	typed, err := a.keyboard.Discard()
	if err != nil {
		return "", errors.Join(maker.ErrAbsent, err)
	}
	if typed > 0 {
		fmt.Fprintf(a.Err, "  (ignored: %s characters that were typed before the question was here)\n", report.Thousands(typed))
	}
	fmt.Fprint(a.Err, prompt)
	return a.keyboard.ReadLine(ctx)
}

// confirm asks the person on the terminal a question of yes or no.
func (a *app) confirm(ctx context.Context, question string) (bool, error) {
	a.asking.Lock()
	defer a.asking.Unlock()
	for {
		line, err := a.readAnswer(ctx, question+" yes or no> ")
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, err
		case person.IsYes(line):
			return true, nil
		case person.IsNo(line) && strings.TrimSpace(line) != "":
			return false, nil
		}
	}
}

func promptOf(q maker.Question) string {
	switch {
	case q.Kind == event.ClarifyApproval:
		return "yes, no, or why not> "
	case len(q.Options) > 0 && q.Free:
		return "number, or your own answer> "
	case len(q.Options) > 0:
		return "number> "
	default:
		return "answer> "
	}
}

// What is shown of a question, in characters and options: it has to fit on a screen,
// because what is above it is not seen. The end is always there.
const (
	questionHead = 1000
	questionTail = 600
	mostOptions  = 20
)

// showQuestion shows a question of a step without a prompt for its answer: the exact
// call, if it is about one, and the vote that the call won. What others wrote cannot
// look like what the program says. It reports whether something was left out, which
// it is not if the whole is wanted.
func showQuestion(w io.Writer, step string, q maker.Question, whole bool) (folded bool) {
	fold := func(text string) string {
		if whole {
			return text
		}
		return show.Fold(text, questionHead, questionTail, func(n, all int) string {
			folded = true
			return fmt.Sprintf("[… %s of %s characters are not shown: %s shows them …]", report.Thousands(n), report.Thousands(all), showAll)
		})
	}
	fmt.Fprintf(w, "\n%s: %s\n", step, strings.ReplaceAll(fold(show.Text(q.Text)), "\n", "\n  | "))
	if q.Call != nil {
		fmt.Fprintf(w, "  call   %s, %s bytes of input\n", show.Exact(q.Call.Tool), report.Thousands(len(q.Call.Input)))
		for line := range strings.Lines(fold(show.Call(q.Call.Input))) {
			fmt.Fprintf(w, "         %s\n", strings.TrimRight(line, "\n"))
		}
	}
	if q.Voting != nil && q.Voting.Samples > 0 { // a literal command was not voted on
		fmt.Fprintf(w, "  vote   %s of %d samples, %d discarded\n", q.Voting.Split(), q.Voting.Samples, q.Voting.RedFlagged)
	}
	for i, option := range q.Options {
		if last := len(q.Options) - 1; i >= mostOptions && i < last && !whole {
			if folded = true; i == mostOptions {
				fmt.Fprintf(w, "  [… %s options are not shown: %s shows them …]\n", report.Thousands(last-i), showAll)
			}
			continue
		}
		fmt.Fprintf(w, "  %d) %s\n", i+1, fold(show.Line(option)))
	}
	return folded
}
