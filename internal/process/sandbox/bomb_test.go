//go:build linux

package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// forks is how many processes a bounded bomb makes: far more than a command may
// have, and few enough that a machine survives them.
const forks = 3000

// fork is the system call as a bomb makes it, with nothing that slows it down. The
// child can do no more than make system calls: it has no scheduler, so whatever could
// call for one, such as the check of the stack, is switched off from here on.
//
//go:norace
//go:nosplit
func fork() int {
	pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		return -1
	}
	return int(pid)
}

//go:norace
//go:nosplit
func pause() {
	for {
		_, _, _ = syscall.RawSyscall6(syscall.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
	}
}

//go:norace
//go:nosplit
func leave() { _, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0) }

// bomb makes n processes, or as many as it can. It does not come to an end by
// itself.
//
//go:norace
//go:nosplit
func bomb(kind string, n int) error {
	runtime.LockOSThread()
	switch kind {
	case "living":
	case "headless": // the thread that the process is known by ends before the others
		go func() {
			runtime.LockOSThread()
			spread("living", n)
		}()
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
	case "endless":
		for {
			fork()
		}
	case "endless zombies":
		for {
			if fork() == 0 {
				leave()
			}
		}
	case "endless sessions": // no group to find them by
		for {
			if fork() == 0 {
				_, _, _ = syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
			}
		}
	case "chain": // whoever is found is gone already
		for i := 0; i < n; i++ {
			if fork() != 0 {
				leave()
			}
			_, _, _ = syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
		}
		pause()
	}
	spread(kind, n)
	return errors.New("it ended")
}

//go:norace
//go:nosplit
func spread(kind string, n int) {
	for i := 0; i < n; i++ {
		if fork() > 0 {
			if kind == "orphans" {
				_, _ = syscall.Wait4(-1, nil, 0, nil)
			}
			continue
		}
		switch kind {
		case "zombies": // nobody waits for them
			leave()
		case "orphans":
			if fork() != 0 {
				leave()
			}
		case "sessions":
			_, _, _ = syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
		}
		pause()
	}
	pause()
}

// A yard is a set of control groups around a process that a test does not trust. It
// keeps the machine safe, and knows who has survived.
type yard struct{ pids, memory *cgroup }

// openYard makes one, and makes sure that its limits are in force.
func openYard(t *testing.T, processes int) (*yard, error) {
	t.Helper()
	const memory = 4 << 30
	y := &yard{}
	for _, group := range []struct {
		controller string
		to         **cgroup
		limits     map[string]int // by file, one of which has to be there
	}{
		{"pids", &y.pids, map[string]int{"pids.max": processes}},
		{"memory", &y.memory, map[string]int{"memory.limit_in_bytes": memory, "memory.max": memory}},
	} {
		parent, err := cgroupParent("/proc/self", group.controller)
		if err != nil {
			return nil, err
		}
		c := &cgroup{filepath.Join(parent, fmt.Sprintf("makertest-%d-%d", os.Getpid(), time.Now().UnixNano()))}
		if y.pids != nil && filepath.Dir(y.pids.dir) == parent {
			c = y.pids // version 2 has all controllers in one group
		} else if err := os.Mkdir(c.dir, 0o755); err != nil {
			return nil, err
		}
		*group.to = c
		t.Cleanup(y.close)
		limited := false
		for file, limit := range group.limits {
			if err := c.set(file, strconv.Itoa(limit)); err != nil {
				continue
			}
			now, err := c.get(file)
			limited = limited || err == nil && now == strconv.Itoa(limit)
		}
		if !limited {
			return nil, fmt.Errorf("%s has no limit", c.dir)
		}
	}
	return y, nil
}

// all are the group and those that were made in it.
func (y *yard) all() []*cgroup {
	all := []*cgroup{y.pids}
	entries, _ := os.ReadDir(y.pids.dir)
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, &cgroup{filepath.Join(y.pids.dir, e.Name())})
		}
	}
	return all
}

