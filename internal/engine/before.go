package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/maker-mdap/maker/event"
)

// BeforeFolder is where a run keeps what files held before it changed them.
const BeforeFolder = "before"

// mostKept is how large a file is that is kept.
const mostKept = 10 << 20

// keeper returns what keeps the content of a file that a built-in tool is about to change,
// so that the change can be undone. A file with one of our keys in it is not copied.
func (s *stack) keeper(run string) func(key string, i event.Intent) *event.Before {
	return func(key string, i event.Intent) *event.Before {
		var in struct {
			Path string `json:"file_path"`
		}
		if i.Tool != "Write" && i.Tool != "Edit" || json.Unmarshal(i.Input, &in) != nil || in.Path == "" {
			return nil
		}
		content, err := readIn(s.policy.Workspace, in.Path)
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

var errNotKept = errors.New("no file of a kind that is kept")

// readIn reads a file below a folder, and no other, wherever links lead.
func readIn(folder, path string) ([]byte, error) {
	if filepath.IsAbs(path) {
		base, err := filepath.Abs(folder)
		if err != nil {
			return nil, err
		}
		if path, err = filepath.Rel(base, path); err != nil {
			return nil, err
		}
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
	if !info.Mode().IsRegular() || info.Size() > mostKept {
		return nil, errNotKept
	}
	f, err := root.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostKept))
}
