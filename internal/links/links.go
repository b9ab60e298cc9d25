// Package links follows symbolic links as an operating system does, also where what
// they lead to is not there yet.
package links

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// most is where links are taken to lead nowhere.
const most = 255

// Follow follows an absolute path. It returns the links that the path leads through,
// each by a path without links, and the path without links that it leads to. What does
// not exist is taken as it is. It is not certain where the path leads if a link leads
// nowhere or cannot be seen; such a part is taken as it is too.
func Follow(path string) (through []string, to string, certain bool) {
	certain = true
	to, rest := split(path)
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		if name == "" || name == "." || name == ".." {
			to = filepath.Join(to, name)
			continue
		}
		next := filepath.Join(to, name)
		info, err := os.Lstat(next)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			certain = certain && !errors.Is(err, fs.ErrPermission)
			to = next
			continue
		}
		target, err := os.Readlink(next)
		if err != nil || len(through) == most {
			certain, to = false, next
			continue
		}
		through = append(through, next)
		// The target is followed like the rest: it may lead through links itself.
		more := strings.Split(filepath.ToSlash(target), "/")
		if filepath.IsAbs(target) {
			to, more = split(target)
		}
		rest = append(more, rest...)
	}
	return through, to, certain
}

// split takes an absolute path apart.
func split(path string) (root string, names []string) {
	volume := filepath.VolumeName(path)
	return volume + string(filepath.Separator), strings.Split(filepath.ToSlash(path[len(volume):]), "/")
}
