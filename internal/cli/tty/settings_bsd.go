//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package tty

import "golang.org/x/sys/unix"

const (
	getSettings = unix.TIOCGETA
	setSettings = unix.TIOCSETA
	setAndFlush = unix.TIOCSETAF
)
