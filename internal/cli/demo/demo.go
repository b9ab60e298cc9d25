// Package demo shows in two minutes what this program is for, without a key. Everything in
// it happens: runs of the program itself on the simulator, in a folder that is removed
// afterwards, one of them killed.
package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli/screen"
	"github.com/maker-mdap/maker/runs"
)

// Options are what a demo needs.
type Options struct {
	Program  string // this one
	Out, Err io.Writer
	Pause    time.Duration // to read what was said; 0 for none
	Erase    string        // what removes the live view of a program that was killed
	Width    int           // of the terminal; 0 if there is none
}

// Run gives the demo.
func Run(ctx context.Context, o Options) (err error) {
	dir, err := os.MkdirTemp("", "maker-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := &stage{Options: o, ctx: ctx, dir: dir, seen: map[string]bool{}}
	for _, scene := range []func() error{s.outvoted, s.killed, s.approved, s.certified} {
		if err := scene(); err != nil {
			return err
		}
	}
	s.say("That was all of it, and all of it was real but for the models: no key, no network.",
		"With a key of yours: maker \"Count the TODO comments in this folder\" -k 3")
	return nil
}

// stage is where a demo is given. A context belongs to it: it ends with one command.
type stage struct {
	Options
	ctx  context.Context
	dir  string
	seen map[string]bool // runs of earlier scenes
	long string          // the run that was killed
}

// say tells the person something, in sentences that fit into the window, and leaves time to read
// it.
func (s *stage) say(paragraphs ...string) {
	fmt.Fprintln(s.Err)
	for _, text := range paragraphs {
		for _, line := range screen.Wrap(text, max(cmp.Or(s.Width, 100)-len("# "), 20)) {
			fmt.Fprintf(s.Err, "# %s\n", line)
		}
	}
	s.wait(time.Duration(len(paragraphs)))
}

func (s *stage) wait(n time.Duration) { s.pause(n * s.Pause) }

func (s *stage) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.ctx.Done():
	}
}

// command is the program with arguments, in the folder of the demo and with no settings of
// the user's.
func (s *stage) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.ctx, s.Program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, s.Out, s.Err
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "MAKER_") || strings.HasPrefix(name, "MAKER_TEST_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	home := filepath.Join(s.dir, "home")
	cmd.Env = append(cmd.Env, "HOME="+home, "XDG_CONFIG_HOME="+home, "APPDATA="+home)
	return cmd
}

// show runs the program before the eyes of the person. It must end with one of the codes.
func (s *stage) show(codes []int, args ...string) error {
	fmt.Fprintf(s.Err, "\n$ maker %s\n", quoted(args))
	s.wait(1)
	err := s.command(args...).Run()
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	ended, failed := errors.AsType[*exec.ExitError](err)
	code := 0
	switch {
	case failed:
		code = ended.ExitCode()
	case err != nil:
		return err
	}
	for _, want := range codes {
		if code == want {
			s.wait(2)
			return nil
		}
	}
	return fmt.Errorf("maker %s ended with %d, which the demo did not expect", quoted(args), code)
}

// begun is the run that was begun since it was last asked for; nil if there is none yet.
func (s *stage) begun() (*runs.Run, error) {
	list, err := runs.List(filepath.Join(s.dir, "runs"))
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if !s.seen[r.Run] && r.Error == "" {
			run, err := runs.Open(filepath.Join(s.dir, "runs", r.Run))
			s.seen[r.Run] = err == nil
			return run, err
		}
	}
	return nil, nil
}

// outvoted: a model that errs solves a task of many steps.
func (s *stage) outvoted() error {
	const voters = "sim/default?p=0.9&seed=7&latency=30ms"
	s.say("1. A wrong vote is outvoted.", "The simulated model is wrong once in ten answers. The Towers of Hanoi with 6 disks are "+
		"63 steps; one wrong step spoils them all. Asked once for each step:")
	if err := s.show([]int{1}, "hanoi", "--disks", "6", "--ahead-by", "1", "--model", voters); err != nil {
		return err
	}
	s.say("Now several are asked for each step, until one answer leads by 5:")
	if err := s.show([]int{0}, "hanoi", "--disks", "6", "--ahead-by", "5", "--model", voters); err != nil {
		return err
	}
	s.say("Each contested step above had wrong votes, and none of them won.")
	for range 2 { // both are over
		if run, err := s.begun(); err != nil || run == nil {
			return errors.Join(errors.New("a run is missing"), err)
		}
	}
	return nil
}

