//go:build unix

package httpclient

import "syscall"

// Descriptors is how many files and connections the process can have open at once.
func Descriptors() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return unlimited
	}
	return uint64(limit.Cur)
}
