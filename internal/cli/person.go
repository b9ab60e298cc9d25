package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/cli/consent"
	"github.com/maker-mdap/maker/internal/cli/preview"
	"github.com/maker-mdap/maker/internal/cli/settingsfile"
	"github.com/maker-mdap/maker/internal/cli/tty"
	"github.com/maker-mdap/maker/internal/report"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/plan"
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
	if o.Ask = a.server; a.hasTerminal() {
		o.Ask = a.askInRun
	}
	return nil
}

// hasTerminal reports whether somebody can be asked here.
func (a *app) hasTerminal() bool {
	in, ok := a.In.(*os.File)
	return ok && !a.noInput && !a.json && a.hold == nil && tty.IsTerminal(in)
}

// keys is the keyboard, if there is somebody who can press keys.
func (a *app) keys() *tty.Terminal {
	if a.keyboard == nil && a.hasTerminal() {
		a.keyboard = tty.New(a.In.(*os.File))
	}
	return a.keyboard
}

// askInRun puts a question of a run that goes on here on the terminal, which the view of it
// leaves for so long.
func (a *app) askInRun(ctx context.Context, q maker.Question) (string, error) {
	a.asking.Lock() // one question at a time
	defer a.asking.Unlock()
	if !a.quiet && !a.json {
		select {
		case <-a.watched: // otherwise the view would begin on top of the question
		case <-ctx.Done():
		}
	}
	if v := a.view.Load(); v != nil {
		v.Pause()
		defer v.Resume()
	}
	return a.ask(ctx, q)
}

// ask puts a question on the terminal. Only what is typed after it was shown answers
// it.
func (a *app) ask(ctx context.Context, q maker.Question) (string, error) {
	defer a.suspendable()()
	asker := &consent.Asker{Out: a.Err, Read: a.readAnswer, Remember: settingsfile.Remember, Plan: a.showPlan}
	return asker.Ask(ctx, a.stepName(q.Step), q)
}

// readAnswer prompts for a line. What was typed before is ignored, and that is said.
func (a *app) readAnswer(ctx context.Context, prompt string) (string, error) {
	typed, err := a.keys().Discard()
	if err != nil {
		return "", errors.Join(maker.ErrAbsent, err)
	}
	if typed > 0 {
		fmt.Fprintf(a.Err, "  (ignored: %s characters that were typed before the question was here)\n", report.Thousands(typed))
	}
	fmt.Fprint(a.Err, prompt)
	a.prompt.Store(&prompt)
	defer a.prompt.Store(nil)
	line, err := a.keyboard.ReadLine(ctx)
	if errors.Is(err, io.EOF) && !tty.IsTerminal(a.In.(*os.File)) {
		// It was closed, and the signal that says so is on its way, unless it is ignored.
		select {
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-time.After(time.Second):
		}
	}
	return line, err
}

// suspendable lets Ctrl-Z put the program aside while somebody is asked. The prompt is there
// again when it goes on.
func (a *app) suspendable() (stop func()) {
	asked, ignore := tty.Suspensions()
	goOn, ignoreGoOn := tty.Continuations()
	over := make(chan struct{})
	go func() {
		for {
			select {
			case <-asked:
				tty.Suspend()
			case <-goOn:
				if prompt := a.prompt.Load(); prompt != nil {
					fmt.Fprintf(a.Err, "\r\x1b[K%s", *prompt) // in place of one that was printed at this very moment
				}
			case <-over:
				return
			}
		}
	}()
	return func() {
		ignore()
		ignoreGoOn()
		close(over)
	}
}

// confirm asks the person on the terminal a question of yes or no.
func (a *app) confirm(ctx context.Context, question string) (bool, error) {
	a.asking.Lock()
	defer a.asking.Unlock()
	defer a.suspendable()()
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

// showPlan lists the steps of a plan and says what they take.
func (a *app) showPlan(text string) { fmt.Fprintln(a.Err, a.planLines(text)) }

func (a *app) planLines(text string) string {
	var out strings.Builder
	if p, findings := plan.Parse(text); len(findings) == 0 {
		preview.Steps(&out, p)
	} else { // a script, or what is no plan yet
		out.WriteString(show.Text(text))
	}
	if len(a.engines) > 0 {
		if e, err := a.engines[len(a.engines)-1].Estimate(text); err == nil {
			preview.Plan(&out, e)
		}
	}
	return strings.TrimRight(out.String(), "\n")
}
