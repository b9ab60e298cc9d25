package builtin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/maker-mdap/maker/tool"
)

type writeInput struct {
	FilePath string `json:"file_path" jsonschema:"The file to write: absolute, or relative to the workspace."`
	Content  string `json:"content" jsonschema:"The whole new content of the file."`
}

func (w *workspace) write(_ context.Context, in writeInput) (tool.Result, error) {
	rel, err := w.writable(in.FilePath)
	if err != nil {
		return tool.Failed("%v", err), nil
	}
	if err := w.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
		return tool.Failed("%v", w.explain(in.FilePath, err)), nil
	}
	if err := w.replace(rel, []byte(in.Content)); err != nil {
		return tool.Failed("%v", w.explain(in.FilePath, err)), nil
	}
	return tool.Result{Text: fmt.Sprintf("Wrote %d bytes to %s.", len(in.Content), in.FilePath)}, nil
}

// replace gives a file new content. A plain file is replaced in one step, so that
// a crash leaves the old or the new content. One that has other names, by links,
// is written in place, because those names must see the change.
func (w *workspace) replace(rel string, content []byte) error {
	old, err := w.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return err
	case old.IsDir():
		return errors.New("it is a folder")
	case !old.Mode().IsRegular() || linkCount(old) > 1:
		return w.overwrite(rel, content)
	}
	temp := filepath.Join(filepath.Dir(rel), ".maker-"+rand.Text())
	f, err := w.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if old != nil {
		err = errors.Join(err, f.Chmod(old.Mode().Perm()))
		sameOwner(f, old)
	}
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = w.Rename(temp, rel)
	}
	if err != nil {
		return errors.Join(err, w.Remove(temp))
	}
	return nil
}

func (w *workspace) overwrite(rel string, content []byte) error {
	f, err := w.OpenFile(rel, os.O_WRONLY|os.O_CREATE|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.Write(content)
	}
	return errors.Join(err, f.Sync(), f.Close())
}

type editInput struct {
	FilePath   string `json:"file_path" jsonschema:"The file to change: absolute, or relative to the workspace."`
	OldString  string `json:"old_string" jsonschema:"The text to replace, exactly as it is in the file."`
	NewString  string `json:"new_string" jsonschema:"The text to put in its place."`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"Replace every occurrence, not just the only one."`
}

// Check refuses what cannot change anything.
func (in editInput) Check() error {
	switch in.OldString {
	case "":
		return errors.New("old_string: it is empty; Write creates a file")
	case in.NewString:
		return errors.New("new_string: it is the same as old_string")
	}
	return nil
}

const editBytes = 16 << 20

func (w *workspace) edit(_ context.Context, in editInput) (tool.Result, error) {
	rel, err := w.writable(in.FilePath)
	if err != nil {
		return tool.Failed("%v", err), nil
	}
	f, _, err := w.openRegular(in.FilePath)
	if err != nil {
		return tool.Failed("%v", err), nil
	}
	data, err := readWhole(f, editBytes)
	if err = errors.Join(err, f.Close()); err != nil {
		return tool.Failed("%v", w.explain(in.FilePath, err)), nil
	}
	text, before, after := string(data), in.OldString, in.NewString
	if strings.Contains(text, "\r\n") && !strings.Contains(before, "\r") {
		// Read shows lines without their ends, so a model cannot know.
		before, after = strings.ReplaceAll(before, "\n", "\r\n"), strings.ReplaceAll(after, "\n", "\r\n")
	}
	count := strings.Count(text, before)
	switch {
	case count == 0:
		return tool.Failed("old_string is not in %s; it has to match exactly, with white space and line ends", in.FilePath), nil
	case count > 1 && !in.ReplaceAll:
		return tool.Failed("old_string is in %s %d times; give more of the text around it, or set replace_all", in.FilePath, count), nil
	}
	if err := w.replace(rel, []byte(strings.ReplaceAll(text, before, after))); err != nil {
		return tool.Failed("%v", w.explain(in.FilePath, err)), nil
	}
	return tool.Result{Text: fmt.Sprintf("Replaced %d occurrence(s) in %s.", count, in.FilePath)}, nil
}
