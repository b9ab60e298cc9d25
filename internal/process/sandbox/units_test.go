//go:build linux

package sandbox

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/internal/process/family"
	"github.com/maker-mdap/maker/internal/process/protect"
)

// TestDefaultLimits: what is not set has a bound all the same.
func TestDefaultLimits(t *testing.T) {
	defaults := Limits{Processes: 512, FileBytes: 1 << 30, CPU: 10 * time.Minute, Grace: 2 * time.Second}
	own := Limits{Processes: 3, FileBytes: 4, CPU: 5, Grace: 6}
	if got := (Limits{}).withDefaults(); got != defaults {
		t.Errorf("withDefaults() = %+v, want %+v", got, defaults)
	}
	if got := own.withDefaults(); got != own {
		t.Errorf("withDefaults(%+v) = %+v", own, got)
	}
}

// TestDescribe: one line says what is in force.
func TestDescribe(t *testing.T) {
	for _, test := range []struct {
		s    Sandbox
		want string
	}{
		{Sandbox{level: None}, "none: commands have your rights, files and network included"},
		{Sandbox{level: None, why: []string{"a", "b"}}, "none: commands have your rights, files and network included [a; b]"},
		{Sandbox{level: Landlock}, "landlock: commands change only the workspace and do not see your home folder; no network"},
		{Sandbox{level: Bubblewrap, options: Options{Network: true}, detail: "x"}, "bubblewrap: commands change only the workspace and do not see your home folder; the network is allowed (x)"},
	} {
		if got := test.s.Describe(); got != test.want {
			t.Errorf("Describe() = %q, want %q", got, test.want)
		}
	}
	for want, m := range map[string]means{
		"": {}, "a control group": {Cgroup: true}, "a PID namespace": {PIDs: true}, "a control group and a PID namespace": {Cgroup: true, PIDs: true},
	} {
		if got := m.String(); got != want {
			t.Errorf("%+v = %q, want %q", m, got, want)
		}
	}
}

// TestLacking: what a version of Landlock cannot do is said, and one that is too old is
// refused.
func TestLacking(t *testing.T) {
	const arch = 0xC000003E
	for _, test := range []struct {
		abi           int
		err           error
		arch          uint32
		want          string
		fails, refuse bool
	}{
		{abi: 7, arch: arch},
		{abi: 6, arch: arch},
		{abi: 5, arch: arch, want: "they can signal your processes"},
		{abi: 3, want: "they can signal your processes; only TCP is blocked"},
		{abi: 6, want: "only TCP is blocked"},
		{abi: 2, arch: arch, fails: true, refuse: true},
		{err: syscall.ENOSYS, arch: arch, fails: true, refuse: true},
		{abi: 7, err: syscall.ENOMEM, arch: arch, fails: true},
	} {
		got, err := lacking(test.abi, test.err, test.arch)
		_, refused := errors.AsType[*refusal](err)
		if got != test.want || (err != nil) != test.fails || refused != test.refuse {
			t.Errorf("lacking(%d, %v, %x) = %q, %v (refused: %t), want %q (%t)", test.abi, test.err, test.arch, got, err, refused, test.want, test.refuse)
		}
	}
}

// TestNamespacesAllowed: a limit of 0 is for good.
func TestNamespacesAllowed(t *testing.T) {
	for limit, want := range map[string]bool{"0\n": false, "15000\n": true, "": true} {
		dir := t.TempDir()
		if limit != "" {
			if err := os.WriteFile(filepath.Join(dir, "max_net_namespaces"), []byte(limit), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := allowedBy(dir); got != want {
			t.Errorf("allowedBy() with the limit %q = %t, want %t", limit, got, want)
		}
	}
}

// TestOpenBeneath: no name leads out of the folder, or through a link.
func TestOpenBeneath(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "file"), nil, 0o600), os.Symlink(".", filepath.Join(dir, "way"))); err != nil {
		t.Fatal(err)
	}
	top, err := syscall.Open(dir, openPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(top)
	for name, want := range map[string]bool{"file": true, "way/file": false, "../x": false, "/etc": false, "none": false, "nul\x00": false} {
		fd, err := openBeneath(top, name)
		if (err == nil) != want || want && fd <= top {
			t.Errorf("openBeneath(%q) = %d, %v, want it opened: %t", name, fd, err, want)
		}
		if err == nil {
			syscall.Close(fd)
		}
	}
}

