package store_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/temporal/store"
)

// memory is a store that a test can look into and change.
type memory map[string][]byte

func (m memory) Create(_ context.Context, name string, data []byte) error {
	if _, there := m[name]; there {
		return store.ErrExists
	}
	m[name] = bytes.Clone(data)
	return nil
}

func (m memory) Get(_ context.Context, name string) ([]byte, error) {
	data, there := m[name]
	if !there {
		return nil, fs.ErrNotExist
	}
	return data, nil
}

func (m memory) List(context.Context, string) ([]string, error) { return nil, nil }

var one, other = store.Key{1}, store.Key{2}

func TestParseKey(t *testing.T) {
	key := store.Key{0xfb, 0xff, 31: 7}
	for name, text := range map[string]string{
		"hex":             hex.EncodeToString(key[:]),
		"hex with a line": strings.ToUpper(hex.EncodeToString(key[:])) + "\n",
		"base64":          base64.StdEncoding.EncodeToString(key[:]) + "\r\n",
		"base64 for URLs": base64.RawURLEncoding.EncodeToString(key[:]),
	} {
		if got, err := store.ParseKey([]byte(text)); got != key || err != nil {
			t.Errorf("ParseKey(%s) = %x, %v, want %x", name, got, err, key)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "too short": "00ff", "too long": strings.Repeat("0", 66), "a sentence": "a password of thirty-two bytes..",
	} {
		if got, err := store.ParseKey([]byte(text)); err == nil {
			t.Errorf("ParseKey(%s) = %x, want an error", name, got)
		}
	}
}

func TestEncrypted(t *testing.T) {
	ctx, m := t.Context(), memory{}
	s := store.Encrypted(m, one)
	if err := s.Create(ctx, "a", []byte("what nobody may read")); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(m["a"], []byte("nobody")) {
		t.Errorf("the store has %q", m["a"])
	}
	if got, err := s.Get(ctx, "a"); err != nil || string(got) != "what nobody may read" {
		t.Errorf("Get() = %q, %v", got, err)
	}
	if _, err := s.Get(ctx, "missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get(missing) = %v, want that it does not exist", err)
	}
	// Whoever is first is told from whoever writes the same again, by any worker.
	again := store.Encrypted(m, one)
	if err := store.Put(ctx, again, "a", []byte("what nobody may read")); err != nil {
		t.Errorf("Put(the same) = %v", err)
	}
	if err := store.Put(ctx, again, "a", []byte("something else")); !errors.Is(err, store.ErrTaken) {
		t.Errorf("Put(another) = %v, want %v", err, store.ErrTaken)
	}
	if err := s.Create(ctx, "b", []byte("what nobody may read")); err != nil || bytes.Equal(m["a"], m["b"]) {
		t.Errorf("Create(b) = %v, and both look the same: %v", err, bytes.Equal(m["a"], m["b"]))
	}
}

func TestEncryptedUnreadable(t *testing.T) {
	ctx := t.Context()
	for name, test := range map[string]struct {
		spoil func(m memory)
		key   store.Key
		want  error
	}{
		"another key":   {func(memory) {}, other, store.ErrKey},
		"not encrypted": {func(m memory) { m["a"] = []byte("plain") }, one, store.ErrPlain},
		"another name":  {func(m memory) { m["a"] = m["b"] }, one, store.ErrTampered},
		"a bit":         {func(m memory) { m["a"][len(m["a"])-1] ^= 1 }, one, store.ErrTampered},
		"the nonce":     {func(m memory) { m["a"][len("maker-sealed-1\n")+8] ^= 1 }, one, store.ErrTampered},
		"cut off":       {func(m memory) { m["a"] = m["a"][:len("maker-sealed-1\n")+8+3] }, one, store.ErrTampered},
	} {
		m := memory{}
		for _, object := range []string{"a", "b"} {
			if err := store.Encrypted(m, one).Create(ctx, object, []byte(object)); err != nil {
				t.Fatal(err)
			}
		}
		test.spoil(m)
		if got, err := store.Encrypted(m, test.key).Get(ctx, "a"); !errors.Is(err, test.want) {
			t.Errorf("%s: Get() = %q, %v, want %v", name, got, err, test.want)
		}
	}
}

// TestEncryptedValues: what is known by its hash is not known by that of its content.
func TestEncryptedValues(t *testing.T) {
	ctx, m, plain := t.Context(), memory{}, memory{}
	s := store.Encrypted(m, one)
	hash, err := store.PutValue(ctx, s, []byte("yes"))
	if err != nil {
		t.Fatal(err)
	}
	if known, err := store.PutValue(ctx, plain, []byte("yes")); err != nil || known == hash {
		t.Errorf("PutValue() = %s, %v with and without a key", known, err)
	}
	if again, err := store.PutValue(ctx, store.Encrypted(m, one), []byte("yes")); err != nil || again != hash {
		t.Errorf("PutValue(again) = %s, %v, want %s", again, err, hash)
	}
	if got, err := store.GetValue(ctx, s, hash); err != nil || string(got) != "yes" {
		t.Errorf("GetValue() = %q, %v", got, err)
	}
}

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		begun, read func(store.Store) store.Store
		want        string
	}{
		"plain":        {asIs, asIs, ""},
		"key":          {with(one), with(one), ""},
		"another key":  {with(one), with(other), "another key"},
		"without key":  {with(one), asIs, "encrypted"},
		"key too late": {asIs, with(one), "without a key"},
	} {
		m := memory{}
		if err := store.Check(t.Context(), test.begun(m)); err != nil {
			t.Errorf("%s: the first Check() = %v", name, err)
		}
		err := store.Check(t.Context(), test.read(m))
		if (test.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: Check() = %v, want %q", name, err, test.want)
		}
	}
}

func asIs(s store.Store) store.Store { return s }

func with(k store.Key) func(store.Store) store.Store {
	return func(s store.Store) store.Store { return store.Encrypted(s, k) }
}

func FuzzEncrypted(f *testing.F) {
	f.Add("a", []byte("data"), []byte("maker-sealed-1\n"), uint(0))
	f.Add("runs/x/submitted", []byte{}, []byte{}, uint(40))
	f.Fuzz(func(t *testing.T, name string, data, found []byte, at uint) {
		ctx, m := t.Context(), memory{}
		s := store.Encrypted(m, one)
		if err := s.Create(ctx, name, data); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(ctx, name); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("Get() = %q, %v, want %q", got, err, data)
		}
		sealed := m[name]
		sealed[at%uint(len(sealed))] ^= 0x20
		if got, err := s.Get(ctx, name); err == nil {
			t.Errorf("Get(changed) = %q, want an error", got)
		}
		m[name] = found
		if got, err := s.Get(ctx, name); err == nil {
			t.Errorf("Get(%q) = %q, want an error", found, got)
		}
	})
}