// survivors are the processes that are still there.
func (y *yard) survivors() int {
	n := 0
	for _, c := range y.all() {
		n += c.count("cgroup.procs")
	}
	return n
}

func (y *yard) peak() int {
	text, _ := y.pids.get("pids.peak")
	n, _ := strconv.Atoi(text)
	return n
}

// kill kills whoever is left.
func (y *yard) kill() {
	deadline := time.Now().Add(20 * time.Second)
	for y.pids.tasks() > 0 && time.Now().Before(deadline) {
		for _, c := range y.all() {
			c.kill()
		}
	}
}

// close removes the groups, with whoever is in them: a test has complained about
// those already.
func (y *yard) close() {
	if y.pids == nil {
		return
	}
	y.kill()
	all := y.all()
	slices.Reverse(all)
	for _, c := range append(all, y.memory) {
		if c != nil {
			c.remove()
		}
	}
	y.pids = nil
}

// bombs are what the tests found, for the summary.
var bombs struct {
	sync.Mutex
	lines []string
}

func noteBomb(format string, args ...any) {
	bombs.Lock()
	defer bombs.Unlock()
	bombs.lines = append(bombs.lines, fmt.Sprintf(format, args...))
}

func printBombs() {
	for _, line := range bombs.lines {
		fmt.Println("fork bomb:", line)
	}
}

// setting is where a bomb goes off.
type setting struct {
	level   Level
	uid     int
	without means
}

func (s setting) String() string {
	who := "as root"
	if s.uid != 0 {
		who = "as a user"
	}
	if s.without != (means{}) {
		who += fmt.Sprintf(" without %s", s.without)
	}
	return string(s.level) + " " + who
}

// settings are all that can be had here: with every means that the kernel offers, or
// without some of them, as on machines that do not.
func settings() []setting {
	var all []setting
	for _, level := range []Level{Bubblewrap, Landlock, None} {
		uids := []int{os.Getuid()}
		if os.Getuid() == 0 {
			uids = append(uids, 65534)
		}
		for _, uid := range uids {
			all = append(all, setting{level: level, uid: uid}, setting{level: level, uid: uid, without: means{Cgroup: true}})
			if level == Landlock {
				all = append(all, setting{level: level, uid: uid, without: means{PIDs: true}}, setting{level: level, uid: uid, without: means{PIDs: true, Cgroup: true}})
			}
		}
	}
	return all
}

// everyBomb says that every bomb goes off in every setting. It is a minute of heavy
// work, which other tests on the same machine would notice.
var everyBomb = os.Getenv("MAKER_TEST_BOMBS") == "all"

// pick returns those of all kinds that go off in a setting, the first being the least.
func (s setting) pick(kinds ...string) []string {
	switch {
	case everyBomb, s.level == Landlock && s.uid == 0 && s.without == (means{}):
		return kinds
	case s.without == (means{}), s.level == Landlock:
		return kinds[:1]
	}
	return nil
}

