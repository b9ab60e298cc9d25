// Package change tells what a call that changes a file would do, as a difference of lines.
package change

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/maker-mdap/maker/event"
)

// largest is how large a file is that is compared with what it is to become.
const largest = 1 << 20

// A Change is what a call would do to a file.
type Change struct {
	Path  string `json:"path"`  // as the call names it
	State string `json:"state"` // a new file, changed, or why it cannot be told
	Diff  string `json:"diff"`  // lines that go (-), come (+) and stay; what cannot be seen is an escape
}

// Of says what a file is and what a call of a built-in tool would make of it. It reports false
// if that cannot be told from the call.
func Of(call *event.Intent, folder string) (Change, bool) {
	var in struct {
		FilePath   string  `json:"file_path"`
		Content    *string `json:"content"`
		OldString  *string `json:"old_string"`
		NewString  *string `json:"new_string"`
		ReplaceAll bool    `json:"replace_all"`
	}
	dec := json.NewDecoder(bytes.NewReader(call.Input))
	dec.DisallowUnknownFields() // nothing of a call may stay out of sight
	if dec.Decode(&in) != nil || in.FilePath == "" {
		return Change{}, false
	}
	was, state := "", "a new file"
	switch content, err := Read(folder, in.FilePath, largest); {
	case err == nil:
		was, state = string(content), "changed"
	case !errors.Is(err, fs.ErrNotExist):
		state = "which cannot be compared"
	}
	becomes := ""
	switch {
	case call.Tool == "Write" && in.Content != nil && in.OldString == nil && in.NewString == nil:
		becomes = *in.Content
	case call.Tool == "Edit" && in.Content == nil && in.OldString != nil && in.NewString != nil:
		n := 1
		if in.ReplaceAll {
			n = -1
			state += ", everywhere"
		}
		if becomes = strings.Replace(was, *in.OldString, *in.NewString, n); *in.OldString == "" || !strings.Contains(was, *in.OldString) {
			was, becomes, state = *in.OldString, *in.NewString, "which does not hold the text to replace now"
		}
	default:
		return Change{}, false
	}
	changes := difference(was, becomes)
	if changes == "" {
		changes = "(nothing changes)"
	}
	return Change{Path: in.FilePath, State: state, Diff: changes}, true
}

var errOther = errors.New("no file, or too large a one")

// Read reads a file of so many bytes at most below a folder, the one that the program is in if
// it is empty, and no other, wherever links lead: whoever is shown a change need not be allowed
// to see other files.
func Read(folder, path string, most int64) ([]byte, error) {
	if filepath.IsAbs(path) {
		base, err := filepath.Abs(folder)
		if err != nil {
			return nil, err
		}
		if path, err = filepath.Rel(base, path); err != nil {
			return nil, err
		}
	}
	if folder == "" {
		folder = "."
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, errOther
	}
	f, err := root.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}
