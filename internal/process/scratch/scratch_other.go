//go:build !unix

package scratch

import "os"

// Where locks do not go with their holders, nothing is swept.

func share(*os.File) error { return nil }

func claim(*os.File) error { return errNotRegular }

func openLock(string) (*os.File, error) { return nil, errNotRegular }

func isOurs(os.FileInfo) bool { return false }
