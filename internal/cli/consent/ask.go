package consent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/person"
	"github.com/maker-mdap/maker/internal/text/show"
)

// An Asker puts questions to the person on a terminal.
type Asker struct {
	Out io.Writer

	// Read prompts for a line. It is io.EOF if nobody answers any more.
	Read func(ctx context.Context, prompt string) (string, error)

	// Plan shows a plan and what it takes.
	Plan func(text string)

	// Remember keeps a rule for all later runs and says where.
	Remember func(rule string) (string, error)
}

// Ask asks until there is an answer that is clear.
func (a *Asker) Ask(ctx context.Context, step string, q maker.Question) (string, error) {
	if q.Kind == event.ClarifyPlan {
		return a.askPlan(ctx, q)
	}
	draft := "" // of other arguments
	for whole := false; ; {
		folded := Show(a.Out, step, q, whole)
		line, err := a.read(ctx, prompt(q))
		if err != nil {
			return "", err
		}
		line = strings.TrimSpace(line)
		if whole = line == ShowAll && (folded || q.Call != nil); whole {
			continue
		}
		if q.Kind == event.ClarifyApproval && strings.EqualFold(line, person.WithEdit) && q.Call != nil {
			if line, err = a.edit(ctx, step, q, &draft); err != nil {
				return "", err
			}
			if line == "" {
				continue
			}
		}
		text, err := person.Resolve(&q, line)
		if err == nil {
			err = a.remember(q, text)
		}
		if err == nil {
			return text, nil
		}
		fmt.Fprintf(a.Out, "%s\n", show.Line(err.Error()))
	}
}

func (a *Asker) read(ctx context.Context, prompt string) (string, error) {
	line, err := a.Read(ctx, prompt)
	if errors.Is(err, io.EOF) {
		err = maker.ErrAbsent
	}
	return line, err
}

// Remembered is the rule that an answer wants to be kept for all later runs; empty if it
// wants none.
func Remembered(kind, answer string) string {
	rule, ok := strings.CutPrefix(answer, person.ForEver+" ")
	if kind != event.ClarifyApproval || !ok {
		return ""
	}
	return rule
}

// Understood says what an answer is taken for.
func Understood(kind, answer string) string {
	switch {
	case kind != event.ClarifyApproval:
		return "answered: " + show.Line(answer)
	}
	word, rest, _ := strings.Cut(answer, " ")
	switch {
	case person.IsYes(answer):
		return "answered: the call may be made"
	case word == person.WithEdit:
		return "answered: the call may be made with other arguments: " + show.Line(rest)
	case word == person.ForRun, word == person.ForEver:
		return "answered: the call may be made, and so may others that fit " + show.Line(rest)
	case person.IsNo(answer):
		return "answered: the call is refused"
	}
	return "answered: the call is refused, because: " + show.Line(answer)
}

func (a *Asker) remember(q maker.Question, answer string) error {
	rule := Remembered(q.Kind, answer)
	if rule == "" {
		return nil
	}
	where, err := a.Remember(rule)
	if err != nil {
		return fmt.Errorf("the rule %s cannot be kept: %w; run is for this run only", rule, err)
	}
	fmt.Fprintf(a.Out, "from now on calls that fit %s are not asked about: it is in %s\n", show.Line(rule), where)
	return nil
}

// edit lets the person change the arguments of a call, from the draft on if there is one. It
// returns the answer, or nothing if the person thought better of it.
func (a *Asker) edit(ctx context.Context, step string, q maker.Question, draft *string) (string, error) {
	if *draft == "" {
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, q.Call.Input, "", "  "); err != nil {
			return "", nil
		}
		*draft = pretty.String() + "\n"
	}
	var read person.Approval
	ok, err := a.edited(ctx, q.Call.Tool+".json", draft, func(text string) error {
		var compact bytes.Buffer
		err := json.Compact(&compact, []byte(text))
		if err != nil {
			return fmt.Errorf("that is no JSON: %w", err)
		}
		read, err = person.ReadApproval(&q, person.WithEdit+" "+compact.String())
		return err
	})
	if err != nil || !ok {
		*draft = "" // the next one begins with the call
		return "", err
	}
	changed := q
	changed.Call, changed.Voting, changed.Kind, changed.Options = &event.Intent{Tool: q.Call.Tool, Input: read.Input}, nil, event.ClarifyQuestion, nil
	changed.Text = fmt.Sprintf("%s as you changed it:", q.Call.Tool)
	Show(a.Out, step, changed, true)
	line, err := a.read(ctx, "call it like this? yes or no> ")
	if err != nil || !person.IsYes(line) {
		return "", err
	}
	return read.String(), nil
}

