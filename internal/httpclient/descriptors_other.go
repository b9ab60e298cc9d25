//go:build !unix

package httpclient

// Descriptors is how many files and connections the process can have open at once.
func Descriptors() uint64 { return unlimited }
