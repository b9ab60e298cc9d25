//go:build linux

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestCgroupParent(t *testing.T) {
	tests := []struct {
		name   string
		groups string
		mounts string            // ROOT stands for a folder
		files  map[string]string // in that folder
		want   string            // in that folder; "" for an error
	}{
		{
			name:   "version 1",
			groups: "9:memory:/a\n8:pids:/b\n0::/\n",
			mounts: "30 24 0:26 / ROOT/memory rw - cgroup cgroup rw,memory\n31 24 0:27 / ROOT/pids rw,nosuid shared:9 - cgroup cgroup rw,pids\n",
			want:   "pids/b",
		},
		{
			name:   "version 1, with another controller",
			groups: "8:cpu,pids:/\n",
			mounts: "31 24 0:27 / ROOT/both rw - cgroup cgroup rw,cpu,pids\n",
			want:   "both",
		},
		{
			name:   "version 1, a part of the tree",
			groups: "8:pids:/docker/abc/x\n",
			mounts: "31 24 0:27 /docker/abc ROOT/pids rw - cgroup cgroup rw,pids\n",
			want:   "pids/x",
		},
		{
			name:   "version 1, not mounted",
			groups: "8:pids:/b\n",
			mounts: "30 24 0:26 / ROOT/memory rw - cgroup cgroup rw,memory\n",
		},
		{
			name:   "version 2, handed on by the group above",
			groups: "0::/user.slice/user-1.slice/session.scope\n",
			mounts: "25 24 0:22 / ROOT rw - cgroup2 cgroup2 rw\n",
			files: map[string]string{
				"cgroup.subtree_control":                                       "cpu pids\n",
				"user.slice/cgroup.subtree_control":                            "cpu pids\n",
				"user.slice/user-1.slice/cgroup.subtree_control":               "memory pids\n",
				"user.slice/user-1.slice/session.scope/cgroup.subtree_control": "",
			},
			want: "user.slice/user-1.slice",
		},
		{
			name:   "version 2, the first group",
			groups: "0::/\n",
			mounts: "25 24 0:22 / ROOT rw - cgroup2 cgroup2 rw\n",
			files:  map[string]string{"cgroup.subtree_control": "memory pids\n"},
			want:   ".",
		},
		{
			name:   "version 2, nobody hands it on",
			groups: "0::/a\n",
			mounts: "25 24 0:22 / ROOT rw - cgroup2 cgroup2 rw\n",
			files:  map[string]string{"cgroup.subtree_control": "memory\n", "a/cgroup.subtree_control": "\n"},
		},
		{name: "none", groups: "1:name=systemd:/\n", mounts: ""},
	}
	for _, test := range tests {
		root, proc := t.TempDir(), t.TempDir()
		for name, text := range test.files {
			name = filepath.Join(root, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range map[string]string{"cgroup": test.groups, "mountinfo": strings.ReplaceAll(test.mounts, "ROOT", root)} {
			if err := os.WriteFile(filepath.Join(proc, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := cgroupParent(proc, "pids")
		if test.want == "" {
			if err == nil {
				t.Errorf("%s: cgroupParent = %s, want an error", test.name, got)
			}
			continue
		}
		if want := filepath.Join(root, test.want); err != nil || got != want {
			t.Errorf("%s: cgroupParent = %s, %v, want %s", test.name, got, err, want)
		}
	}
}

// TestSweepCgroups: a group whose supervisor is gone is removed, and one whose
// supervisor lives is not.
func TestSweepCgroups(t *testing.T) {
	parent, err := cgroupParent("/proc/self", "pids")
	if err != nil {
		t.Skip(err)
	}
	dead, living := filepath.Join(parent, cgroupPrefix+"4194999-0"), filepath.Join(parent, cgroupPrefix+strconv.Itoa(os.Getpid())+"-0")
	for _, dir := range []string{dead, living} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Skip(err)
		}
		defer os.Remove(dir)
	}
	sweepCgroups(parent)
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("sweepCgroups left %s", dead)
	}
	if _, err := os.Stat(living); err != nil {
		t.Errorf("sweepCgroups removed %s: %v", living, err)
	}
}
