package access

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func newStore(t *testing.T) *Store {
	t.Helper()
	return Tokens(filepath.Join(t.TempDir(), "maker", "tokens.json"))
}

// mustNew adds a token.
func mustNew(t *testing.T, s *Store, token Token) string {
	t.Helper()
	secret, err := s.New(token)
	if err != nil {
		t.Fatalf("New(%+v) = %v", token, err)
	}
	return secret
}

func TestTokens(t *testing.T) {
	s := newStore(t)
	ci := mustNew(t, s, Token{Name: "ci", Scope: Write})
	mustNew(t, s, Token{Name: "board", Scope: Read, AllRuns: true})
	if _, err := s.New(Token{Name: "ci", Scope: Read}); err == nil || !strings.Contains(err.Error(), "there is a token ci already") {
		t.Errorf("New(a name that is taken) = %v", err)
	}

	other := Tokens(s.Path()) // as another process has it
	got, ok, err := other.Find(ci)
	if err != nil || !ok || got.Name != "ci" || got.Scope != Write || got.AllRuns {
		t.Errorf("Find() = %+v, %v, %v, want ci", got, ok, err)
	}
	for _, wrong := range []string{"", "maker_", ci[:len(ci)-1], ci + "A", got.Hash} {
		if got, ok, err := other.Find(wrong); ok || err != nil {
			t.Errorf("Find(%q) = %+v, %v, %v, want nothing", wrong, got, ok, err)
		}
	}
	data, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), strings.TrimPrefix(ci, secretPrefix)) {
		t.Error("the secret is in the file")
	}
	if info, err := os.Stat(s.Path()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v, want 600", info.Mode(), err)
	}
}

// TestRevokedTokenOfAnotherProcess: the process that serves hears of it with the next request.
func TestRevokedTokenOfAnotherProcess(t *testing.T) {
	s := newStore(t)
	secret := mustNew(t, s, Token{Name: "ci", Scope: Write})
	if _, ok, err := s.Find(secret); !ok || err != nil {
		t.Fatalf("Find() = %v, %v", ok, err)
	}
	if err := Tokens(s.Path()).Revoke("ci"); err != nil {
		t.Fatalf("Revoke() = %v", err)
	}
	if _, ok, err := s.Find(secret); ok || err != nil {
		t.Errorf("Find(revoked) = %v, %v, want nothing", ok, err)
	}
	if err := s.Revoke("ci"); !errors.Is(err, ErrNoToken) {
		t.Errorf("Revoke(again) = %v, want %v", err, ErrNoToken)
	}
	if err := newStore(t).Revoke("ci"); !errors.Is(err, ErrNoToken) {
		t.Errorf("Revoke(without a file) = %v, want %v", err, ErrNoToken)
	}
	if err := os.Remove(s.Path()); err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Errorf("List(without a file) = %v, %v, want none", list, err)
	}
}

