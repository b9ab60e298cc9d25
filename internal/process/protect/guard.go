package protect

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// A Guard looks after files while something runs that could change them.
type Guard struct{ watched []*watched }

// watched is a file that is looked after. Those who do so at the same time share what
// was there at first: else one would take for right what another is about to put right.
type watched struct {
	name string
	root *os.Root
	rel  string // in the root

	users int        // guarded by shared
	mu    sync.Mutex // held while it is put right
	was   state
}

var shared = struct {
	sync.Mutex
	files map[string]*watched
}{files: map[string]*watched{}}

// Guard remembers the files of the set that wanted is true of, but for our own. Those
// in the folder dir are reached from there: no link that somebody makes leads us out of
// it. The caller calls [Guard.End].
func (s *Set) Guard(dir string, wanted func(Path) bool) (*Guard, error) {
	g := &Guard{}
	for _, p := range s.Paths() {
		if p.Own || !wanted(p) {
			continue
		}
		w, err := watch(dir, p.Name)
		if err != nil {
			g.End()
			return nil, fmt.Errorf("%s cannot be protected: %w", p.Name, err)
		}
		g.watched = append(g.watched, w)
	}
	return g, nil
}

func watch(dir, name string) (*watched, error) {
	shared.Lock()
	defer shared.Unlock()
	if w := shared.files[name]; w != nil {
		w.users++
		return w, nil
	}
	if !Within(dir, name) {
		dir = filepath.VolumeName(name) + string(filepath.Separator)
	}
	rel, err := filepath.Rel(dir, name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	w := &watched{name: name, root: root, rel: rel, users: 1, was: read(root, rel)}
	shared.files[name] = w
	return w, nil
}

// End puts back what was changed, and returns a line about each.
func (g *Guard) End() []string {
	var lines []string
	for _, w := range g.watched {
		if line := w.putRight(); line != "" {
			lines = append(lines, line)
		}
		shared.Lock()
		if w.users--; w.users == 0 {
			delete(shared.files, w.name)
			_ = w.root.Close()
		}
		shared.Unlock()
	}
	g.watched = nil
	return lines
}

func (w *watched) putRight() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	is := read(w.root, w.rel)
	if is == w.was {
		return ""
	}
	err := w.was.restore(w.root, w.rel)
	kept := filepath.Base(w.name) + refusedSuffix
	switch {
	case err != nil:
		return fmt.Sprintf("%s was changed, and cannot be put back: %v", w.name, err)
	case !w.was.there:
		return fmt.Sprintf("%s was made, and has been taken away (to %s)", w.name, kept)
	case !is.there:
		return w.name + " was removed, and has been put back"
	}
	return fmt.Sprintf("%s was changed, and has been put back (the change is in %s)", w.name, kept)
}

// A state is what there is at a path.
type state struct {
	there bool
	mode  fs.FileMode
	text  string // content of a file, target of a link
	vague bool   // the text does not say what there is, but only whether it was changed
}

// mostBytes of a file are remembered.
const mostBytes = 16 << 20

// read reads what there is at a path, without following a link there or waiting for
// anybody.
func read(root *os.Root, name string) state {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return state{}
	}
	s := state{there: true}
	if err == nil {
		s.mode = info.Mode()
	}
	switch {
	case err != nil: // a link on the way leads out, for one
	case s.mode&fs.ModeSymlink != 0:
		s.text, err = root.Readlink(name)
	case s.mode.IsRegular() && info.Size() <= mostBytes:
		s.text, err = readText(root, name)
	default:
		s.vague = true
		if s.mode.IsRegular() {
			s.text = fmt.Sprint(info.Size(), info.ModTime())
		}
	}
	if err != nil {
		s.vague, s.text = true, err.Error()
	}
	return s
}

func readText(root *os.Root, name string) (string, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // should it be a pipe by now
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostBytes))
	return string(data), err
}

// refusedSuffix marks what was found in the place of something protected. Nothing is
// lost, should it have been the person who put it there.
const refusedSuffix = ".refused"

// restore puts a path back to a state.
func (s state) restore(root *os.Root, name string) error {
	if s.vague {
		return errors.New("it was not remembered; look at it yourself")
	}
	if err := clearWay(root, filepath.Dir(name)); err != nil {
		return err
	}
	if err := setAside(root, name); err != nil || !s.there {
		return err
	}
	if s.mode.Type() == fs.ModeSymlink {
		return root.Symlink(s.text, name)
	}
	temp := filepath.Join(filepath.Dir(name), ".maker-"+rand.Text())
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(s.text)
	err = errors.Join(err, f.Chmod(s.mode.Perm()), f.Sync(), f.Close())
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

// clearWay sees to it that folders are folders that we can write to, and not links to
// elsewhere.
func clearWay(root *os.Root, dir string) error {
	if dir != "." {
		if err := clearWay(root, filepath.Dir(dir)); err != nil {
			return err
		}
	}
	if info, err := root.Lstat(dir); err == nil && info.IsDir() {
		if perm := info.Mode().Perm(); perm&0o700 != 0o700 {
			_ = root.Chmod(dir, perm|0o700) // if it is not ours, it shows in a moment
		}
		return nil
	}
	if err := setAside(root, dir); err != nil {
		return err
	}
	return root.Mkdir(dir, 0o755)
}

// setAside makes a path free.
func setAside(root *os.Root, name string) error {
	if err := root.RemoveAll(name + refusedSuffix); err != nil { // an older one
		return err
	}
	if err := root.Rename(name, name+refusedSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
