package sandbox

import (
	"os/exec"
	"time"
)

// groupOf does nothing: the process itself is killed.
func groupOf(*exec.Cmd, time.Duration) (kill func()) { return func() {} }
