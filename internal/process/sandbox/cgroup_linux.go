package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/maker-mdap/maker/internal/process/family"
	"github.com/maker-mdap/maker/internal/process/protect"
)

// A cgroup is a control group in which the kernel counts the processes and threads
// of one command, dead or alive and whoever their parent is, and refuses to make
// more of them than a limit. It can be had by root, and by users to whom a part of
// the tree was handed over.
type cgroup struct{ dir string }

// cgroupPrefix begins the names of ours. The number of the supervisor's process
// follows.
const cgroupPrefix = "maker-"

// cgroupFor puts a process into a group of its own that can have so many processes
// and threads.
func cgroupFor(pid, most int) (*cgroup, error) {
	c, err := newCgroup(most)
	if err != nil {
		return nil, err
	}
	if err := c.add(pid); err != nil {
		return nil, errors.Join(err, os.Remove(c.dir))
	}
	return c, nil
}

// newCgroup makes a group for at most so many processes and threads.
func newCgroup(most int) (*cgroup, error) {
	parent, err := cgroupParent("/proc/self", "pids")
	if err != nil {
		return nil, err
	}
	sweepCgroups(parent)
	c := &cgroup{filepath.Join(parent, fmt.Sprintf("%s%d-%08x", cgroupPrefix, family.Self(), rand.Uint32()))}
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		return nil, err
	}
	if err := c.limit(most); err != nil {
		return nil, errors.Join(err, os.Remove(c.dir))
	}
	return c, nil
}

// limit lets the group have so many processes and threads, and makes sure of it.
func (c *cgroup) limit(most int) error {
	if err := c.set("pids.max", strconv.Itoa(most)); err != nil {
		return err
	}
	if set, err := c.get("pids.max"); err != nil || set != strconv.Itoa(most) {
		return fmt.Errorf("pids.max is %q (%v)", set, err)
	}
	return nil
}

// cgroupParent returns the folder in which a process can have a group with a
// controller. In version 1 that is its own group; in version 2 the nearest one that
// hands the controller on to the groups in it, because those that do can hold no
// processes themselves.
func cgroupParent(proc, controller string) (string, error) {
	groups, err := os.ReadFile(filepath.Join(proc, "cgroup"))
	if err != nil {
		return "", err
	}
	mounts, err := os.ReadFile(filepath.Join(proc, "mountinfo"))
	if err != nil {
		return "", err
	}
	unified := ""
	for line := range strings.Lines(string(groups)) { // 8:pids:/path
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(fields) < 3:
		case slices.Contains(strings.Split(fields[1], ","), controller):
			return cgroupFolder(string(mounts), "cgroup", controller, fields[2])
		case fields[0] == "0":
			unified = fields[2]
		}
	}
	if unified == "" {
		return "", fmt.Errorf("no control group has %s", controller)
	}
	own, err := cgroupFolder(string(mounts), "cgroup2", "", unified)
	if err != nil {
		return "", err
	}
	for dir := own; ; dir = filepath.Dir(dir) {
		handed, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		if err != nil {
			return "", fmt.Errorf("no control group above %s hands on %s", own, controller)
		}
		if slices.Contains(strings.Fields(string(handed)), controller) {
			return dir, nil
		}
	}
}

// cgroupFolder finds the folder of a group in the file system, by the kernel's list
// of mounts.
func cgroupFolder(mounts, kind, controller, group string) (string, error) {
	for line := range strings.Lines(mounts) {
		before, after, ok := strings.Cut(line, " - ")
		place, how := strings.Fields(before), strings.Fields(after)
		if !ok || len(place) < 6 || len(how) < 3 || how[0] != kind {
			continue
		}
		if controller != "" && !slices.Contains(strings.Split(how[2], ","), controller) {
			continue
		}
		// What is mounted may be a part of the tree only.
		root, point := strings.TrimSuffix(place[3], "/"), place[4]
		if protect.Within(root, group) {
			return filepath.Join(point, strings.TrimPrefix(group, root)), nil
		}
	}
	return "", fmt.Errorf("the control groups of %s are not mounted", kind)
}

// sweepCgroups removes the groups of supervisors that are gone, and kills what they
// left behind.
func sweepCgroups(parent string) {
	entries, _ := os.ReadDir(parent) // what cannot be seen cannot be swept
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), cgroupPrefix)
		owner, _, _ := strings.Cut(name, "-")
		if _, err := strconv.Atoi(owner); !ok || err != nil {
			continue
		}
		if _, err := os.Lstat("/proc/" + owner); errors.Is(err, os.ErrNotExist) {
			c := &cgroup{filepath.Join(parent, e.Name())}
			c.kill()
			c.remove()
		}
	}
}

func (c *cgroup) get(name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(c.dir, name))
	return strings.TrimSpace(string(data)), err
}

func (c *cgroup) set(name, value string) error {
	return os.WriteFile(filepath.Join(c.dir, name), []byte(value), 0)
}

// add moves a process into the group; 0 is this one.
func (c *cgroup) add(pid int) error { return c.set("cgroup.procs", strconv.Itoa(pid)) }

// tasks is how many processes and threads there are, dead ones included that nobody
// has waited for.
func (c *cgroup) tasks() int {
	text, _ := c.get("pids.current")
	n, _ := strconv.Atoi(text) // 0 if the group is gone, and then so are they
	return n
}

// processes is how many processes there are, dead ones included.
func (c *cgroup) processes() int {
	threads := "cgroup.threads"
	if _, err := os.Stat(filepath.Join(c.dir, threads)); err != nil {
		threads = "tasks" // in version 1
	}
	alive, running := c.count("cgroup.procs"), c.count(threads)
	return alive + max(0, c.tasks()-running)
}

func (c *cgroup) count(name string) int {
	data, _ := os.ReadFile(filepath.Join(c.dir, name)) // see tasks
	return bytes.Count(data, []byte("\n"))
}

// kill kills all of them. First it sees to it that there will be no more.
func (c *cgroup) kill() {
	_ = c.set("pids.max", "0")
	if c.set("cgroup.kill", "1") == nil { // since Linux 5.14, in version 2
		return
	}
	text, _ := c.get("cgroup.procs")
	for field := range strings.FieldsSeq(text) {
		if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// remove removes the group, which works once it is empty.
func (c *cgroup) remove() { _ = os.Remove(c.dir) }
