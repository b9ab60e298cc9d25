//go:build !unix

package httpclient

func descriptors() uint64 { return unlimited }
