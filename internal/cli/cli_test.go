package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/internal/runlog"
)

// TestNoHintWithoutAnEvent: a run that could not write its first event cannot be
// resumed.
func TestNoHintWithoutAnEvent(t *testing.T) {
	begun, empty, none := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "none")
	line := `{"type":"task_submitted","seq":0,"timestamp":"2026-01-02T03:04:05Z","run":"r","format":1}` + "\n"
	for dir, text := range map[string]string{begun: line, empty: ""} {
		if err := os.WriteFile(filepath.Join(dir, runlog.EventsFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]bool{begun: true, empty: false, none: false} {
		text := new(app).message(&runlog.WriteError{Dir: dir, Err: errors.New("disk full")})
		if strings.Contains(text, "maker resume") != want || !strings.Contains(text, "disk full") {
			t.Errorf("message(a log that cannot be written) = %q, want a word about maker resume: %t", text, want)
		}
	}
}
