package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/flow"
)

// The limits of what is shown to a model as a whole.
const (
	maxAttachedText  = 256 << 10
	maxAttachedImage = 5 << 20
)

// Attachments returns what looks at the things that tasks refer to: whether they are
// there, and what is in them. It is not for models.
func (s *Set) Attachments(o Options) func(context.Context, flow.Reference) (flow.Attached, error) {
	f := newFetcher(o)
	return func(ctx context.Context, r flow.Reference) (flow.Attached, error) {
		var a flow.Attached
		var err error
		if strings.HasPrefix(r.Ref, "http://") || strings.HasPrefix(r.Ref, "https://") {
			a, err = f.attachment(ctx, r)
		} else {
			a, err = s.workspace.attachment(r)
		}
		if ctx.Err() != nil {
			return flow.Attached{}, context.Cause(ctx)
		}
		if err != nil {
			return flow.Attached{Problem: err.Error()}, nil
		}
		return a, nil
	}
}

// File reads a file of the workspace for a program.
func (s *Set) File(ctx context.Context, in flow.File) (flow.Attached, error) {
	a, err := s.workspace.show(in.Path, in.Most)
	if ctx.Err() != nil {
		return flow.Attached{}, context.Cause(ctx)
	}
	if err == nil {
		return a, nil
	}
	a = flow.Attached{Problem: err.Error()}
	if large, ok := errors.AsType[*tooLargeError](err); ok {
		a.TooLarge = large.size
	}
	return a, nil
}

// attachment reads a file of the workspace.
func (w *workspace) attachment(in flow.Reference) (flow.Attached, error) {
	return w.show(in.Ref, maxAttachedText)
}

func (w *workspace) show(path string, mostText int64) (flow.Attached, error) {
	f, info, err := w.openRegular(path)
	if err != nil {
		if rel, relErr := w.rel(path); relErr == nil {
			if info, statErr := w.Stat(rel); statErr == nil && info.IsDir() {
				return flow.Attached{MediaType: "inode/directory"}, nil
			}
		}
		return flow.Attached{}, err
	}
	defer f.Close()
	return show(f, filepath.Base(path), info.Size(), mostText)
}

// A tooLargeError is why a file is not taken.
type tooLargeError struct {
	error
	size int64 // it has that many bytes, or more
}

// Show is what a model is shown of a file, or of whatever else is read: a text or an
// image. Of anything else there is only its type.
func Show(r io.Reader, name string) (flow.Attached, error) { return show(r, name, 0, maxAttachedText) }

// show takes the size of what it reads if that is known before.
func show(r io.Reader, name string, size, limit int64) (flow.Attached, error) {
	head := make([]byte, 512)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return flow.Attached{}, err
	}
	head = head[:n]
	kind, _, _ := strings.Cut(http.DetectContentType(head), ";")
	switch {
	case isImage(kind):
		limit = maxAttachedImage
	case binaryKind(head) != "":
		return flow.Attached{MediaType: kind}, nil // it is there; tools may read it
	}
	if size > limit {
		return flow.Attached{}, &tooLargeError{fmt.Errorf("%s has %d bytes, more than the %d that can be attached", name, size, limit), size}
	}
	data, err := io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(head), r), limit+1))
	switch {
	case err != nil:
		return flow.Attached{}, err
	case int64(len(data)) > limit:
		return flow.Attached{}, &tooLargeError{fmt.Errorf("%s has more than the %d bytes that can be attached", name, limit), limit + 1}
	case isImage(kind):
		return flow.Attached{MediaType: kind, Data: data}, nil
	case !utf8.Valid(data):
		return flow.Attached{MediaType: "application/octet-stream"}, nil
	}
	return flow.Attached{MediaType: "text/plain", Text: string(data)}, nil
}

// isImage reports whether models can be shown a kind of file.
func isImage(kind string) bool {
	return slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind)
}

// attachment looks whether an address answers, and loads it if it is a picture. What
// else it says is for WebFetch to read.
func (f fetcher) attachment(ctx context.Context, in flow.Reference) (flow.Attached, error) {
	if err := (fetchInput{URL: in.Ref}).Check(); err != nil {
		return flow.Attached{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, in.Ref, nil)
	if err != nil {
		return flow.Attached{}, err
	}
	resp, err := f.client.Do(req)
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // whoever reads it knows the address
	}
	if err != nil {
		return flow.Attached{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return flow.Attached{}, fmt.Errorf("it answered %s", resp.Status)
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if !isImage(kind) {
		return flow.Attached{MediaType: kind}, nil
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAttachedImage+1))
	if err == nil && len(data) > maxAttachedImage {
		err = fmt.Errorf("it has more than the %d bytes that can be attached", maxAttachedImage)
	}
	if err != nil {
		return flow.Attached{}, err
	}
	return flow.Attached{MediaType: kind, Data: data}, nil
}