// TestObeyTime: a supervisor has the time to kill everybody.
func TestObeyTime(t *testing.T) {
	if obeyTime <= family.KillTime {
		t.Errorf("a supervisor has %s, want more than %s", obeyTime, family.KillTime)
	}
}

// TestHasMounts: mounts are made only where there is something to protect by them.
func TestHasMounts(t *testing.T) {
	_, set, _ := protectedTree(t)
	for _, test := range []struct {
		s    Sandbox
		want bool
	}{
		{Sandbox{level: Landlock}, false},
		{Sandbox{level: Landlock, options: Options{Protected: set}}, true},
		{Sandbox{level: Landlock, options: Options{Protected: set}, without: means{PIDs: true}}, false},
		{Sandbox{level: Landlock, options: Options{Protected: set}, without: means{Mounts: true}}, false},
		{Sandbox{level: Bubblewrap, options: Options{Protected: set}}, false}, // which has its own
	} {
		if got := test.s.hasMounts(); got != test.want {
			t.Errorf("hasMounts() at level %s, %d to protect, without %+v = %t, want %t", test.s.level, len(test.s.options.Protected.Paths()), test.s.without, got, test.want)
		}
	}
}

// TestWhatBubblewrapSays: only what is for good means that there is no bubblewrap.
func TestWhatBubblewrapSays(t *testing.T) {
	for said, want := range map[string]bool{
		"bwrap: Creating new namespace failed: Operation not permitted": true,
		"bwrap: setting up uid map: Permission denied":                  true,
		"bwrap: No permissions to create new namespace":                 true,
		"bwrap: Unknown option --unshare-all":                           true,
		"bwrap: error while loading shared libraries: libcap.so.2":      true,
		"bwrap: Can't fork for pid 1: Resource temporarily unavailable": false,
		"bwrap: Can't mount proc: Cannot allocate memory":               false,
		"": false,
	} {
		if got := refusedByBubblewrap(said); got != want {
			t.Errorf("refusedByBubblewrap(%q) = %t, want %t", said, got, want)
		}
	}
}

