package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/maker-mdap/maker/internal/process/family"
	"github.com/maker-mdap/maker/internal/process/protect"
)

// TestCgroupOfAProcess puts a process into a group of its own, and kills it there.
func TestCgroupOfAProcess(t *testing.T) {
	trial, err := newCgroup(3)
	if err != nil {
		t.Skipf("there are no control groups to be had: %v", err)
	}
	trial.remove()
	sleeper := exec.Command("sleep", "600")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sleeper.Process.Kill() })
	c, err := cgroupFor(sleeper.Process.Pid, 3)
	if err != nil {
		t.Fatal(err)
	}
	if limit, err := c.get("pids.max"); err != nil || limit != "3" || c.tasks() != 1 || c.processes() != 1 {
		t.Errorf("the group has %d tasks, %d processes and room for %q (%v), want 1, 1 and 3", c.tasks(), c.processes(), limit, err)
	}
	c.kill()
	if err := sleeper.Wait(); err == nil || sleeper.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("after kill() the process ended with %v, want that it was killed", err)
	}
	c.remove()
	if _, err := os.Stat(c.dir); err == nil {
		t.Errorf("remove() left %s", c.dir)
	}

	before := ownCgroups(t, filepath.Dir(c.dir))
	if c, err := cgroupFor(1<<30, 3); err == nil {
		c.remove()
		t.Error("cgroupFor(a process that is not there) = nil, want an error")
	}
	if after := ownCgroups(t, filepath.Dir(c.dir)); after != before {
		t.Errorf("there are %d groups after a failure, want %d as before", after, before)
	}
}

func ownCgroups(t *testing.T, parent string) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(parent, fmt.Sprintf("%s%d-*", cgroupPrefix, family.Self())))
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// TestLimitIsMadeSureOf: a limit that was taken and is not there is none.
func TestLimitIsMadeSureOf(t *testing.T) {
	dir := t.TempDir()
	c := &cgroup{dir}
	file := filepath.Join(dir, "pids.max")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.limit(7); err != nil {
		t.Errorf("limit(7) = %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/null", file); err != nil { // takes everything, keeps nothing
		t.Fatal(err)
	}
	if err := c.limit(7); err == nil {
		t.Error("limit(7) that is not kept = nil, want an error")
	}
	if err := (&cgroup{filepath.Join(dir, "gone")}).limit(7); err == nil {
		t.Error("limit(7) of no group = nil, want an error")
	}
}

// TestReaches: what a level lets commands change is what has to be protected.
func TestReaches(t *testing.T) {
	for _, test := range []struct {
		level Level
		name  string
		want  bool
	}{
		{None, "/ws/a", true}, {None, "/elsewhere/a", true},
		{Landlock, "/ws/a", true}, {Landlock, "/elsewhere/a", false}, {Bubblewrap, "/elsewhere/a", false},
	} {
		s := &Sandbox{level: test.level, options: Options{Workspace: "/ws"}}
		if got := s.reaches(protect.Path{Name: test.name}); got != test.want {
			t.Errorf("at %s reaches(%s) = %t, want %t", test.level, test.name, got, test.want)
		}
	}
}

// TestWorkspaceIsNoLink: the kernel knows the folder, not the links to it.
func TestWorkspaceIsNoLink(t *testing.T) {
	real, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	s, err := New(t.Context(), Options{Workspace: link, Mode: Off})
	if err != nil {
		t.Fatal(err)
	}
	if s.options.Workspace != real {
		t.Errorf("the workspace is %s, want %s", s.options.Workspace, real)
	}
	if _, err := New(t.Context(), Options{Workspace: link + "-gone", Mode: Off}); err == nil {
		t.Error("New(a workspace that is not there) = nil, want an error")
	}
}
