// Package store is where runs on Temporal keep what does not belong into histories: values
// by their hashes, the journals of effects, and the events of runs.
//
// All of it is written once and never changed: whoever creates a name first has it, and
// whoever comes later learns that. So workers that are lost, late or doubled need no locks.
package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// A Store keeps objects by name. Names are paths of letters, digits, -, _ and dots. An object
// store that can create an object only if it is not there yet can be one.
type Store interface {
	// Create makes an object, whole or not at all. It is [ErrExists] if there is one of the
	// name, whatever it holds.
	Create(ctx context.Context, name string, data []byte) error

	// Get is an object; [fs.ErrNotExist] if there is none.
	Get(ctx context.Context, name string) ([]byte, error)

	// List is the names of what lies directly below a folder, sorted; none if there is no
	// such folder.
	List(ctx context.Context, folder string) ([]string, error)
}

// ErrExists says that somebody else was first.
var ErrExists = errors.New("there is one already")

// ErrTaken says that something else has the name: whoever wanted it is late.
var ErrTaken = errors.New("somebody else has written this")

// Put creates an object, or finds that it is there as it is.
func Put(ctx context.Context, s Store, name string, data []byte) error {
	err := s.Create(ctx, name, data)
	if !errors.Is(err, ErrExists) {
		return err
	}
	there, err := s.Get(ctx, name)
	if err != nil {
		return err
	}
	if !bytes.Equal(there, data) {
		return fmt.Errorf("store: %s: %w", name, ErrTaken)
	}
	return nil
}

// PutValue stores a value and returns its hash.
func PutValue(ctx context.Context, s Store, data []byte) (string, error) {
	hash := hashOf(s, data)
	err := s.Create(ctx, valueName(hash), data)
	if errors.Is(err, ErrExists) {
		err = nil // the name says what it holds
	}
	return hash, err
}

// GetValue is the value of a hash.
func GetValue(ctx context.Context, s Store, hash string) ([]byte, error) {
	if len(hash) != hex.EncodedLen(sha256.Size) {
		return nil, fmt.Errorf("store: %q is no hash", hash)
	}
	data, err := s.Get(ctx, valueName(hash))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("store: the value %s is not there: is this the store that the run was started with?: %w", hash, err)
	}
	if err != nil {
		return nil, err
	}
	if hashOf(s, data) != hash {
		return nil, fmt.Errorf("store: the value %s is damaged", hash)
	}
	return data, nil
}

// A summer is a store with hashes of its own.
type summer interface{ sum(data []byte) []byte }

func hashOf(s Store, data []byte) string {
	if own, ok := s.(summer); ok {
		return hex.EncodeToString(own.sum(data))
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func valueName(hash string) string { return path.Join("values", hash[:2], hash) }
