//go:build unix && !(darwin || dragonfly || freebsd || netbsd || openbsd)

package tty

import "golang.org/x/sys/unix"

const (
	getSettings = unix.TCGETS
	setSettings = unix.TCSETS
	setAndFlush = unix.TCSETSF
)
