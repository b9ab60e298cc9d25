// Package web is the page of maker serve: plain modules of JavaScript, a style sheet and one
// document, which work as they are, without a build and without a network.
//
// All that the page shows comes from the API, and much of it from models and tools. It gets
// into the document as text and never as markup; the content security policy lets no other
// script run if that should fail.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed page
var files embed.FS

// Policy is the content security policy of the page: its own scripts and styles, none within
// the document, and nothing from elsewhere.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// types are the media types of what the page consists of. The system's own table is not
// asked: it differs from machine to machine.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// file is a part of the page.
type file struct {
	data []byte
	kind string
	tag  string // stands for its content
}

// Handler serves the page: its document at /, and the parts of it beside that. There is
// nothing else, and no list of what there is. A browser keeps what it has and asks whether it
// is still the same, so that a new version is seen at once.
func Handler() http.Handler {
	parts := load()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "the page is only read", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, "/")
		switch name {
		case "":
			name = "index.html"
		case "favicon.ico": // which browsers ask for wherever a document names none
			name = "icon.svg"
		}
		part, ok := parts[name]
		if !ok {
			http.Error(w, "there is no such page; begin at /", http.StatusNotFound)
			return
		}
		h := w.Header()
		h.Set("Content-Type", part.kind)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", Policy)
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", part.tag)
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(part.data))
	})
}

// load reads the parts of the page by their names.
func load() map[string]file {
	parts := map[string]file{}
	err := fs.WalkDir(files, "page", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		parts[strings.TrimPrefix(name, "page/")] = file{data, types[path.Ext(name)], `"` + hex.EncodeToString(sum[:16]) + `"`}
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	return parts
}
