package main

import (
	"os/exec"
	"syscall"
)

// dieWithUs has a command killed when we are.
func dieWithUs(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
