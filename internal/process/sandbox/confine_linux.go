package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
)

// A confinement is what a process does to itself before it becomes a command.
type confinement struct {
	Args   []string
	Env    []string
	Limits Limits

	Landlock bool
	Network  bool
	Readable []string
	Writable []string
}

// confine reads its orders from file 3, and reports on file 4 why it could not
// follow them. Both are closed when the command takes over.
func confine() int {
	runtime.LockOSThread() // filters and capabilities belong to a thread
	reports := os.NewFile(4, "reports")
	syscall.CloseOnExec(4)
	syscall.CloseOnExec(3)
	var c confinement
	err := json.NewDecoder(os.NewFile(3, "orders")).Decode(&c)
	if err == nil {
		err = c.become()
	}
	_ = json.NewEncoder(reports).Encode(failed(err))
	return 126
}

// become returns only if it failed.
func (c confinement) become() error {
	if err := c.limit(); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	if c.Landlock {
		for _, step := range []struct {
			name string
			take func() error
		}{
			{"capabilities", c.dropCapabilities},
			{"powers in the namespace", dropAmbient},
			{"rules", c.restrict},
			{"filter on system calls", func() error { return filterSockets(c.Network) }},
		} {
			switch err := step.take(); {
			case isRefusal(err):
				return refuse("%s: %v", step.name, err)
			case err != nil:
				return fmt.Errorf("%s: %w", step.name, err)
			}
		}
	}
	return fmt.Errorf("%s: %w", c.Args[0], syscall.Exec(c.Args[0], c.Args, c.Env))
}

const rlimitProcesses = 6 // RLIMIT_NPROC, which package syscall does not know

// threadsPerProcess is how many threads processes may have on average. The kernel
// counts threads, and programs with many of them are common.
const threadsPerProcess = 8

// ofUser are the limits of the kernel for a user's process.
func (l Limits) ofUser(uid int) map[int]syscall.Rlimit {
	seconds := uint64(math.Ceil(l.CPU.Seconds()))
	limits := map[int]syscall.Rlimit{
		syscall.RLIMIT_CORE:  {},
		syscall.RLIMIT_FSIZE: {Cur: uint64(l.FileBytes), Max: uint64(l.FileBytes)},
		// One that ignores the warning is killed.
		syscall.RLIMIT_CPU: {Cur: seconds, Max: seconds + uint64(math.Ceil(l.Grace.Seconds()))},
	}
	if uid != 0 { // the kernel does not count those of root
		// It counts all of the user's, whatever started them.
		most := uint64(userThreads(uid) + threadsPerProcess*l.Processes)
		limits[rlimitProcesses] = syscall.Rlimit{Cur: most, Max: most}
	}
	return limits
}

func (c confinement) limit() error {
	for resource, limit := range c.Limits.ofUser(os.Getuid()) {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(resource, &now); err != nil {
			return err
		}
		limit.Cur, limit.Max = min(limit.Cur, now.Max), min(limit.Max, now.Max)
		if err := syscall.Setrlimit(resource, &limit); err != nil {
			return err
		}
	}
	return nil
}

// restrict lets in what the view shows, and some devices.
func (c confinement) restrict() error {
	rules := []landlock.Rule{
		landlock.RODirs(c.Readable...).IgnoreIfMissing(),
		landlock.RWDirs(c.Writable...).WithRefer(),
		landlock.RWFiles("/dev/null", "/dev/zero", "/dev/full", "/dev/tty").IgnoreIfMissing(),
		landlock.ROFiles("/dev/random", "/dev/urandom",
			"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/uptime", "/proc/version", "/proc/filesystems",
			"/proc/sys/kernel/osrelease", "/proc/sys/kernel/random/uuid", "/proc/sys/vm/overcommit_memory").IgnoreIfMissing(),
	}
	// The kernel's version was checked when the level was chosen.
	config := landlock.V11.BestEffort()
	if !c.Network {
		return config.Restrict(rules...)
	}
	return errors.Join(config.RestrictPaths(rules...), config.RestrictScoped())
}

const (
	prCapBoundingDrop = 24
	capDACOverride    = 1  // a workspace may belong to somebody else
	capabilities      = 64 // more than there are
)

// dropCapabilities takes root's powers over the machine away, which Landlock does
// not cover: setting the clock, loading modules, restarting, giving files away.
func (c confinement) dropCapabilities() error {
	if os.Geteuid() != 0 {
		return nil
	}
	for capability := range uintptr(capabilities) {
		if capability == capDACOverride {
			continue
		}
		if err := prctl(prCapBoundingDrop, capability); err != nil && err != syscall.EINVAL { // no such capability
			return err
		}
	}
	return nil
}

// userThreads counts the threads of a user, as the kernel does for its limit.
func userThreads(uid int) int {
	count := 0
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		info, err := os.Stat("/proc/" + e.Name() + "/task")
		if err != nil {
			continue
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) == uid {
			tasks, _ := os.ReadDir("/proc/" + e.Name() + "/task")
			count += len(tasks)
		}
	}
	return count
}
