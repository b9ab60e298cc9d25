package claudecode

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/tool"
)

// recordedLines are what the real program printed.
func recordedLines(t testing.TB) [][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/recorded/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	var lines [][]byte
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if text, ok := strings.CutPrefix(line, "> "); ok {
				lines = append(lines, []byte(text))
			}
		}
	}
	return lines
}

func FuzzTake(f *testing.F) {
	for _, line := range recordedLines(f) {
		f.Add(line)
	}
	f.Add([]byte(`{"type":"stream_event","event":null}`))
	f.Add([]byte(`{"type":"system","subtype":"status","status":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := newPlay(t, &agent.Task{}).dialog.take(data)
		switch {
		case err != nil && len(err.Error()) > 1500+len(data):
			t.Fatalf("take(%q) = %d bytes of error", data, len(err.Error()))
		case err == nil && !json.Valid(data):
			t.Fatalf("take(%q) succeeded, and it is no JSON", data)
		}
	})
}

// FuzzDialog lets the program print anything at all. Whatever it says, what is not
// a sample's to run does not run, and an intent is a call of such a tool.
func FuzzDialog(f *testing.F) {
	files, err := filepath.Glob("testdata/recorded/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(strings.ReplaceAll(string(data), "> ", ""))
	}
	f.Add(strings.Join([]string{ready, messageStart, asked("r1", "c1", "Bash", `{}`), usedTool, messageStop}, "\n"))
	f.Add(strings.Join([]string{ready, messageStart, rpc("r1", "tools/call", `{"name":"Bash","arguments":{"n":1}}`), usedTool, messageStop}, "\n"))
	tools := bare(effects)
	for i := range tools {
		tools[i].Run = func(context.Context, json.RawMessage) (tool.Result, error) { panic("not called by a dialog") }
	}
	f.Fuzz(func(t *testing.T, lines string) {
		p := newPlay(t, &agent.Task{Tools: tools})
		for line := range strings.Lines(lines) {
			done, err := p.dialog.take([]byte(line))
			if done || err != nil {
				break
			}
		}
		if p.dialog.conclude(nil) != nil {
			t.Fatal("conclude(nil) failed")
		}
		r := &p.dialog.result
		if r.Intent != nil && (effects[r.Intent.Tool].BySample() || !p.dialog.over || r.Flag != nil) {
			t.Fatalf("the attempt ended with %+v, want an intent of a tool that a sample may not run", r)
		}
		if r.Usage.Total() < 0 {
			t.Fatalf("usage %+v", r.Usage)
		}
	})
}
