package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
)

// FuzzFold feeds logs of any lines to all three parts: they may refuse them, with the
// line, but never panic.
func FuzzFold(f *testing.F) {
	logs, err := filepath.Glob("../../../testdata/frozen/*/*/" + runlog.EventsFile)
	if err != nil || len(logs) == 0 {
		f.Fatalf("there are no frozen logs: %v", err)
	}
	for _, name := range logs {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:min(len(data), 6<<10)])
	}
	const head = `{"type":"task_submitted","seq":0,"run":"r","kind":"exec","config":{"voting":{"strategy":"first_to_k","k":2,"max_samples":9}}}` + "\n"
	for _, rest := range []string{
		`{"type":"vote_resumed","seq":1,"question":"q","samples":[0,0,-1]}`,
		`{"type":"step_completed","seq":1,"type":"task_failed"}`,
		`{"type":"vote_completed","seq":1,"question":"q","rule":{"strategy":"none","max_samples":1}}`,
		`{"type":"task_failed","seq":1,"reopen":["","/"]}`,
		`{"type":"effect_released","seq":1,"effect":"e"}`,
		`{"type":"run_resumed","seq":1,"config":{"voting":{"strategy":"majority"}}}`,
		`{"type":"step_completed","seq":1,"output":{"$sha256":"../../x","bytes":1}}`,
		`{"type":"step_completed","seq":1,"key":"a/turn/0","output":{"$sha256":"../../x","bytes":1},"loop":true}`,
		`{"type":"step_completed","seq":1,"key":"a/turn/0/b/turn/-1","step":-1,"loop":true}`,
		`{"type":"vote_completed","seq":1,"question":"a/turn/0/q","voting":{"strategy":"","samples":0,"red_flagged":0,"margin":0}}`,
	} {
		f.Add([]byte(head + rest + "\n"))
		f.Add([]byte(strings.Replace(head, "exec", "hanoi", 1) + rest + "\n"))
		f.Add([]byte(strings.Replace(head, `"exec"`, `"script","form":"script"`, 1) + rest + "\n"))
	}
	f.Add([]byte(`{"type":"vote_completed","seq":0}` + "\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, h := range []*History{New(dir), reader(dir, nil, nil), reader(dir, &Report{}, nil), reader(dir, &Report{}, newAudit(nil))} {
			err := feed(h, data)
			if err == nil {
				err = h.Finish()
			}
			if err == nil && h.report != nil {
				h.report.finish()
				if h.audit != nil {
					h.audit.finish(h.report)
				}
			}
			if err != nil && !strings.Contains(err.Error(), "line ") {
				t.Errorf("the fold of %q = %v, want an error with its line", data, err)
			}
		}
	})
}

var firstType = regexp.MustCompile(`^{"type":"([^"]*)","seq":`)

// feed gives the lines of data to a history as if they were numbered as they should be.
func feed(h *History, data []byte) error {
	for n, raw := range bytes.Split(data, []byte("\n")) {
		var head event.Header
		if !json.Valid(raw) || json.Unmarshal(raw, &head) != nil {
			continue // a log with this line is not read that far
		}
		line := runlog.Line{Type: head.Type, Seq: uint64(n), Raw: raw}
		if first := firstType.FindSubmatch(raw); first != nil {
			line.Type = event.Type(first[1]) // which is how the log finds it
		}
		if err := h.Visit(line); err != nil {
			if c, ok := errors.AsType[*runlog.CorruptError](err); ok && c.Line != int64(n)+1 {
				return errors.New("damage without its place")
			}
			return err
		}
	}
	return nil
}
