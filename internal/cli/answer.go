package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/person"
	"github.com/maker-mdap/maker/internal/runlog"
)

func (a *app) answer() *cobra.Command {
	var text, question string
	cmd := &cobra.Command{
		Use:   "answer RUN",
		Short: "Answer what a run is waiting for",
		Long: `answer shows what a run waits for and takes the answer: from --text, or from the
terminal. The run uses it when it is resumed, and logs it first. Without --text and
without a terminal it only shows the questions.

An approval is answered with yes, with no, or with why not, which the agents read.`,
		Example: `  maker answer run-20260102
  maker answer run-20260102 --text yes
  maker resume run-20260102`,
		Args: exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := maker.FindRun(a.logDir, args[0])
			if err != nil {
				return err
			}
			open, err := a.openQuestions(dir)
			if err != nil {
				return err
			}
			if len(open) == 0 {
				return usageError{errors.New("the run waits for no answer")}
			}
			if question != "" {
				open = only(open, question)
				if len(open) == 0 {
					return usageError{fmt.Errorf("--question: the run waits for no answer to %q", question)}
				}
			}
			return a.takeAnswer(cmd, dir, open, text)
		},
	}
	cmd.Flags().StringVar(&text, "text", "", "the answer")
	cmd.Flags().StringVar(&question, "question", "", "which question, by its key, if there are several")
	return cmd
}

// openQuestions are the questions of a run without an answer.
func (a *app) openQuestions(dir string) ([]event.ClarificationRequested, error) {
	var open []event.ClarificationRequested
	for line, err := range runlog.Read(dir) {
		if err != nil {
			return nil, err
		}
		if line.Type == event.TypeOutlineCreated {
			a.tasks.Store(true)
		}
		if line.Type != event.TypeClarificationRequested && line.Type != event.TypeClarificationProvided {
			continue
		}
		rec, err := line.Decode()
		if err != nil {
			return nil, err
		}
		switch e := rec.Event.(type) {
		case event.ClarificationRequested:
			open = append(open, e)
		case event.ClarificationProvided:
			for i := range open {
				if open[i].Question == e.Question {
					open = append(open[:i:i], open[i+1:]...)
					break
				}
			}
		}
	}
	return open, nil
}

func only(open []event.ClarificationRequested, key string) []event.ClarificationRequested {
	for _, q := range open {
		if q.Question == key {
			return []event.ClarificationRequested{q}
		}
	}
	return nil
}

// asked is an open question in the form in which people are asked.
func asked(e event.ClarificationRequested) maker.Question {
	q := maker.Question{Step: e.Step, Kind: e.Kind, Text: e.Text, Options: e.Options, Free: e.Free}
	if len(e.Call) > 0 {
		var call event.Intent
		if json.Unmarshal(e.Call, &call) == nil {
			q.Call = &call
		}
	}
	return q
}

// understood says what an answer is taken for.
func understood(kind, answer string) string {
	switch {
	case kind != event.ClarifyApproval:
		return "answered: " + oneLine(answer)
	case person.IsYes(answer):
		return "answered: the call may be made"
	case person.IsNo(answer):
		return "answered: the call is refused"
	}
	return "answered: the call is refused, because: " + oneLine(answer)
}

func (a *app) takeAnswer(cmd *cobra.Command, dir string, open []event.ClarificationRequested, text string) error {
	if text != "" && len(open) > 1 {
		keys := make([]string, len(open))
		for i, q := range open {
			keys[i] = q.Question
		}
		return usageError{fmt.Errorf("the run waits for %d answers; say with --question which one is meant: %s", len(open), strings.Join(keys, ", "))}
	}
	for _, e := range open {
		if text == "" && !a.hasTerminal() {
			if a.json {
				if err := a.printJSON(e); err != nil {
					return err
				}
				continue
			}
			showQuestion(a.Out, a.stepName(e.Step), asked(e), true)
			fmt.Fprintf(a.Err, "answer with: maker answer %s --text ...\n", filepath.Base(dir))
			continue
		}
		answer := text
		var err error
		if answer == "" {
			if answer, err = a.ask(cmd.Context(), asked(e)); err != nil {
				return err
			}
		} else if answer, err = person.Resolve(&flow.HumanQuestion{Kind: e.Kind, Options: e.Options, Free: e.Free}, answer); err != nil {
			return usageError{err}
		}
		if err := person.Leave(dir, e.Question, flow.Answer{Text: answer, By: "maker answer"}); err != nil {
			return err
		}
		fmt.Fprintf(a.Err, "%s; continue with: maker resume %s\n", understood(e.Kind, answer), filepath.Base(dir))
	}
	if text == "" && !a.hasTerminal() {
		return exitError{exitWaiting}
	}
	return nil
}
