package family

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// Members returns the living descendants of this process, the nearest first; at
// most limit of them, unless that is 0. Zombies are not alive.
func Members(limit int) []int {
	children := childrenByThread
	if _, err := os.Stat("/proc/thread-self/children"); err != nil {
		children = childrenByParent()
	}
	var all []int
	for queue := []int{os.Getpid()}; len(queue) > 0; queue = queue[1:] {
		for _, pid := range children(queue[0]) {
			queue = append(queue, pid)
			if !isZombie(pid) {
				all = append(all, pid)
			}
			if limit > 0 && len(all) >= limit {
				return all
			}
		}
	}
	return all
}

// childrenByThread asks the kernel, which not every kernel is built for.
func childrenByThread(pid int) []int {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task"
	entries, _ := os.ReadDir(tasks) // a process that has ended has no children
	var out []int
	for _, e := range entries {
		data, _ := os.ReadFile(tasks + "/" + e.Name() + "/children")
		for field := range strings.FieldsSeq(string(data)) {
			if child, err := strconv.Atoi(field); err == nil {
				out = append(out, child)
			}
		}
	}
	return out
}

// childrenByParent looks at all processes of the machine, once.
func childrenByParent() func(pid int) []int {
	of := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if _, parent, ok := readStat(pid); ok {
				of[parent] = append(of[parent], pid)
			}
		}
	}
	return func(pid int) []int { return of[pid] }
}

func isZombie(pid int) bool {
	state, _, ok := readStat(pid)
	return !ok || state == 'Z' || state == 'X'
}

// readStat reads state and parent. The name before them may contain anything,
// but no field after it contains a bracket.
func readStat(pid int) (state byte, parent int, ok bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, false
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 2 {
		return 0, 0, false
	}
	parent, err = strconv.Atoi(fields[1])
	return fields[0][0], parent, err == nil
}
