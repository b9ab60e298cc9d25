package access

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/maker-mdap/maker/internal/runtime/filelock"
	"github.com/maker-mdap/maker/internal/runtime/wholefile"
	"github.com/maker-mdap/maker/usage"
)

// A Token is what is kept of a token: all but its secret.
type Token struct {
	Name     string     `json:"name"`
	Hash     string     `json:"sha256"` // of the secret, in hexadecimal
	Scope    Scope      `json:"scope"`
	AllRuns  bool       `json:"all_runs,omitempty"` // not only its own
	Created  time.Time  `json:"created"`
	Expires  *time.Time `json:"expires,omitempty"`
	LastUsed *time.Time `json:"last_used,omitempty"` // to within ten minutes
	Budget   *Budget    `json:"budget,omitempty"`
}

// Expired reports whether a token is good for nothing any more.
func (t Token) Expired(now time.Time) bool { return t.Expires != nil && !now.Before(*t.Expires) }

func (t Token) caller() Caller {
	return Caller{Name: t.Name, Scope: t.Scope, AllRuns: t.AllRuns, Budget: t.Budget}
}

// ErrNoToken is the error of a token that is not there.
var ErrNoToken = errors.New("there is no such token")

// An ExistsError says that the name of a new token is taken.
type ExistsError struct{ Name string }

func (e *ExistsError) Error() string { return fmt.Sprintf("there is a token %s already", e.Name) }

// An OpenFileError says that a file of secrets is not for its owner alone.
type OpenFileError struct {
	Path string
	Mode fs.FileMode
}

func (e *OpenFileError) Error() string {
	return fmt.Sprintf("%s has mode %04o: others than you can read or change it; run `chmod 600 %[1]s`, and make new tokens if others may have changed it", e.Path, e.Mode.Perm())
}

// A Store is a file of tokens. Any number of processes may use it at once, and each sees at
// once what another has changed.
type Store struct {
	path string
	now  func() time.Time

	mu     sync.Mutex
	seen   fs.FileInfo // the file that was read; nil if there was none
	tokens []Token     // never changed, only replaced
}

// Tokens is the store in a file, which need not be there yet.
func Tokens(path string) *Store { return &Store{path: path, now: time.Now} }

// Path is where the file is.
func (s *Store) Path() string { return s.path }

// DefaultPath is where tokens are unless somebody says otherwise.
func DefaultPath() (string, error) {
	dir, err := configDir()
	return filepath.Join(dir, "tokens.json"), err
}

// configDir is the folder of the user's settings.
func configDir() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("there is no folder for tokens and links: %w; name a file with --token-file", err)
	}
	return filepath.Join(dir, "maker"), nil
}

// List returns the tokens, oldest first.
func (s *Store) List() ([]Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return nil, err
	}
	return slices.Clone(s.tokens), nil
}

// New adds a token and returns its secret, which nobody can find out later.
func (s *Store) New(t Token) (secret string, err error) {
	secret = newSecret()
	hash := hashOf(secret)
	t.Hash, t.Created = hex.EncodeToString(hash[:]), s.now().UTC().Truncate(time.Second)
	if err := t.check(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return "", err
	}
	return secret, s.update(func(list []Token) ([]Token, error) {
		if slices.ContainsFunc(list, func(other Token) bool { return other.Name == t.Name }) {
			return nil, &ExistsError{t.Name}
		}
		return append(list, t), nil
	})
}

// Revoke removes a token.
func (s *Store) Revoke(name string) error {
	return s.update(func(list []Token) ([]Token, error) {
		i := slices.IndexFunc(list, func(t Token) bool { return t.Name == name })
		if i < 0 {
			return nil, ErrNoToken
		}
		return slices.Delete(list, i, i+1), nil
	})
}

// usedEvery is how often it is written down that a token was used.
const usedEvery = 10 * time.Minute

// Find returns the token with a secret. How long that takes says nothing about the secrets.
func (s *Store) Find(secret string) (Token, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return Token{}, false, err
	}
	hash := hashOf(secret)
	found := -1
	for i, t := range s.tokens {
		var kept [sha256.Size]byte
		_, _ = hex.Decode(kept[:], []byte(t.Hash)) // it was checked
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], kept[:]), i, found)
	}
	now := s.now()
	if found < 0 || s.tokens[found].Expired(now) {
		return Token{}, false, nil
	}
	t := s.tokens[found]
	if t.LastUsed == nil || now.Sub(*t.LastUsed) >= usedEvery {
		// That it was used is good to know, and no reason to turn anybody away.
		_ = s.updateLocked(func(list []Token) ([]Token, error) {
			used := now.UTC().Truncate(time.Second)
			return list, change(list, t.Name, func(t *Token) error { t.LastUsed = &used; return nil })
		})
	}
	return t, true, nil
}

