package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/person"
)

// peopleFlags say what the person is asked, and how.
type peopleFlags struct {
	approve     string
	allow, deny []string
	answers     string
}

func (p *peopleFlags) register(f *pflag.FlagSet) {
	p.approve = "mutate"
	f.Var(&choice{value: &p.approve, allowed: []string{"none", "mutate", "all"}}, "approve", "calls that wait for your approval: none, mutate (those that no --allow rule lets pass) or all")
	f.StringArrayVar(&p.allow, "allow", nil, "rule for calls that need no approval, such as 'Bash(git status)' or 'Write(docs/)'; repeatable")
	f.StringArrayVar(&p.deny, "deny", nil, "rule for calls that are never made, such as 'Bash(rm)'; repeatable")
	p.registerAnswers(f)
}

func (p *peopleFlags) registerAnswers(f *pflag.FlagSet) {
	f.StringVar(&p.answers, "answers", "", "YAML file with prepared answers to questions; see docs/tools.md")
}

func (p *peopleFlags) apply(c *maker.ToolConfig) {
	c.Approve, c.Allow, c.Deny = p.approve, p.allow, p.deny
}

// change applies the flags that were given to a run that is resumed.
func (p *peopleFlags) change(f *pflag.FlagSet, c *maker.ToolConfig) {
	if f.Changed("approve") {
		c.Approve = p.approve
	}
	if f.Changed("allow") {
		c.Allow = p.allow
	}
	if f.Changed("deny") {
		c.Deny = p.deny
	}
}

// options adds the ways to reach the person.
func (p *peopleFlags) options(a *app, o *maker.Options) error {
	if p.answers != "" {
		data, err := os.ReadFile(p.answers)
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
	return ok && !a.noInput && !a.json && term.IsTerminal(int(in.Fd()))
}

// ask puts a question on the terminal.
func (a *app) ask(ctx context.Context, q maker.Question) (string, error) {
	a.asking.Lock() // one question at a time
	defer a.asking.Unlock()
	if v := a.view.Load(); v != nil {
		v.pause()
		defer v.resume()
	}
	if a.input == nil {
		a.input = readLines(a.In)
	}
	human := &flow.HumanQuestion{Options: q.Options, Free: q.Free}
	for {
		printQuestion(a.Err, a.stepName(q.Step), q)
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case line, ok := <-a.input:
			if !ok {
				return "", maker.ErrAbsent
			}
			text, err := person.Resolve(human, line)
			if err == nil {
				return text, nil
			}
			fmt.Fprintf(a.Err, "%v\n", err)
		}
	}
}

// confirm asks the person on the terminal a question of yes or no.
func (a *app) confirm(ctx context.Context, question string) (bool, error) {
	a.asking.Lock()
	defer a.asking.Unlock()
	if a.input == nil {
		a.input = readLines(a.In)
	}
	for {
		fmt.Fprintf(a.Err, "%s yes or no> ", question)
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case line, ok := <-a.input:
			switch {
			case !ok || person.IsNo(line):
				return false, nil
			case person.IsYes(line):
				return true, nil
			}
		}
	}
}

// readLines reads a terminal line by line. Reading cannot be given up, so it is
// done by a goroutine that lives as long as the program.
func readLines(r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadString('\n')
			if line != "" {
				lines <- strings.TrimRight(line, "\r\n")
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// printQuestion shows a question to people: the exact call, if it is about one, and
// the vote that the call won.
func printQuestion(w io.Writer, step string, q maker.Question) {
	showQuestion(w, step, q)
	switch {
	case q.Kind == event.ClarifyApproval:
		fmt.Fprint(w, "yes, no, or why not> ")
	case len(q.Options) > 0 && q.Free:
		fmt.Fprint(w, "number, or your own answer> ")
	case len(q.Options) > 0:
		fmt.Fprint(w, "number> ")
	default:
		fmt.Fprint(w, "answer> ")
	}
}

// showQuestion shows a question of a step without a prompt for its answer.
func showQuestion(w io.Writer, step string, q maker.Question) {
	fmt.Fprintf(w, "\n%s: %s\n", step, printable(q.Text))
	if q.Call != nil {
		fmt.Fprintf(w, "  call   %s\n", q.Call.Tool)
		for line := range strings.Lines(prettyInput(q.Call.Input)) {
			fmt.Fprintf(w, "         %s\n", printable(strings.TrimRight(line, "\n")))
		}
	}
	if q.Voting != nil && q.Voting.Samples > 0 { // a literal command was not voted on
		fmt.Fprintf(w, "  vote   %s of %d samples, %d discarded\n", q.Voting.Split(), q.Voting.Samples, q.Voting.RedFlagged)
	}
	for i, option := range q.Options {
		fmt.Fprintf(w, "  %d) %s\n", i+1, printable(option))
	}
}