// explode sets a bomb off and returns what became of it.
func (s setting) explode(t *testing.T, y *yard, kind string, n, limit int) (parentReport, time.Duration) {
	t.Helper()
	workspace, err := os.MkdirTemp("", "maker-bomb-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(workspace) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if s.uid != os.Getuid() {
		// Neither this program nor the folders of tests are for everybody.
		public := filepath.Join(workspace, "bomb")
		if err := errors.Join(os.Chmod(workspace, 0o777), exec.Command("cp", self, public).Run(), os.Chmod(public, 0o755)); err != nil {
			t.Fatal(err)
		}
		self = public
	}
	job := parentJob{
		Workspace: workspace, Level: s.level, Args: []string{self, "probe", "bomb", kind, strconv.Itoa(n)},
		Readable: []string{filepath.Dir(self)}, Without: s.without, Processes: limit,
	}
	if y != nil {
		job.Yard = []string{y.pids.dir, y.memory.dir}
	}
	cmd := parent(t, job)
	if s.uid != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(s.uid), Gid: uint32(s.uid)}}
		if y != nil { // only root may go into its groups
			for _, dir := range job.Yard {
				if err := os.Chmod(filepath.Join(dir, "cgroup.procs"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	var out, report bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &report
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Whatever happens, a bomb does not outlive this.
	defer time.AfterFunc(time.Minute, func() {
		_ = cmd.Process.Kill()
		if y != nil {
			y.kill()
		}
	}).Stop()
	err = cmd.Wait()
	took := time.Since(start)
	if strings.HasPrefix(out.String(), "no sandbox") {
		t.Skip(out.String())
	}
	var r parentReport
	if jsonErr := json.Unmarshal(report.Bytes(), &r); err != nil || jsonErr != nil {
		t.Fatalf("Run(%s bomb) = %v, output %s %s", kind, err, &out, &report)
	}
	return r, took
}

func TestForkBomb(t *testing.T) {
	if err := installBubblewrap(); err != nil {
		t.Log(err)
	}
	for _, s := range settings() {
		for _, kind := range s.pick("zombies", "living", "orphans", "sessions", "headless") {
			t.Run(s.String()+"/"+kind, func(t *testing.T) {
				y, err := openYard(t, 2*forks)
				if err != nil {
					y = nil
					t.Logf("survivors are not counted: %v", err)
				}
				r, took := s.explode(t, y, kind, forks, 512)
				if want := "512 processes"; r.Limit != want || r.ExitCode == 0 {
					t.Errorf("Run(%d forks, %s) = %+v, want the limit of %s", forks, kind, r, want)
				}
				if y == nil {
					return
				}
				if left := y.survivors(); left > 0 {
					t.Errorf("Run(%d forks, %s) left %d processes, want 0", forks, kind, left)
				}
				// Only root can have the kernel count; otherwise they are looked for, now and then.
				if peak := y.peak(); peak >= forks && s.without == (means{}) && s.uid == 0 {
					t.Errorf("Run(%d forks, %s) had %d processes and threads at a time, want the limit to end it before", forks, kind, peak)
				}
				noteBomb("bounded (%d forks, %s), %s: ended after %s with %d at a time, %d survived", forks, kind, s, took.Round(time.Millisecond), y.peak(), y.survivors())
			})
		}
	}
}

func TestEndlessForkBomb(t *testing.T) {
	for _, s := range settings() {
		for _, kind := range s.pick("endless", "endless zombies", "endless sessions") {
			t.Run(s.String()+"/"+kind, func(t *testing.T) {
				y, err := openYard(t, 1000) // more would stall a small machine for minutes
				if err != nil {
					noteBomb("unbounded (%s), %s: not tried, because it could harm the machine (%v)", kind, s, err)
					t.Skip(err)
				}
				r, took := s.explode(t, y, kind, 0, 100)
				if want := "100 processes"; r.Limit != want {
					t.Errorf("Run(%s) = %+v, want the limit of %s", kind, r, want)
				}
				if left := y.survivors(); left > 0 {
					t.Errorf("Run(%s) left %d processes, want 0", kind, left)
				}
				noteBomb("unbounded (%s), %s: ended after %s with %d at a time, %d survived", kind, s, took.Round(time.Millisecond), y.peak(), y.survivors())
			})
		}
	}
}

// TestChainOfForks: when somebody is found, it has ended already, and its child is
// elsewhere.
func TestChainOfForks(t *testing.T) {
	const generations = 300_000 // some minutes, if nobody ends it
	for _, s := range settings() {
		if len(s.pick("chain")) == 0 {
			continue
		}
		t.Run(s.String(), func(t *testing.T) {
			y, err := openYard(t, 1000)
			if err != nil {
				t.Skip(err)
			}
			r, took := s.explode(t, y, "chain", generations, 100)
			if r.ExitCode != 0 || r.Limit != "" {
				t.Errorf("Run(chain) = %+v, want it to end by itself", r)
			}
			if left := y.survivors(); left > 0 {
				t.Errorf("Run(chain) left %d processes, want 0", left)
			}
			noteBomb("chain of forks, %s: ended after %s, %d survived", s, took.Round(time.Millisecond), y.survivors())
		})
	}
}
