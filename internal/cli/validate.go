package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/text/show"
	"github.com/maker-mdap/maker/plan"
)

func (a *app) validate() *cobra.Command {
	var flags settings
	cmd := &cobra.Command{
		Use:   "validate PLAN",
		Short: "Check a plan",
		Long: `validate runs every static check on a plan, from a YAML or JSON file, or from
stdin if PLAN is -. It says of each problem which step and field it is about and
what to change. With --quality-checks a model judges what code cannot.
Exit code 1 means that a check failed.`,
		Example: `  maker validate plan.yaml
  maker validate plan.yaml --json`,
		Args: exactArgs("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.fileArg(args[0])
			if err != nil {
				return err
			}
			box, err := flags.openTools(cmd, a)
			if err != nil {
				return err
			}
			defer box.Close()
			usable := func(name string) error {
				_, err := box.Registry.Get(name)
				return err
			}
			_, report := plan.Validate(text, plan.Options{
				Tools: usable, Rule: flags.config.Voting, AllowLoops: flags.config.Plan.AllowLoops,
			})
			if flags.config.Plan.QualityChecks && report.Passed {
				return a.judge(cmd, &flags, args[0], text, report)
			}
			return a.printReport(args[0], report)
		},
	}
	flags.register(cmd, config.Validate, nil)
	return cmd
}

func (a *app) printReport(name string, report plan.Report) error {
	if a.json {
		if err := a.printJSON(report); err != nil {
			return err
		}
	} else {
		failed := 0
		for _, c := range report.Checks {
			switch {
			case c.Skipped:
				fmt.Fprintf(a.Out, "skip  %-34s %s\n", c.Name, show.Line(c.Message))
			case c.Passed:
				fmt.Fprintf(a.Out, "ok    %s\n", c.Name)
			default:
				failed++
				where := ""
				if c.Line > 0 {
					where = fmt.Sprintf("%s:%d: ", name, c.Line)
				}
				fmt.Fprintf(a.Out, "FAIL  %-34s %s%s\n", c.Name, where, show.Line(c.Message))
			}
		}
		for _, note := range report.Notes {
			fmt.Fprintf(a.Out, "note  %s\n", show.Line(note))
		}
		if failed > 0 {
			problems := "problems"
			if failed == 1 {
				problems = "problem"
			}
			fmt.Fprintf(a.Err, "%d %s; docs/plans.md explains each check\n", failed, problems)
		}
	}
	if !report.Passed {
		return exitError{exitFailed}
	}
	return nil
}

// judge adds the checks of a model to the report on a plan that passes the others.
func (a *app) judge(cmd *cobra.Command, flags *settings, name, text string, report plan.Report) error {
	engine, err := flags.engine(a)
	if err != nil {
		return err
	}
	run, err := engine.Validate(cmd.Context(), text)
	if err != nil {
		return err
	}
	var checks []event.Check
	for rec, err := range run.Events(context.WithoutCancel(cmd.Context())) {
		if err != nil {
			return err
		}
		switch e := rec.Event.(type) {
		case event.ValidationPassed:
			checks = e.Checks
		case event.ValidationFailed:
			checks, report.Passed = e.Checks, false
		}
	}
	result, err := run.Result()
	if err != nil {
		return err
	}
	if checks == nil {
		return a.finish(result) // it was stopped before there was a judgement
	}
	for _, c := range checks {
		r := plan.Result{Name: c.Name, Passed: c.Passed, Step: c.Step, Message: c.Message}
		if c.Score != nil {
			r.Message = fmt.Sprintf("score %.2f: %s", *c.Score, c.Message)
		}
		report.Checks = append(report.Checks, r)
	}
	return a.printReport(name, report)
}
