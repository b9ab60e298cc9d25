// Package scriptfile reads scripts of the user's and what they are started with, and has the
// person agree before a run goes on with one that was edited.
package scriptfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/report"
)

// Read reads a script that can be run.
func Read(file string) (maker.Script, error) {
	s, err := maker.LoadScript(file)
	if err == nil {
		err = s.Check()
	}
	return s, err
}

// Args reads name=value.
func Args(list []string) (map[string]string, error) {
	named := map[string]string{}
	for _, arg := range list {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--arg %s: want NAME=VALUE", arg)
		}
		if _, twice := named[name]; twice {
			return nil, fmt.Errorf("--arg %s is given twice", name)
		}
		named[name] = value
	}
	return named, nil
}

// An App is what is needed of the program to have the person agree.
type App struct {
	Err      io.Writer
	Quiet    bool
	Attended bool                                                     // somebody can be asked
	Confirm  func(ctx context.Context, question string) (bool, error) // asks
	Usage    func(error) error                                        // makes an error one about usage
	Rehearse func(s *maker.Script) (*maker.Rehearsal, error)          // as [maker.Engine.Rehearse], with what the run is to be resumed with
}

// Edited is the script in a file if a run is to go on with it, once the person knows what that
// means and agrees, or has agreed before. It is nil if it is the one that the run has, or no
// file is given.
func (a App) Edited(ctx context.Context, file string, agreed bool) (*maker.Script, error) {
	if file == "" {
		if agreed {
			return nil, a.Usage(errors.New("--yes agrees to an edited script, which --script names"))
		}
		return nil, nil
	}
	s, err := Read(file)
	if err != nil {
		return nil, a.Usage(err)
	}
	r, err := a.Rehearse(&s)
	switch {
	case errors.Is(err, maker.ErrFinished):
		return nil, a.Usage(fmt.Errorf("--script: %w; an edited script is a new one: maker script %s", err, file))
	case err != nil:
		return nil, err
	case !r.Changed:
		return nil, nil
	}
	if !agreed || !a.Quiet {
		Describe(a.Err, file, r)
	}
	if agreed {
		return &s, nil
	}
	if !a.Attended {
		return nil, a.Usage(errors.New("nobody is there to agree, and nothing was changed; say --yes to go on with the edited script, or leave out --script to go on with the one that the run has"))
	}
	ok, err := a.Confirm(ctx, "Go on with the edited script?")
	if err == nil && !ok {
		err = a.Usage(errors.New("nothing was changed; without --script the run goes on with the script that it has"))
	}
	if err != nil {
		return nil, err
	}
	return &s, nil
}

// Describe says what an edited script makes of what is recorded.
func Describe(w io.Writer, file string, r *maker.Rehearsal) {
	fmt.Fprintf(w, "%s was edited: %s of %s recorded answers fit", file, report.Thousands(r.Answers.Used), report.Thousands(r.Answers.Recorded))
	if r.Calls.Recorded > 0 {
		fmt.Fprintf(w, ", and %s of %s calls", report.Thousands(r.Calls.Used), report.Thousands(r.Calls.Recorded))
	}
	fmt.Fprintln(w)
	say := func(format string, args ...any) { fmt.Fprintf(w, "  "+format+"\n", args...) }
	if len(r.New) > 0 {
		say("new or changed: %s", places(r.New))
	}
	if len(r.Open) > 0 {
		say("not done yet: %s", places(r.Open))
	}
	for _, c := range r.Chains {
		describeChain(say, c, r.Ends)
	}
	if r.Again > 0 {
		say("%s %s to something else now: made again as steps of their own, with the answers that fit", report.Count(r.Again, "committed step"), oneOr(r.Again, "comes", "come"))
	}
	describeUnused(say, r)
	switch left := r.Answers.Recorded - r.Answers.Used; {
	case r.Failure != "":
		say("with what is recorded it fails: %s", strings.ReplaceAll(r.Failure, "\n", "\n  "))
	case r.Ends:
		say("with what is recorded it comes to its end: nothing more is asked")
	case left > 0:
		say("%s may fit further on: that depends on what is not there yet", report.Count(left, "answer"))
	}
}

// oneOr is the word for one, or that for several.
func oneOr(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// maxListed is how many places and calls are named.
const maxListed = 10

// places are where calls stand.
func places(calls []maker.RehearsedCall) string {
	var list []string
	for _, c := range calls[:min(len(calls), maxListed)] {
		text := fmt.Sprintf("%s:%d %s", c.File, c.Line, c.What)
		if c.From != "" {
			text += " from " + c.From
		}
		if c.Times > 1 {
			text += fmt.Sprintf(" (%s times)", report.Thousands(c.Times))
		}
		list = append(list, text)
	}
	if more := len(calls) - maxListed; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

func describeChain(say func(string, ...any), c maker.RehearsedChain, ends bool) {
	turns := report.Count(c.Turns, "turn")
	switch {
	case c.Line == 0 && ends:
		say("%s of %s, committed, and not called for any more", turns, c.Key)
	case c.Line == 0:
		say("%s of %s, committed, and not called for so far", turns, c.Key)
	case c.Other:
		say("%s:%d chain: it begins with another state than the chain whose %s %s committed, and would go on after that all the same; if it is another chain, this run cannot go on with it", c.File, c.Line, turns, oneOr(c.Turns, "is", "are"))
	default:
		say("%s:%d chain: %s committed, which stay as they are; the edited script makes those that follow", c.File, c.Line, turns)
	}
}

// describeUnused names the calls that were made and are not called for.
func describeUnused(say func(string, ...any), r *maker.Rehearsal) {
	when := "so far"
	if r.Ends {
		when = "any more"
	}
	for _, m := range r.Unused[:min(len(r.Unused), maxListed)] {
		made := "made"
		if m.Unknown {
			made = "begun, and nobody knows whether it took effect"
		}
		say("%s, and not called for %s: %s", made, when, report.Call(m.Tool, event.JSONValue(m.Input)))
	}
	if more := len(r.Unused) - maxListed; more > 0 {
		say("and %s more", report.Count(more, "such call"))
	}
}
