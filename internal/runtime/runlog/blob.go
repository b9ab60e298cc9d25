package runlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/wholefile"
)

// store puts a value that is large, or nested so deeply that no line can hold it,
// beside the log and returns a reference to it.
func (l *Log) store(v event.Value) (event.Value, error) {
	if len(v.JSON) <= maxInline && !event.TooDeep(v.JSON) {
		return v, nil
	}
	if err := l.guard(); err != nil {
		return v, err
	}
	v.JSON = l.redact(v.JSON)
	sum := sha256.Sum256(v.JSON)
	name := hex.EncodeToString(sum[:])
	if err := writeBlob(filepath.Join(l.dir, BlobsDir), name, v.JSON); err != nil {
		return v, &WriteError{Dir: l.dir, Err: err}
	}
	return event.Value{Ref: &event.Ref{SHA256: name, Bytes: int64(len(v.JSON))}}, nil
}

// writeBlob makes the value durable before any line refers to it.
func writeBlob(dir, name string, data []byte) error {
	path := filepath.Join(dir, name)
	if there, _ := os.ReadFile(path); bytes.Equal(there, data) {
		return nil // the same content is there already, and whole
	}
	if err := makeDir(dir); err != nil {
		return err
	}
	if err := wholefile.Replace(path, data); err != nil {
		return err
	}
	return syncDir(dir)
}

// Load returns v with its content, reading it from beside the log of dir if it
// is stored there.
func Load(dir string, v event.Value) (event.Value, error) {
	if v.Ref == nil {
		return v, nil
	}
	if len(v.Ref.SHA256) != sha256.Size*2 || filepath.Base(v.Ref.SHA256) != v.Ref.SHA256 {
		return v, fmt.Errorf("run log: %q is not a content hash", v.Ref.SHA256)
	}
	data, err := os.ReadFile(filepath.Join(dir, BlobsDir, v.Ref.SHA256))
	if err != nil {
		return v, fmt.Errorf("run log: stored value: %w", err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != v.Ref.SHA256 {
		return v, fmt.Errorf("run log: the stored value %s is damaged", v.Ref.SHA256)
	}
	return event.Value{JSON: data}, nil
}
