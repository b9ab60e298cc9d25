package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/change"
)

// BeforeFolder is where a run keeps what files held before it changed them.
const BeforeFolder = "before"

// mostKept is how large a file is that is kept.
const mostKept = 10 << 20

// keeper returns what keeps the content of a file that a built-in tool is about to change,
// so that the change can be undone. A file with one of our keys in it is not copied.
func (s *stack) keeper(run string) func(key string, i event.Intent) *event.Before {
	return func(key string, i event.Intent) *event.Before {
		in, ok := changeOf(i)
		if !ok {
			return nil
		}
		content, err := change.Read(s.policy.Workspace, in.Path, mostKept)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &event.Before{Path: in.Path}
		case err != nil || !bytes.Equal(s.secrets.RedactBytes(content), content):
			return nil
		}
		sum := sha256.Sum256([]byte(key))
		kept := filepath.Join(BeforeFolder, hex.EncodeToString(sum[:4])+"-"+filepath.Base(in.Path))
		if os.MkdirAll(filepath.Join(run, BeforeFolder), 0o700) != nil || os.WriteFile(filepath.Join(run, kept), content, 0o600) != nil {
			return nil
		}
		return &event.Before{Path: in.Path, Kept: filepath.ToSlash(kept)}
	}
}

// A fileChange is what a call of a built-in tool says about the file that it changes.
type fileChange struct {
	Path string `json:"file_path"`
	Old  string `json:"old_string"`
}

func changeOf(i event.Intent) (fileChange, bool) {
	var in fileChange
	if i.Tool != "Write" && i.Tool != "Edit" || json.Unmarshal(i.Input, &in) != nil || in.Path == "" {
		return in, false
	}
	return in, true
}

// holds stands for what the file holds that an intent is about to change: for Write all of it,
// for Edit the places where the text is replaced, with the lines around them. The rest of a file
// may change while an edit waits for its approval.
func (s *stack) holds(i event.Intent) string {
	in, ok := changeOf(i)
	if !ok {
		return ""
	}
	content, err := change.Read(s.policy.Workspace, in.Path, mostKept)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no file"
	case err != nil:
		return "not known"
	}
	if i.Tool == "Edit" {
		content = places(content, []byte(in.Old))
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// around is how many lines before and after a place belong to it: those that a person is shown.
const around = 2

// places are the parts of a text where another occurs, with the lines around them.
func places(content, text []byte) []byte {
	var out []byte
	for at := 0; len(text) > 0; {
		found := bytes.Index(content[at:], text)
		if found < 0 {
			break
		}
		from := at + found
		at = from + len(text)
		to := at
		for n := 0; n <= around && from > 0; n++ {
			from = bytes.LastIndexByte(content[:from-1], '\n') + 1
		}
		for n := 0; n <= around && to < len(content); n++ {
			if end := bytes.IndexByte(content[to:], '\n'); end >= 0 {
				to += end + 1
			} else {
				to = len(content)
			}
		}
		out = append(append(out, content[from:to]...), 0)
	}
	return out
}
