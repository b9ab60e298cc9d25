package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// An identity names a mutant in a way that outlives edits elsewhere in its file.
type identity struct {
	file     string
	function string // "" outside functions
	kind     string // gremlins' name of the mutation
	code     string // the line, with the operator that is changed in [[ ]]
}

func (id identity) String() string {
	return fmt.Sprintf("%s  %s  %s\n    %s", id.file, id.function, id.kind, id.code)
}

// readEquivalents reads the list of mutants that no test can kill: for each a line
// with file, function and mutation, a line of code, and a reason of one or more lines.
func readEquivalents(name string) (map[identity]bool, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	list := make(map[identity]bool)
	var entry []string
	end := func() error {
		defer func() { entry = nil }()
		if len(entry) == 0 {
			return nil
		}
		head := strings.Fields(entry[0])
		if len(entry) < 3 || len(head) != 3 {
			return fmt.Errorf("%s: the entry %q needs file, function and mutation, then the code, then a reason", name, entry[0])
		}
		list[identity{file: head[0], function: head[1], kind: head[2], code: entry[1]}] = true
		return nil
	}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case strings.HasPrefix(line, "#"):
		case line == "":
			if err := end(); err != nil {
				return nil, err
			}
		default:
			entry = append(entry, line)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return list, end()
}

// summarize prints the survivors and one line of figures, and says whether enough
// mutants were killed.
func summarize(w io.Writer, folder string, mutants []mutant, list map[identity]bool) bool {
	count := make(map[string]int)
	equivalent := 0
	survived := make(map[identity]bool)
	for _, m := range mutants {
		if m.status == "LIVED" || m.status == "NOT COVERED" {
			survived[m.identity] = true
			if list[m.identity] {
				equivalent++
				continue
			}
			fmt.Fprintf(w, "%-11s %s:%d:%d\n%v\n", strings.ToLower(m.status), m.file, m.line, m.column, m.identity)
		}
		count[m.status]++
	}
	existing := make(map[identity]bool)
	for _, m := range mutants {
		existing[m.identity] = true
	}
	for id := range list {
		switch {
		case filepath.Dir(id.file) != folder:
		case !existing[id]:
			fmt.Fprintf(w, "listed as equivalent, but there is no such mutant:\n%v\n", id)
		case !survived[id]:
			fmt.Fprintf(w, "listed as equivalent, but killed:\n%v\n", id)
		}
	}
	killed := count["KILLED"] + count["TIMED OUT"]
	all := killed + count["LIVED"] + count["NOT COVERED"]
	percent := 100.0
	if all > 0 {
		percent = 100 * float64(killed) / float64(all)
	}
	verdict := "ok"
	if percent < threshold {
		verdict = "UNDER " + fmt.Sprint(threshold)
	}
	fmt.Fprintf(w, "%-20s killed %d, lived %d, not covered %d, timed out %d, equivalent %d, not viable %d: %.1f %% %s\n",
		folder, count["KILLED"], count["LIVED"], count["NOT COVERED"], count["TIMED OUT"], equivalent, count["NOT VIABLE"], percent, verdict)
	return percent >= threshold
}
