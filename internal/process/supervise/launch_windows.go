package supervise

import "os/exec"

// launch starts the program. There are no process groups: the program itself is
// ended, and what it has started is not found.
func launch(cmd *exec.Cmd, o Orders) (ending, error) {
	cmd.Path, cmd.Args, cmd.Env, cmd.Dir = o.Path, o.Args, o.Env, o.Dir
	if err := cmd.Start(); err != nil {
		return ending{}, err
	}
	return ending{
		terminate: func() {},
		kill:      func() { _ = cmd.Process.Kill() },
		sweep:     func() {},
		patience:  o.Grace,
	}, nil
}