// change changes the token of a name in a list.
func change(list []Token, name string, f func(*Token) error) error {
	for i := range list {
		if list[i].Name == name {
			return f(&list[i])
		}
	}
	return ErrNoToken
}

// refresh reads the file if it is another one than before.
func (s *Store) refresh() error {
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.seen, s.tokens = nil, nil
		return nil
	case err != nil:
		return err
	case s.seen != nil && os.SameFile(info, s.seen) && info.ModTime().Equal(s.seen.ModTime()) && info.Size() == s.seen.Size() && info.Mode() == s.seen.Mode():
		return nil
	}
	s.seen = nil // what cannot be read lets nobody in
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return err
	}
	if err := checkPrivate(s.path, info); err != nil {
		return err
	}
	tokens, err := readTokens(f)
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	s.seen, s.tokens = info, tokens
	return nil
}

// checkPrivate refuses a file or folder that others than its owner may read or change.
func checkPrivate(path string, info fs.FileInfo) error {
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 { // Windows has no such modes
		return &OpenFileError{path, info.Mode()}
	}
	return nil
}

// lockPatience outlasts others who change the file.
const lockPatience = 5 * time.Second

func (s *Store) update(f func([]Token) ([]Token, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.updateLocked(f)
}

// errUnchanged is the error of a change that turned out to be none.
var errUnchanged = errors.New("unchanged")

// updateLocked changes the file while no other process does. The list is f's own.
func (s *Store) updateLocked(f func([]Token) ([]Token, error)) error {
	lock, err := filelock.Hold(s.path+".lock", lockPatience)
	if errors.Is(err, fs.ErrNotExist) { // the folder is not there, nor is a token
		return ErrNoToken
	}
	if err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	defer lock.Close()
	if err := s.refresh(); err != nil {
		return err
	}
	list, err := f(cloneTokens(s.tokens))
	if errors.Is(err, errUnchanged) {
		return nil
	}
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(tokenFile{formatVersion, list}, "", "  ")
	if err != nil {
		return err
	}
	if len(data) > mostBytes {
		return fmt.Errorf("%s would become too long; revoke tokens that nobody needs", s.path)
	}
	if err := wholefile.ReplacePrivate(s.path, append(data, '\n')); err != nil {
		return err
	}
	s.seen = nil
	return s.refresh()
}

// cloneTokens copies what may be changed of tokens.
func cloneTokens(list []Token) []Token {
	list = slices.Clone(list)
	for i := range list {
		if b := list[i].Budget; b != nil {
			own := *b
			own.Open = slices.Clone(b.Open)
			list[i].Budget = &own
		}
	}
	return list
}

// tokenFile is the form of the file.
type tokenFile struct {
	Version int     `json:"version"`
	Tokens  []Token `json:"tokens"`
}

const (
	formatVersion = 1
	mostBytes     = 4 << 20
)

// readTokens reads a file of tokens. What it does not know is refused: it could be a limit.
func readTokens(r io.Reader) ([]Token, error) {
	data, err := io.ReadAll(io.LimitReader(r, mostBytes+2)) // and the end of the last line
	if err != nil {
		return nil, err
	}
	if len(data) > mostBytes+1 {
		return nil, fmt.Errorf("more than %d bytes are too many for a file of tokens", mostBytes)
	}
	var version struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, fmt.Errorf("this is no file of tokens: %w", err)
	}
	if version.Version != formatVersion {
		return nil, fmt.Errorf("version %d is not known to this maker, want %d", version.Version, formatVersion)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var file tokenFile
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("this is no file of tokens: %w", err)
	}
	names, hashes := map[string]bool{}, map[string]bool{}
	for i, t := range file.Tokens {
		err := t.check()
		if err == nil && (names[t.Name] || hashes[t.Hash]) {
			err = fmt.Errorf("%q is there twice", t.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("token %d: %w", i+1, err)
		}
		names[t.Name], hashes[t.Hash] = true, true
	}
	return file.Tokens, nil
}

// check says what is wrong with a token.
func (t Token) check() error {
	if err := CheckName(t.Name); err != nil {
		return fmt.Errorf("name: %w", err)
	}
	if _, err := ParseScope(string(t.Scope)); err != nil {
		return fmt.Errorf("scope: %w", err)
	}
	if raw, err := hex.DecodeString(t.Hash); err != nil || len(raw) != sha256.Size || hex.EncodeToString(raw) != t.Hash {
		return fmt.Errorf("sha256: want %d small hexadecimal digits", 2*sha256.Size)
	}
	if b := t.Budget; b != nil {
		amounts := []float64{b.MaxUSD, b.SpentUSD}
		for _, r := range b.Open {
			amounts = append(amounts, r.USD, r.BeforeUSD)
		}
		if slices.ContainsFunc(amounts, func(usd float64) bool { return !(usd >= 0) || math.IsInf(usd, 0) || usd > usage.MaxUSD }) {
			return errors.New("budget: want amounts of money that are not negative")
		}
	}
	return nil
}
