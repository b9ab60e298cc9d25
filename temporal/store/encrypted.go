package store

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
)

// A Key encrypts what is in a store.
type Key [32]byte

// ParseKey reads a key as people keep it: 32 bytes, as hexadecimal digits or base64.
func ParseKey(text []byte) (Key, error) {
	var k Key
	clean := bytes.TrimSpace(text)
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString, base64.StdEncoding.DecodeString, base64.URLEncoding.DecodeString,
		base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
	} {
		if data, err := decode(string(clean)); err == nil && len(data) == len(k) {
			return Key(data), nil
		}
	}
	return k, errors.New("want 32 bytes as 64 hexadecimal digits or as base64, such as `openssl rand -hex 32` prints")
}

// Why an encrypted object cannot be read.
var (
	ErrKey      = errors.New("it was encrypted with another key")
	ErrPlain    = errors.New("it is not encrypted, so that it was written without the key")
	ErrTampered = errors.New("it was changed since it was written, or moved from another name")
)

// sealed is how encrypted objects begin. What follows is which key it was, the nonce, and what
// AES-256-GCM made of the object, to which its name belongs.
const sealed = "maker-sealed-1\n"

const keyIDSize = 8

// Encrypted is a store whose objects are encrypted in another one. Names are not.
//
// The same object under the same name always looks the same: a nonce follows from both, so
// that whoever is first can still be told from whoever writes the same again. What that tells
// a reader without the key is which objects are equal under one name, of which there is one.
func Encrypted(s Store, key Key) Store {
	derive := func(purpose string, size int) []byte {
		k, err := hkdf.Key(sha256.New, key[:], nil, "maker store: "+purpose, size)
		if err != nil {
			panic(err) // it depends on the sizes alone
		}
		return k
	}
	block, err := aes.NewCipher(derive("objects", 32))
	if err != nil {
		panic(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return &encrypted{
		Store: s, gcm: gcm, nonces: derive("nonces", 32), values: derive("values", 32),
		head: append([]byte(sealed), derive("id", keyIDSize)...),
	}
}

type encrypted struct {
	Store
	gcm            cipher.AEAD
	nonces, values []byte // keys
	head           []byte
}

// Create implements [Store].
func (e *encrypted) Create(ctx context.Context, name string, data []byte) error {
	return e.Store.Create(ctx, name, e.seal(name, data))
}

// Get implements [Store].
func (e *encrypted) Get(ctx context.Context, name string) ([]byte, error) {
	data, err := e.Store.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	if data, err = e.open(name, data); err != nil {
		return nil, fmt.Errorf("store: %s: %w", name, err)
	}
	return data, nil
}

func (e *encrypted) seal(name string, data []byte) []byte {
	mac := hmac.New(sha256.New, e.nonces)
	_ = binary.Write(mac, binary.BigEndian, uint64(len(name))) // a hash takes everything
	mac.Write([]byte(name))
	mac.Write(data)
	nonce := mac.Sum(nil)[:e.gcm.NonceSize()]
	out := make([]byte, 0, len(e.head)+len(nonce)+len(data)+e.gcm.Overhead())
	out = append(append(out, e.head...), nonce...)
	return e.gcm.Seal(out, nonce, data, []byte(name))
}

func (e *encrypted) open(name string, data []byte) ([]byte, error) {
	rest, isSealed := bytes.CutPrefix(data, []byte(sealed))
	if !isSealed {
		return nil, ErrPlain
	}
	rest, ours := bytes.CutPrefix(rest, e.head[len(sealed):])
	if !ours {
		return nil, ErrKey
	}
	if len(rest) < e.gcm.NonceSize() {
		return nil, ErrTampered
	}
	nonce, body := rest[:e.gcm.NonceSize()], rest[e.gcm.NonceSize():]
	plain, err := e.gcm.Open(nil, nonce, body, []byte(name))
	if err != nil {
		return nil, ErrTampered
	}
	return plain, nil
}

// sum implements [summer]: without the key nobody can tell from a hash whether a value is the
// one that they think of.
func (e *encrypted) sum(data []byte) []byte {
	mac := hmac.New(sha256.New, e.values)
	mac.Write(data)
	return mac.Sum(nil)
}

// Check makes sure that a store is read as it was written: with its key, or without one. The
// first who asks says which it is.
func Check(ctx context.Context, s Store) error {
	err := Put(ctx, s, "format", []byte("maker store 1\n"))
	switch {
	case errors.Is(err, ErrTaken):
		return errors.New("the store is encrypted, or of another version: read it with the key that it was begun with")
	case errors.Is(err, ErrKey):
		return errors.New("the store was begun with another key")
	case errors.Is(err, ErrPlain):
		return errors.New("the store was begun without a key: use it without one, or begin another one")
	}
	return err
}
