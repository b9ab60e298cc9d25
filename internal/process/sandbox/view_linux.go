package sandbox

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/maker-mdap/maker/internal/process/protect"
)

// hidden are folders in / that a command does not see: other people's files,
// sockets and secrets, and what belongs to the machine. /proc, /dev and /tmp are
// replaced by something smaller.
var hidden = []string{"/proc", "/dev", "/sys", "/run", "/tmp", "/home", "/root", "/boot", "/lost+found"}

// A view is what a command sees of the file system besides its workspace.
type view struct {
	readable []string          // folders
	links    map[string]string // symbolic links in /, such as /bin, and their targets
}

func (s *Sandbox) view() view {
	v := view{links: map[string]string{}}
	home, _ := os.UserHomeDir()
	entries, _ := os.ReadDir("/") // without it nothing is readable, which is safe
	for _, e := range entries {
		path := "/" + e.Name()
		switch {
		case slices.Contains(hidden, path):
		case e.IsDir() && !protect.Within(path, home): // a home such as /var/lib/x is dealt with below
			v.readable = append(v.readable, path)
		case e.IsDir():
			v.readable = append(v.readable, around(path, home)...)
		case e.Type()&os.ModeSymlink != 0:
			if target, err := os.Readlink(path); err == nil {
				v.links[path] = target
			}
		}
	}
	// Programs that the user has installed in a hidden place.
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if real, err := filepath.EvalSymlinks(dir); err == nil && filepath.IsAbs(dir) && !protect.Within(real, home) && !v.shows(real) {
			v.readable = append(v.readable, dir)
		}
	}
	extra := []string{"/sys/devices/system/cpu", "/run/current-system"}
	if s.options.Network {
		extra = append(extra, "/run/systemd/resolve") // where /etc/resolv.conf leads
	}
	for _, dir := range slices.Concat(extra, s.options.Readable) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			v.readable = append(v.readable, dir)
		}
	}
	return v
}

// shows reports whether path is in a readable folder.
func (v view) shows(path string) bool {
	return slices.ContainsFunc(v.readable, func(dir string) bool { return protect.Within(dir, path) })
}

// around returns the folders below top that neither are nor contain hole.
func around(top, hole string) []string {
	var out []string
	entries, _ := os.ReadDir(top)
	for _, e := range entries {
		path := filepath.Join(top, e.Name())
		switch {
		case !e.IsDir() || path == hole:
		case protect.Within(path, hole):
			out = append(out, around(path, hole)...)
		default:
			out = append(out, path)
		}
	}
	return out
}