func TestExpiredToken(t *testing.T) {
	s := newStore(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.now = func() time.Time { return now }
	until := now.Add(time.Hour)
	secret := mustNew(t, s, Token{Name: "ci", Scope: Read, Expires: &until})
	now = until.Add(-time.Second)
	if _, ok, _ := s.Find(secret); !ok {
		t.Error("Find(before it expires) finds nothing")
	}
	now = until
	if _, ok, _ := s.Find(secret); ok {
		t.Error("Find(expired) finds it")
	}
}

// TestLastUsedIsSeldomWritten: a request is no reason to write a file.
func TestLastUsedIsSeldomWritten(t *testing.T) {
	s := newStore(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.now = func() time.Time { return now }
	secret := mustNew(t, s, Token{Name: "ci", Scope: Read})
	var written []time.Time
	for range 25 {
		if _, ok, err := s.Find(secret); !ok || err != nil {
			t.Fatalf("Find() = %v, %v", ok, err)
		}
		list, err := Tokens(s.Path()).List()
		if err != nil {
			t.Fatal(err)
		}
		if last := *list[0].LastUsed; len(written) == 0 || !written[len(written)-1].Equal(last) {
			written = append(written, last)
		}
		now = now.Add(time.Minute)
	}
	if len(written) != 3 {
		t.Errorf("in 25 minutes of use it was written %d times that a token was used, want 3: %v", len(written), written)
	}
}

// TestTokenFileOfOthers: a file that others can read or change says nothing.
func TestTokenFileOfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes")
	}
	s := newStore(t)
	secret := mustNew(t, s, Token{Name: "ci", Scope: Read})
	if _, ok, _ := s.Find(secret); !ok {
		t.Fatal("Find() finds nothing")
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o602} {
		if err := os.Chmod(s.Path(), mode); err != nil {
			t.Fatal(err)
		}
		_, ok, err := s.Find(secret)
		if _, is := errors.AsType[*OpenFileError](err); ok || !is || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("Find(mode %o) = %v, %v, want an error that says what to do", mode, ok, err)
		}
	}
	if err := os.Chmod(s.Path(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.Find(secret); !ok || err != nil {
		t.Errorf("Find(mode 600 again) = %v, %v, want ci", ok, err)
	}
}

func TestReadTokensRefuses(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	token := func(fields string) string {
		return `{"version":1,"tokens":[{"name":"ci","sha256":"` + hash + `","scope":"read","created":"2026-01-02T03:04:05Z"` + fields + `}]}`
	}
	if list, err := readTokens(strings.NewReader(token(""))); err != nil || len(list) != 1 {
		t.Fatalf("readTokens(a good file) = %v, %v", list, err)
	}
	tests := []struct{ text, want string }{
		{"", "no file of tokens"},
		{"[]", "no file of tokens"},
		{`{"version":2,"tokens":[]}`, "version 2 is not known"},
		{token(`,"only_on":"mondays"`), "only_on"},
		{strings.Replace(token(""), "read", "admin", 1), `token 1: scope: there is no scope "admin"`},
		{strings.Replace(token(""), "ab", "AB", 1), "sha256"},
		{strings.Replace(token(""), "ab", "", 1), "sha256"},
		{strings.Replace(token(""), `"ci"`, `"a/b"`, 1), "name: "},
		{strings.Replace(token(""), `"ci"`, `"person"`, 1), "name: "},
		{token(`,"budget":{"max_usd":-1,"spent_usd":0}`), "budget"},
		{token(`,"budget":{"max_usd":1,"spent_usd":0,"open":[{"id":"a","place":"","usd":-1,"since":"2026-01-02T03:04:05Z"}]}`), "budget"},
		{strings.Repeat(" ", mostBytes+2), "too many"},
	}
	for _, test := range tests {
		if _, err := readTokens(strings.NewReader(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("readTokens(%.200s) = %v, want %q", test.text, err, test.want)
		}
	}
}

// FuzzReadTokens: whatever is in the file, what is taken from it is whole and stays as it is.
func FuzzReadTokens(f *testing.F) {
	s := Tokens(filepath.Join(f.TempDir(), "tokens.json"))
	until := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, token := range []Token{
		{Name: "ci", Scope: Answer, Expires: &until, Budget: &Budget{MaxUSD: 3}},
		{Name: "board", Scope: Read, AllRuns: true},
	} {
		if _, err := s.New(token); err != nil {
			f.Fatal(err)
		}
	}
	if _, err := s.Reserve("ci", "runs", 1, 0); err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(s.Path())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"version":1,"tokens":null}`))
	f.Add([]byte(`{"version":1,"tokens":[{"name":"a","name":"b"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := readTokens(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, token := range list {
			if err := token.check(); err != nil {
				t.Errorf("readTokens() gives %+v: %v", token, err)
			}
			if b := token.Budget; b != nil && (b.LeftUSD() < 0 || b.LeftUSD() > b.MaxUSD) {
				t.Errorf("LeftUSD() = %v of %v", b.LeftUSD(), b.MaxUSD)
			}
		}
		again, err := json.Marshal(tokenFile{formatVersion, list})
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		same, err := readTokens(bytes.NewReader(again))
		if diff := cmp.Diff(list, same); err != nil || diff != "" && len(list) > 0 {
			t.Errorf("written and read again: %v, -want +got\n%s", err, diff)
		}
	})
}

func TestBudget(t *testing.T) {
	s := newStore(t)
	mustNew(t, s, Token{Name: "ci", Scope: Write, Budget: &Budget{MaxUSD: 10}})
	mustNew(t, s, Token{Name: "free", Scope: Write})
	left := func() float64 {
		t.Helper()
		list, err := Tokens(s.Path()).List()
		if err != nil {
			t.Fatal(err)
		}
		return list[0].Budget.LeftUSD()
	}
	reserve := func(want, before, amount float64) Reservation {
		t.Helper()
		r, err := s.Reserve("ci", "runs", want, before)
		if err != nil || r.USD != amount {
			t.Fatalf("Reserve(%v) = %+v, %v, want %v", want, r, err, amount)
		}
		return r
	}
	settle := func(r Reservation, cost *float64, want float64) {
		t.Helper()
		if err := s.Settle("ci", r.ID, cost); err != nil || left() != want {
			t.Errorf("Settle(%+v, %v) = %v with %v left, want %v", r, cost, err, left(), want)
		}
	}

	a := reserve(4, 0, 4)
	b := reserve(0, 0, 6) // all that is left
	if err := s.Bind("ci", a.ID, "run-a"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Reserve("ci", "runs", 1, 0)
	if _, is := errors.AsType[*SpentError](err); !is || !strings.Contains(err.Error(), "10.00 USD are reserved by 2 runs") {
		t.Errorf("Reserve(nothing is left) = %v", err)
	}
	list, err := s.List()
	if err != nil || list[0].Budget.Open[0].Run != "run-a" {
		t.Errorf("List() = %+v, %v, want a reservation of run-a", list, err)
	}
	settle(a, new(1.5), 2.5)
	settle(a, new(1.5), 2.5) // it counts once
	if err := s.Release("ci", b.ID); err != nil || left() != 8.5 {
		t.Errorf("Release() = %v with %v left, want 8.5", err, left())
	}
	a = reserve(4, 1.5, 4) // the first run again, which has cost 1.5
	settle(a, new(3.0), 7)
	settle(reserve(2, 0, 2), nil, 5) // nobody knows what it cost
	settle(reserve(9, 0, 5), new(6.0), 0)
	if _, err := s.Reserve("ci", "runs", 0, 0); err == nil || !strings.Contains(err.Error(), "11.00 of 10.00 USD") {
		t.Errorf("Reserve(spent) = %v", err)
	}

	if r, err := s.Reserve("free", "runs", 3, 0); err != nil || r.ID != "" {
		t.Errorf("Reserve(without a budget) = %+v, %v, want nothing", r, err)
	}
	if _, err := s.Reserve("gone", "runs", 3, 0); !errors.Is(err, ErrNoToken) {
		t.Errorf("Reserve(of no token) = %v, want %v", err, ErrNoToken)
	}
}

// TestBudgetOfManyAtOnce: whoever asks at the same time, in one process or several, never gets
// more than there is.
func TestBudgetOfManyAtOnce(t *testing.T) {
	s := newStore(t)
	mustNew(t, s, Token{Name: "ci", Scope: Write, Budget: &Budget{MaxUSD: 5}})
	var wg sync.WaitGroup
	var mu sync.Mutex
	given := 0
	for range 4 {
		store := Tokens(s.Path())
		for range 4 {
			wg.Go(func() {
				_, err := store.Reserve("ci", "runs", 1, 0)
				if _, spent := errors.AsType[*SpentError](err); err != nil && !spent {
					t.Errorf("Reserve() = %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					given++
				}
			})
		}
	}
	wg.Wait()
	if given != 5 {
		t.Errorf("%d of 16 got a dollar of 5, want 5", given)
	}
}

func TestCheckName(t *testing.T) {
	for _, name := range []string{"ci", "a.b-c_D9"} {
		if err := CheckName(name); err != nil {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
	for _, name := range []string{"", "person", "a b", "../a", "a\n", "ü", strings.Repeat("a", 65)} {
		if err := CheckName(name); err == nil {
			t.Errorf("CheckName(%q) = nil, want an error", name)
		}
	}
}
