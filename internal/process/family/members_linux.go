package family

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Self is the number of this process in /proc, which shows those of another
// namespace if this process is in one of its own.
func Self() int {
	if name, err := os.Readlink("/proc/self"); err == nil {
		if pid, err := strconv.Atoi(name); err == nil {
			return pid
		}
	}
	return os.Getpid()
}

// Members returns the living descendants of this process, the nearest first; at
// most limit of them, unless that is 0. Zombies are not alive.
func Members(limit int) []int {
	var all []int
	walk(func(pid int, p process) bool {
		if p.alive() {
			all = append(all, pid)
		}
		return limit == 0 || len(all) < limit
	})
	return all
}

// Count returns how many processes descend from this one, up to limit. Zombies count,
// because they take a place among the processes of the machine, but for those that
// this process is about to wait for.
func Count(limit int) int {
	n, self := 0, Self()
	walk(func(_ int, p process) bool {
		if p.alive() || p.parent != self {
			n++
		}
		return n < limit
	})
	return n
}

// stop stops every living descendant, group by group where it can, and returns them.
// It looks again until it finds nobody new, or has found limit of them, unless that
// is 0.
func stop(limit int) []int {
	var all []int
	known, groups := map[int]bool{}, map[int]bool{}
	enough := func() bool { return limit > 0 && len(all) >= limit }
	for found := true; found && !enough(); {
		found = false
		walk(func(pid int, p process) bool {
			if known[pid] || !p.alive() {
				return true
			}
			found, known[pid] = true, true
			all = append(all, pid)
			// A group is stopped in one moment, all of a bomb with it. Ours is not among
			// them: a child starts in a session of its own, and cannot come back.
			if p.group > 1 && p.group != syscall.Getpgrp() && !groups[p.group] {
				groups[p.group] = true
				_ = syscall.Kill(-p.group, syscall.SIGSTOP)
			}
			_ = syscall.Kill(pid, syscall.SIGSTOP)
			return !enough()
		})
	}
	return all
}

// heads returns those of the nearest descendants that are the first of a PID
// namespace. With them the kernel kills everybody in it.
func heads() []int {
	const near = 8 // a wrapper, and what it starts
	var out []int
	depth := len(numbers(Self()))
	for _, pid := range Members(near) {
		if n := numbers(pid); len(n) > depth && n[len(n)-1] == 1 {
			out = append(out, pid)
		}
	}
	return out
}

// numbers are those of a process in /proc, from the namespace that /proc shows to
// the one that the process is in.
func numbers(pid int) []int {
	data, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status") // it may be gone
	var out []int
	for line := range strings.Lines(string(data)) {
		if list, ok := strings.CutPrefix(line, "NSpid:"); ok {
			for field := range strings.FieldsSeq(list) {
				n, err := strconv.Atoi(field)
				if err != nil {
					return nil
				}
				out = append(out, n)
			}
		}
	}
	return out
}

// walk shows the descendants of this process to visit, the nearest first, until it
// returns false.
func walk(visit func(pid int, p process) bool) {
	children := childrenByThread
	if _, err := os.Stat("/proc/thread-self/children"); err != nil {
		children = childrenByParent()
	}
	type parent struct{ pid, threads int }
	for queue := []parent{{Self(), 0}}; len(queue) > 0; queue = queue[1:] {
		for _, pid := range children(queue[0].pid, queue[0].threads) {
			p, ok := readStat(pid)
			if !ok {
				continue
			}
			if !visit(pid, p) {
				return
			}
			if p.alive() { // the dead have no children
				queue = append(queue, parent{pid, p.threads})
			}
		}
	}
}

// childrenByThread asks the kernel, which not every kernel is built for. It is quicker
// if the process is known to have one thread.
func childrenByThread(pid, threads int) []int {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	names := []string{strconv.Itoa(pid)}
	if threads != 1 {
		names = nil
		entries, _ := os.ReadDir(tasks) // a process that has ended has no children
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	var out []int
	for _, name := range names {
		for field := range bytes.FieldsSeq(readProc(tasks + name + "/children")) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				out = append(out, child)
			}
		}
	}
	return out
}

// readProc reads a file of /proc with few system calls, because whoever is looked for
// may be in a hurry. It is empty if the process is gone.
func readProc(name string) []byte {
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	data := make([]byte, 0, 1024)
	for {
		n, err := syscall.Read(fd, data[len(data):cap(data)])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return data
		}
		if data = data[:len(data)+n]; len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// childrenByParent looks at all processes of the machine, once.
func childrenByParent() func(pid, threads int) []int {
	of := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if p, ok := readStat(pid); ok {
				of[p.parent] = append(of[p.parent], pid)
			}
		}
	}
	return func(pid, _ int) []int { return of[pid] }
}

// A process is what the kernel says about one.
type process struct {
	state                  byte
	parent, group, threads int
}

// alive reports whether the process can still do something. The state is that of its
// first thread, which may have ended before the others.
func (p process) alive() bool { return p.state != 'Z' && p.state != 'X' || p.threads > 1 }

// readStat reads what there is to know about a process. The name before it may
// contain anything, but no field after it contains a bracket.
func readStat(pid int) (process, bool) {
	data := readProc("/proc/" + strconv.Itoa(pid) + "/stat")
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	const last = 17 // the number of threads
	if len(fields) <= last {
		return process{}, false
	}
	p := process{state: fields[0][0]}
	var errs [3]error
	p.parent, errs[0] = strconv.Atoi(fields[1])
	p.group, errs[1] = strconv.Atoi(fields[2])
	p.threads, errs[2] = strconv.Atoi(fields[last])
	return p, errors.Join(errs[:]...) == nil
}
