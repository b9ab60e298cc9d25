package builtin

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/flow"
)

func TestAttachments(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 20)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<p>hello")
		case "/a.png":
			w.Header().Set("Content-Type", "image/png")
			fmt.Fprint(w, png)
		case "/huge.png":
			w.Header().Set("Content-Type", "image/png")
			fmt.Fprint(w, strings.Repeat("x", maxAttachedImage+1))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"notes.txt": "three words here\n", "empty.txt": "", "a.png": png, "a.pdf": "%PDF-1.7 \x00", "a.bin": "x\xff\xfe",
		"long.txt": strings.Repeat("x", maxAttachedText+1), "huge.png": png + strings.Repeat("x", maxAttachedImage),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	o := Options{Workspace: dir, Tools: []string{"Read"}, AllowPrivate: true}
	set, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	attach := set.Attachments(o)
	for _, test := range []struct {
		ref, kind, text string
		image           bool
		err             string
	}{
		{ref: "notes.txt", kind: "text/plain", text: "three words here\n"},
		{ref: "./notes.txt", kind: "text/plain", text: "three words here\n"},
		{ref: "empty.txt", kind: "text/plain"},
		{ref: "a.png", kind: "image/png", image: true},
		{ref: "a.pdf", kind: "application/pdf"},
		{ref: "a.bin", kind: "application/octet-stream"},
		{ref: "docs", kind: "inode/directory"},
		{ref: "missing.txt", err: "missing.txt"},
		{ref: "../outside.txt", err: "outside the workspace"},
		{ref: "/etc/passwd", err: "outside the workspace"},
		{ref: "long.txt", err: fmt.Sprint(maxAttachedText)},
		{ref: "huge.png", err: fmt.Sprint(maxAttachedImage)},
		{ref: server.URL + "/page", kind: "text/html"},
		{ref: server.URL + "/a.png", kind: "image/png", image: true},
		{ref: server.URL + "/huge.png", err: fmt.Sprint(maxAttachedImage)},
		{ref: server.URL + "/missing", err: "404"},
		{ref: "http://", err: "url"},
	} {
		got, err := attach(t.Context(), flow.Reference{Kind: "file", Ref: test.ref})
		if err != nil {
			t.Errorf("Attachment(%s) = %v", test.ref, err)
			continue
		}
		if test.err != "" || got.Problem != "" {
			if test.err == "" || !strings.Contains(strings.ToLower(got.Problem), strings.ToLower(test.err)) {
				t.Errorf("Attachment(%s) = %.200s, want the problem %q", test.ref, got.Problem, test.err)
			}
			continue
		}
		if got.MediaType != test.kind || got.Text != test.text || (len(got.Data) > 0) != test.image {
			t.Errorf("Attachment(%s) = %s, %q, %d bytes, want %s, %q", test.ref, got.MediaType, got.Text, len(got.Data), test.kind, test.text)
		}
	}
	guarded := set.Attachments(Options{Workspace: dir})
	if got, err := guarded(t.Context(), flow.Reference{Kind: "url", Ref: server.URL + "/page"}); err != nil || got.Problem == "" {
		t.Errorf("Attachment(loopback) = %+v, %v, want that it is refused", got, err)
	}
}
