package sandbox

import (
	"os"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/internal/process/family"
)

// A census says when a command has too many processes. It is taken often, so it is
// cheap as long as there are few: the kernel counts those of a control group, and
// without one it tells how many were made on the machine since the last time, which
// is the most that can have been added.
type census struct {
	limit  int
	cgroup *cgroup // nil if there is none

	counted int // when it was last counted
	last    int // the process that was made last then; 0 if that is not known
	wrap    int // after this number they begin again
}

func newCensus(limit int) census {
	c := census{limit: limit}
	if data, err := os.ReadFile("/proc/sys/kernel/pid_max"); err == nil {
		c.wrap, _ = strconv.Atoi(strings.TrimSpace(string(data)))
	}
	return c
}

// tooMany reports whether there are more processes than the limit. Dead ones count
// until somebody has waited for them.
func (c *census) tooMany(f *family.Family) bool {
	if c.cgroup != nil {
		tasks := c.cgroup.tasks()
		return tasks >= threadsPerProcess*c.limit || tasks > c.limit && c.cgroup.processes() > c.limit
	}
	made, known := c.made(lastProcess())
	if known && c.counted+made <= c.limit {
		return false
	}
	// Whoever makes that many in that time could be faster than we count.
	burst := known && made > c.limit
	if burst {
		f.Freeze(c.limit + 1)
	}
	c.last = lastProcess()
	c.counted = family.Count(c.limit + 1)
	if burst && c.counted <= c.limit {
		f.Thaw()
	}
	return c.counted > c.limit
}

// made is how many processes were made since the last census at the most, if that is
// known, when last was made last.
func (c *census) made(last int) (n int, known bool) {
	if n = last - c.last; n < 0 {
		n += c.wrap
	}
	return n, last > 0 && c.last > 0 && c.wrap > 0
}

// lastProcess is the number of the process that was made last in our namespace, or 0 if
// the kernel does not tell.
func lastProcess() int {
	data, _ := os.ReadFile("/proc/loadavg") // see lastIn
	return lastIn(string(data))
}

// lastIn is lastProcess as the kernel tells it with the load.
func lastIn(load string) int {
	fields := strings.Fields("0 " + load)
	n, _ := strconv.Atoi(fields[len(fields)-1]) // 0 if it is none
	return max(n, 0)
}