// killed: a run is killed for real, and goes on.
func (s *stage) killed() error {
	args := []string{"hanoi", "--disks", "8", "-k", "4", "--model", "sim/default?p=0.97&seed=3&latency=10ms", "--no-input"}
	s.say("2. A kill and a resume.", "255 steps, and somewhere in the middle the process gets SIGKILL: no goodbye, no cleaning up.")
	fmt.Fprintf(s.Err, "\n$ maker %s\n", quoted(args))
	cmd := s.command(args...)
	if err := cmd.Start(); err != nil {
		return cmp.Or(context.Cause(s.ctx), err) // nothing is started any more once it is interrupted
	}
	run, err := s.reached(60)
	kill := errors.Join(err, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	if kill != nil {
		return kill
	}
	s.long = run.ID()
	fmt.Fprintf(s.Err, "%s\n# killed: process %d, after some 60 steps\n", s.Erase, cmd.Process.Pid)
	s.say("What was committed is on disk. The run goes on after it; nothing that is committed is asked again:")
	if err := s.show([]int{0}, "resume", s.long, "--no-input"); err != nil {
		return err
	}
	s.say("The log is the truth: replay counts every vote in it again.")
	return s.show([]int{0}, "replay", s.long)
}

// reached waits until the run that was just begun has so many steps.
func (s *stage) reached(steps int) (run *runs.Run, err error) {
	for s.ctx.Err() == nil {
		if run == nil {
			run, _ = s.begun() // its log may be half a line yet
		}
		if run != nil {
			if _, err := run.Step(steps); err == nil {
				return run, nil
			}
		}
		s.pause(20 * time.Millisecond)
	}
	return nil, context.Cause(s.ctx)
}

// todo is a task that the simulator has a script for.
const todo = "Find the files with TODO comments in src, count them per file, and write a summary to summary.md."

// approved: an effect waits for a person, and happens once.
func (s *stage) approved() error {
	for name, text := range map[string]string{"src/app.py": "# TODO: retry\n# TODO: log\n", "src/db.py": "# TODO: index\n"} {
		path := filepath.Join(s.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	s.say("3. An effect, approved and done once.", "Agents cannot change anything. A call that does is a proposal, voted on, and waits for you:")
	if err := s.show([]int{5}, "run", todo, "-k", "3", "--model", "sim/default?p=0.9&seed=1", "--no-input"); err != nil {
		return err
	}
	run, err := s.begun()
	if err != nil || run == nil {
		return errors.Join(errors.New("there is no run"), err)
	}
	s.say("Nothing is written yet. This is what it wants to do, how the vote went, and what the others wanted:")
	if err := s.show([]int{5}, "answer", run.ID()); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.dir, "summary.md")); err == nil {
		return errors.New("the file is there before it was approved")
	}
	if err := s.show([]int{0}, "answer", run.ID(), "--text", "yes"); err != nil {
		return err
	}
	if err := s.show([]int{0}, "resume", run.ID(), "--no-input"); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "summary.md"))
	if err != nil {
		return err
	}
	done := 0
	for rec, err := range run.Events(0) {
		if err != nil {
			return err
		}
		if _, ok := rec.Event.(event.EffectDone); ok {
			done++
		}
	}
	if done != 1 {
		return fmt.Errorf("the call was made %d times", done)
	}
	fmt.Fprintf(s.Err, "\n$ cat summary.md\n%s", text)
	s.say("The log has one call that was made. Whoever resumes the run again finds it done, and replay " +
		"looks in every log whether a call was made twice:")
	return s.show([]int{0}, "replay", run.ID())
}

// certified: what the votes prove.
func (s *stage) certified() error {
	s.say("4. A certificate.", "What the votes of the run that was killed prove, and what they do not:")
	return s.show([]int{0}, "certify", s.long)
}

// quoted are arguments as a shell wants them.
func quoted(args []string) string {
	out := make([]string, len(args))
	for i, a := range args {
		if out[i] = a; a == "" || strings.ContainsAny(a, " ?&*'\"$") {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