// prompt says what can be answered.
func prompt(q maker.Question) string {
	switch {
	case q.Kind == event.ClarifyApproval && q.Call != nil && !hasRule(q):
		return "yes, edit, no, or why not> "
	case q.Kind == event.ClarifyApproval:
		return "yes, run, always, edit, no, or why not> "
	case len(q.Options) > 0 && q.Free:
		return label(q) + ", or your own answer> "
	case len(q.Options) > 0:
		return label(q) + "> "
	default:
		return "answer> "
	}
}

// label says what options are chosen by.
func label(q maker.Question) string {
	if first := person.Label(&q, 0); first != "1" {
		return first + " for an option"
	}
	return "number"
}

// Editor lets the person change a text in the editor that $VISUAL or $EDITOR names.
func Editor(ctx context.Context, name, text string) (string, error) {
	program := os.Getenv("VISUAL")
	if program == "" {
		program = os.Getenv("EDITOR")
	}
	if program == "" {
		return "", errors.New("there is no editor: set the variable EDITOR, such as EDITOR=nano")
	}
	dir, err := os.MkdirTemp("", "maker-edit-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	words := strings.Fields(program) // it may have options
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], file)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("the editor %s: %w", program, err)
	}
	changed, err := os.ReadFile(file)
	return string(changed), err
}

// askPlan asks whether a plan is to be carried out. The person may change it first; one that
// does not pass its checks has to be changed.
func (a *Asker) askPlan(ctx context.Context, q maker.Question) (string, error) {
	text, answer, prompt := q.Plan, "run", "run, edit, or stop> "
	name, file := "plan", "plan.yaml"
	if person.IsScript(&q) {
		name, file = "script", "script.star"
	}
	if !slices.Contains(q.Options, answer) {
		fmt.Fprintf(a.Out, "\n%s\n", show.Text(q.Text))
		answer, prompt = "", "edit, or stop> "
	}
	for {
		fmt.Fprintf(a.Out, "\nthe %s:\n", name)
		a.Plan(text)
		line, err := a.read(ctx, prompt)
		if err != nil {
			return "", err
		}
		switch word := strings.ToLower(strings.TrimSpace(line)); {
		case answer != "" && slices.Contains([]string{"run", "r", "y", "yes"}, word):
			return answer, nil
		case slices.Contains([]string{"stop", "s", "n", "no", "q"}, word):
			return "stop", nil
		case word == "edit" || word == "e":
			draft := text
			ok, err := a.edited(ctx, file, &draft, func(text string) error {
				_, err := person.Resolve(&q, "edit\n"+text)
				return err
			})
			if err != nil {
				return "", err
			}
			if ok {
				text, answer, prompt = draft, "edit\n"+draft, "run, edit, or stop> "
			}
		default:
			fmt.Fprintf(a.Out, "%q is none of %s\n", show.Line(line), strings.TrimSuffix(prompt, "> "))
		}
	}
}

// edited lets the person change a text until nothing is wrong with it. It reports false if
// the person thought better of it, or cannot.
func (a *Asker) edited(ctx context.Context, name string, text *string, check func(text string) error) (bool, error) {
	for {
		changed, err := Editor(ctx, name, *text)
		if err != nil {
			fmt.Fprintf(a.Out, "%s\n", show.Line(err.Error()))
			return false, nil
		}
		if strings.TrimSpace(changed) == "" { // which is how one leaves an editor in vain
			fmt.Fprintln(a.Out, "nothing was changed: the text is empty")
			return false, nil
		}
		*text = changed
		if err = check(changed); err == nil {
			return true, nil
		}
		fmt.Fprintf(a.Out, "%s\n", show.Text(err.Error()))
		if again, err := a.again(ctx); err != nil || !again {
			return false, err
		}
	}
}

// again asks whether a text that something is wrong with is edited again: a slip does not lose it.
func (a *Asker) again(ctx context.Context) (bool, error) {
	for {
		line, err := a.read(ctx, "edit again? yes or no> ")
		switch {
		case err != nil:
			return false, err
		case person.IsYes(line), strings.EqualFold(line, person.WithEdit):
			return true, nil
		case person.IsNo(line):
			return false, nil
		}
		fmt.Fprintf(a.Out, "%q is neither yes nor no\n", show.Line(line))
	}
}