// TestEnvironmentIsNamed: nothing is let in but by its name.
func TestEnvironmentIsNamed(t *testing.T) {
	t.Setenv("SECRET_KEY", "sk-1")
	t.Setenv("LANG", "C")
	t.Setenv("TERM", "")
	t.Setenv("PATH", "/p")
	if diff := cmp.Diff([]string{"PATH=/p", "HOME=/h", "LANG=C", "TMPDIR=/t"}, environment("/h", "/t")); diff != "" {
		t.Errorf("environment() (-want +got):\n%s", diff)
	}
	t.Setenv("PATH", "")
	if diff := cmp.Diff([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/h", "LANG=C"}, environment("/h", "")); diff != "" {
		t.Errorf("environment() without a path (-want +got):\n%s", diff)
	}
}

// TestWithin: a folder is in itself, and not in one whose name only begins like its own.
func TestWithin(t *testing.T) {
	for _, test := range []struct {
		dir, path string
		want      bool
	}{{"/a", "/a", true}, {"/a", "/a/b", true}, {"/a/", "/a/b", true}, {"/a", "/ab", false}, {"/a/b", "/a", false}, {"/", "/a", true}} {
		if got := protect.Within(test.dir, test.path); got != test.want {
			t.Errorf("Within(%s, %s) = %t, want %t", test.dir, test.path, got, test.want)
		}
		if got := (view{readable: []string{"/x", test.dir}}).shows(test.path); got != test.want {
			t.Errorf("shows(%s) of %s = %t, want %t", test.path, test.dir, got, test.want)
		}
	}
}

// group is what the kernel would say about a control group.
func group(t *testing.T, tasks, processes, threads int, version1 bool) *cgroup {
	t.Helper()
	c := &cgroup{t.TempDir()}
	name := "cgroup.threads"
	if version1 {
		name = "tasks"
	}
	for name, text := range map[string]string{
		"pids.current": strconv.Itoa(tasks) + "\n", "cgroup.procs": strings.Repeat("7\n", processes), name: strings.Repeat("7\n", threads),
	} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestCensusOfAGroup: a group may have so many processes, the dead included, and many
// more threads, but not any number.
func TestCensusOfAGroup(t *testing.T) {
	const limit = 10
	for _, test := range []struct {
		name                      string
		tasks, processes, threads int
		want                      bool
	}{
		{"nobody", 0, 0, 0, false},
		{"as many as may be", limit, limit, limit, false},
		{"one more", limit + 1, limit + 1, limit + 1, true},
		{"one more is dead", limit + 1, limit, limit, true},
		{"as many, one is dead", limit, limit - 1, limit - 1, false},
		{"threads", limit + 5, 3, limit + 5, false},
		{"as many, with threads", limit + 5, limit, limit + 5, false},
		{"one more, with threads", limit + 5, limit + 1, limit + 5, true},
		{"threads and the dead", limit + 5, 3, limit - 3, true},
		{"nearly too many threads", threadsPerProcess*limit - 1, 1, threadsPerProcess*limit - 1, false},
		{"too many threads", threadsPerProcess * limit, 1, threadsPerProcess * limit, true},
	} {
		for _, version1 := range []bool{true, false} {
			c := census{limit: limit, cgroup: group(t, test.tasks, test.processes, test.threads, version1)}
			if got := c.tooMany(nil); got != test.want {
				t.Errorf("%s (version 1: %t): tooMany() = %t, want %t", test.name, version1, got, test.want)
			}
			if want := test.processes + max(0, test.tasks-test.threads); c.cgroup.processes() != want {
				t.Errorf("%s (version 1: %t): %d processes, want %d", test.name, version1, c.cgroup.processes(), want)
			}
		}
	}
	if gone := (&cgroup{filepath.Join(t.TempDir(), "gone")}); gone.tasks() != 0 || gone.processes() != 0 {
		t.Errorf("a group that is gone has %d tasks and %d processes", gone.tasks(), gone.processes())
	}
}

// TestCensusWithoutAGroup counts our own children, and only if as many were made that
// there could be too many.
func TestCensusWithoutAGroup(t *testing.T) {
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Skip(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait() // killed
	}()
	if last := lastProcess(); last <= 0 {
		t.Skip("the kernel does not tell who was made last")
	}
	for limit, want := range map[int]bool{0: true, 1: false, 2: false, 1000: false} {
		c := newCensus(limit)
		if c.last != 0 || c.wrap <= 0 {
			t.Errorf("newCensus() = %+v, want that nobody was counted", c)
		}
		if got := c.tooMany(nil); got != want || c.last <= 0 || c.counted != 1 {
			t.Errorf("tooMany() of 1 with a limit of %d = %t, %+v, want %t", limit, got, c, want)
		}
	}
	// What cannot be too many is not counted.
	c := census{limit: math.MaxInt32, last: lastProcess(), wrap: 1 << 22, counted: 77}
	if got := c.tooMany(nil); got || c.counted != 77 {
		t.Errorf("tooMany() = %t, %+v, want that nobody was counted", got, c)
	}
	// Numbers begin again after the last one.
	c = census{limit: math.MaxInt32, last: 1<<22 - 1, wrap: 1 << 22, counted: 77}
	if got := c.tooMany(nil); got || c.counted != 77 {
		t.Errorf("tooMany() after the numbers began again = %t, %+v, want that nobody was counted", got, c)
	}
}

// TestUserThreads counts what the kernel counts for its limit: ours, and not nobody's.
func TestUserThreads(t *testing.T) {
	if got := userThreads(os.Getuid()); got < 1 {
		t.Errorf("userThreads(us) = %d, want ourselves at least", got)
	}
	if got := userThreads(math.MaxInt32 - 7); got != 0 {
		t.Errorf("userThreads(of nobody) = %d, want 0", got)
	}
}

// TestLimitsOfAUser: threads of users are counted by the kernel, those of root are not.
func TestLimitsOfAUser(t *testing.T) {
	l := Limits{Processes: 5, FileBytes: 7, CPU: 1500 * time.Millisecond, Grace: 2500 * time.Millisecond}
	want := map[int]syscall.Rlimit{syscall.RLIMIT_CORE: {}, syscall.RLIMIT_FSIZE: {Cur: 7, Max: 7}, syscall.RLIMIT_CPU: {Cur: 2, Max: 5}}
	if diff := cmp.Diff(want, l.ofUser(0)); diff != "" {
		t.Errorf("the limits of root: -want +got\n%s", diff)
	}
	want[rlimitProcesses] = syscall.Rlimit{Cur: 40, Max: 40}
	if diff := cmp.Diff(want, l.ofUser(math.MaxInt32-7)); diff != "" { // nobody's
		t.Errorf("the limits of a user: -want +got\n%s", diff)
	}
}

// TestLimitsOfAProcess: a process can lower its limits, and those who have lower ones
// keep them.
func TestLimitsOfAProcess(t *testing.T) {
	inChild(t, func() {
		c := confinement{Limits: Limits{Processes: 5, FileBytes: 1 << 24, CPU: 1500 * time.Millisecond, Grace: 2500 * time.Millisecond}}
		if err := c.limit(); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[int]syscall.Rlimit{
			syscall.RLIMIT_CORE: {}, syscall.RLIMIT_FSIZE: {Cur: 1 << 24, Max: 1 << 24}, syscall.RLIMIT_CPU: {Cur: 2, Max: 5},
		} {
			var got syscall.Rlimit
			if err := syscall.Getrlimit(name, &got); err != nil || got != want {
				t.Errorf("limit %d = %+v, %v, want %+v", name, got, err, want)
			}
		}
		c.Limits.FileBytes, c.Limits.CPU = 1<<40, time.Hour // more than it has now
		if err := c.limit(); err != nil {
			t.Fatal(err)
		}
		var got syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &got); err != nil || got.Max != 1<<24 {
			t.Errorf("the limit on files was raised to %+v, %v", got, err)
		}
	})
}

// inChild has f run in a process of its own, with a group of its own, in a test that does
// nothing else.
func inChild(t *testing.T, f func()) {
	t.Helper()
	const name = "MAKER_SANDBOX_CHILD"
	if os.Getenv(name) == t.Name() {
		f()
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), name+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestCapabilitiesThatThereAreNot: those that the kernel does not know are no reason to
// give up.
func TestCapabilitiesThatThereAreNot(t *testing.T) {
	inChild(t, func() {
		runtime.LockOSThread() // which they belong to
		if err := (confinement{}).dropCapabilities(); err != nil && err != syscall.EPERM {
			t.Errorf("dropCapabilities() = %v", err)
		}
	})
}

// TestKillOfOthers: processes that the kernel lists without a number, because they are in
// another namespace, are not ours, and 0 would be all of our own.
func TestKillOfOthers(t *testing.T) {
	inChild(t, func() {
		dir := t.TempDir()
		if err := errors.Join(
			os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte("0\n"), 0o600),
			os.Mkdir(filepath.Join(dir, "cgroup.kill"), 0o700), // which cannot be written
		); err != nil {
			t.Fatal(err)
		}
		(&cgroup{dir}).kill()
	})
}

// TestProgramsOfTheUser: folders of PATH that are hidden otherwise are shown, and those that
// are not there are left out.
func TestProgramsOfTheUser(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	installed, missing := t.TempDir(), filepath.Join(t.TempDir(), "missing") // below /tmp, which is hidden
	t.Setenv("PATH", installed+":"+missing+":relative:/usr/bin")
	shown := new(Sandbox).view().readable
	for dir, want := range map[string]bool{installed: true, missing: false, "relative": false, "/usr/bin": false} {
		if got := slices.Contains(shown, dir); got != want {
			t.Errorf("%s is shown by itself: %t, want %t", dir, got, want)
		}
	}
}
