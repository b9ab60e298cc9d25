//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/maker-mdap/maker/internal/process/scratch"
)

func (s *Sandbox) supported() (string, error) { return "", refuse("it needs Linux") }

func (s *Sandbox) doWithout() bool { return false }

func namespacesAllowed() bool { return false }

// run runs the command as it is. Where there are process groups, a timeout ends
// the group; a process that has left it is not found.
func (s *Sandbox) run(ctx context.Context, c Command, temp *scratch.Dir) (Outcome, error) {
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir = s.options.Workspace
	cmd.Env = environment(filepath.Join(temp.Path, "home"), temp.Path)
	cmd.Stdout, cmd.Stderr = c.Output, c.Output
	cmd.WaitDelay = s.options.Limits.Grace + time.Second
	killGroup := groupOf(cmd, s.options.Limits.Grace)
	err := cmd.Run()
	killGroup()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return Outcome{ExitCode: exit.ExitCode()}, nil
	}
	return Outcome{}, err
}
