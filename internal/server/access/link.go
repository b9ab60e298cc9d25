package access

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/maker-mdap/maker/internal/runtime/filelock"
	"github.com/maker-mdap/maker/internal/runtime/wholefile"
)

// LinkLife is how long a link can be used.
const LinkLife = 5 * time.Minute

// loginPath is where links lead.
const loginPath = "/login"

// linkTo is the address of a link.
func linkTo(base, secret string) string {
	return base + loginPath + "?link=" + url.QueryEscape(secret)
}

// links are those that this process has made and nobody has used.
type links struct {
	mu   sync.Mutex
	open map[[32]byte]time.Time // until when
}

func (l *links) add(secret string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for hash, until := range l.open {
		if !now.Before(until) {
			delete(l.open, hash)
		}
	}
	if l.open == nil {
		l.open = map[[32]byte]time.Time{}
	}
	l.open[hashOf(secret)] = now.Add(LinkLife)
}

// use uses up a link.
func (l *links) use(secret string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	hash := hashOf(secret)
	until, ok := l.open[hash]
	delete(l.open, hash)
	return ok && now.Before(until)
}

// A Door is where other processes of the same user leave links for a server that runs: a
// folder that nobody else can look into. The file of a server is locked while it runs, and a
// link is a file beside it, named after the hash of its secret. Whoever removes that file has
// used the link.
type Door struct {
	At
	lock *os.File
}

// An At is a server that runs.
type At struct {
	URL     string    `json:"url"`
	PID     int       `json:"pid"`
	Folder  string    `json:"folder"` // where it was started
	Started time.Time `json:"started"`

	dir, id string
}

const (
	doorSuffix = ".server"
	linkSuffix = ".link"
)

// DoorDir is the folder of the doors of the user.
func DoorDir() (string, error) {
	dir, err := configDir()
	return filepath.Join(dir, "serving"), err
}

// OpenDoor makes a server known in a folder until it is closed.
func OpenDoor(dir, serverURL string) (*Door, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err == nil {
		err = checkPrivate(dir, info)
	}
	if err != nil {
		return nil, err
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	d := &Door{At: At{URL: serverURL, PID: os.Getpid(), Folder: folder, Started: time.Now().UTC().Truncate(time.Second), dir: dir, id: rand.Text()}}
	data, err := json.Marshal(d.At)
	if err != nil {
		return nil, err
	}
	if d.lock, err = filelock.Hold(d.file(), 0); err != nil {
		return nil, err
	}
	// It is locked first: a file with a content that is not locked is one of a dead server.
	if _, err := d.lock.Write(append(data, '\n')); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (a At) file() string { return filepath.Join(a.dir, a.id+doorSuffix) }

func (a At) link(secret string) string {
	hash := hashOf(secret)
	return filepath.Join(a.dir, a.id+"."+hex.EncodeToString(hash[:])+linkSuffix)
}

// Close makes the server unknown again.
func (d *Door) Close() error {
	err := d.remove()
	return errors.Join(err, d.lock.Close())
}

// remove removes the files of a server, links first.
func (a At) remove() error {
	entries, err := os.ReadDir(a.dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), a.id+".") && strings.HasSuffix(e.Name(), linkSuffix) {
			err = errors.Join(err, os.Remove(filepath.Join(a.dir, e.Name())))
		}
	}
	return errors.Join(err, os.Remove(a.file()))
}

// use uses up a link that another process has left.
func (d *Door) use(secret string, now time.Time) bool {
	data, err := os.ReadFile(d.link(secret))
	if err != nil || os.Remove(d.link(secret)) != nil {
		return false
	}
	until, err := time.Parse(time.RFC3339, strings.TrimSpace(string(data)))
	return err == nil && now.Before(until)
}

// NewLink leaves a link for a server and returns its address.
func (a At) NewLink() (string, error) {
	secret := newSecret()
	until := time.Now().Add(LinkLife).UTC().Format(time.RFC3339)
	if err := wholefile.ReplacePrivate(a.link(secret), []byte(until+"\n")); err != nil {
		return "", err
	}
	return linkTo(a.URL, secret), nil
}

// Running lists the servers of a folder that run, oldest first. What dead ones have left is
// removed.
func Running(dir string) ([]At, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []At
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), doorSuffix)
		if !ok {
			continue
		}
		at, alive, err := lookAt(dir, id)
		if errors.Is(err, fs.ErrNotExist) { // it has just ended
			continue
		}
		if err != nil {
			return nil, err
		}
		if alive {
			list = append(list, at)
		}
	}
	slices.SortFunc(list, func(a, b At) int { return a.Started.Compare(b.Started) })
	return list, nil
}

// lookAt reads the file of a server, and removes it if its process is gone.
func lookAt(dir, id string) (At, bool, error) {
	at := At{dir: dir, id: id}
	f, err := os.Open(at.file())
	if err != nil {
		return at, false, err
	}
	defer f.Close()
	err = filelock.TryShare(f)
	alive := errors.Is(err, filelock.ErrLocked)
	if err != nil && !alive {
		return at, false, err
	}
	data, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil || len(data) == 0 { // it is being written just now
		return at, false, err
	}
	if !alive {
		return at, false, at.remove()
	}
	if err := json.Unmarshal(data, &at); err != nil {
		return at, false, fmt.Errorf("%s: %w", at.file(), err)
	}
	at.dir, at.id = dir, id
	return at, true, nil
}
