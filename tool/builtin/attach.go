package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/tool"
)

// AttachmentTool is the name of the tool that [Set.Attachments] returns.
const AttachmentTool = "Attachment"

// The limits of what is shown to a model as a whole.
const (
	maxAttachedText  = 256 << 10
	maxAttachedImage = 5 << 20
)

type attachInput struct {
	Kind string `json:"kind" enum:"file,image,url"`
	Ref  string `json:"ref"`
}

// attachment is the result of the tool, as JSON.
type attachment struct {
	MediaType string `json:"media_type"`
	Text      string `json:"text,omitempty"` // of a text file
	Data      []byte `json:"data,omitempty"` // of an image
}

// Attachments returns the tool that looks at what a task refers to: whether it is
// there, and what is in it. It is not for models, and not among [Names].
func (s *Set) Attachments(o Options) (tool.Tool, error) {
	f := newFetcher(o)
	return tool.New(tool.Tool{
		Name: AttachmentTool, Description: "Reads what a task refers to.", Effect: tool.Observe,
		Source: tool.Builtin, Idempotent: true,
	}, func(ctx context.Context, in attachInput) (tool.Result, error) {
		var a attachment
		var err error
		if strings.HasPrefix(in.Ref, "http://") || strings.HasPrefix(in.Ref, "https://") {
			a, err = f.attachment(ctx, in)
		} else {
			a, err = s.workspace.attachment(in)
		}
		if ctx.Err() != nil {
			return tool.Result{}, context.Cause(ctx)
		}
		if err != nil {
			return tool.Failed("%v", err), nil
		}
		data, err := json.Marshal(a)
		return tool.Result{Text: string(data)}, err
	})
}

// attachment reads a file of the workspace.
func (w *workspace) attachment(in attachInput) (attachment, error) {
	f, info, err := w.openRegular(in.Ref)
	if err != nil {
		if rel, relErr := w.rel(in.Ref); relErr == nil {
			if info, statErr := w.Stat(rel); statErr == nil && info.IsDir() {
				return attachment{MediaType: "inode/directory"}, nil
			}
		}
		return attachment{}, err
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return attachment{}, err
	}
	kind, _, _ := strings.Cut(http.DetectContentType(head[:n]), ";")
	limit := int64(maxAttachedText)
	switch {
	case isImage(kind):
		limit = maxAttachedImage
	case binaryKind(head[:n]) != "":
		return attachment{MediaType: kind}, nil // it is there; tools may read it
	}
	if info.Size() > limit {
		return attachment{}, fmt.Errorf("%s has %d bytes, more than the %d that can be attached", filepath.Base(in.Ref), info.Size(), limit)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return attachment{}, err
	}
	data, err := readWhole(f, limit)
	if err != nil {
		return attachment{}, err
	}
	return shown(kind, data)
}

// shown is what a model is shown of a file.
func shown(kind string, data []byte) (attachment, error) {
	switch {
	case isImage(kind):
		return attachment{MediaType: kind, Data: data}, nil
	case !utf8.Valid(data):
		return attachment{MediaType: "application/octet-stream"}, nil
	}
	return attachment{MediaType: "text/plain", Text: string(data)}, nil
}

// isImage reports whether models can be shown a kind of file.
func isImage(kind string) bool {
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// attachment looks whether an address answers, and loads it if it is a picture. What
// else it says is for WebFetch to read.
func (f fetcher) attachment(ctx context.Context, in attachInput) (attachment, error) {
	if err := (fetchInput{URL: in.Ref}).Check(); err != nil {
		return attachment{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, in.Ref, nil)
	if err != nil {
		return attachment{}, err
	}
	resp, err := f.client.Do(req)
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // whoever reads it knows the address
	}
	if err != nil {
		return attachment{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return attachment{}, fmt.Errorf("it answered %s", resp.Status)
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if !isImage(kind) {
		return attachment{MediaType: kind}, nil
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAttachedImage+1))
	if err == nil && len(data) > maxAttachedImage {
		err = fmt.Errorf("it has more than the %d bytes that can be attached", maxAttachedImage)
	}
	if err != nil {
		return attachment{}, err
	}
	return attachment{MediaType: kind, Data: data}, nil
}
