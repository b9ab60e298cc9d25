package web_test

import (
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/internal/web"
)

func get(t *testing.T, method, path string, header http.Header) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	web.Handler().ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestServesThePage(t *testing.T) {
	for path, kind := range map[string]string{
		"/":           "text/html; charset=utf-8",
		"/index.html": "text/html; charset=utf-8",
		"/main.js":    "text/javascript; charset=utf-8",
		"/style.css":  "text/css; charset=utf-8",
		"/icon.svg":   "image/svg+xml",

		"/favicon.ico": "image/svg+xml",
	} {
		r := get(t, http.MethodGet, path, nil)
		if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != kind {
			t.Errorf("GET %s = %d %s, want 200 %s", path, r.StatusCode, r.Header.Get("Content-Type"), kind)
		}
		if got := r.Header.Get("Content-Security-Policy"); got != web.Policy {
			t.Errorf("GET %s has the policy %q, want %q", path, got, web.Policy)
		}
		if got := r.Header.Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("GET %s: X-Content-Type-Options = %q, want nosniff", path, got)
		}
		if body(t, r) == "" {
			t.Errorf("GET %s is empty", path)
		}
	}
}

func TestHasNothingElse(t *testing.T) {
	for _, path := range []string{"/page", "/page/", "/page/main.js", "/../web.go", "/%2e%2e/web.go", "/none.js", "/main.js/", "//main.js"} {
		if r := get(t, http.MethodGet, path, nil); r.StatusCode != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", path, r.StatusCode)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		if r := get(t, method, "/", nil); r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s / = %d, Allow %q; want 405 and GET, HEAD", method, r.StatusCode, r.Header.Get("Allow"))
		}
	}
}

func TestKeepsWhatHasNotChanged(t *testing.T) {
	first := get(t, http.MethodGet, "/main.js", nil)
	tag := first.Header.Get("ETag")
	if tag == "" || first.Header.Get("Cache-Control") != "no-cache" {
		t.Fatalf("ETag %q, Cache-Control %q; want a tag, and no-cache", tag, first.Header.Get("Cache-Control"))
	}
	if other := get(t, http.MethodGet, "/style.css", nil).Header.Get("ETag"); other == tag {
		t.Errorf("main.js and style.css both have the ETag %s", tag)
	}
	again := get(t, http.MethodGet, "/main.js", http.Header{"If-None-Match": {tag}})
	if again.StatusCode != http.StatusNotModified || body(t, again) != "" {
		t.Errorf("GET with If-None-Match = %d, want 304 without a body", again.StatusCode)
	}
	changed := get(t, http.MethodGet, "/main.js", http.Header{"If-None-Match": {`"another"`}})
	if changed.StatusCode != http.StatusOK {
		t.Errorf("GET with another If-None-Match = %d, want 200", changed.StatusCode)
	}
	if head := get(t, http.MethodHead, "/main.js", nil); head.StatusCode != http.StatusOK || body(t, head) != "" {
		t.Errorf("HEAD = %d, want 200 without a body", head.StatusCode)
	}
}

// forbidden is what makes text of others into markup or program, or what the policy blocks.
var forbidden = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|setHTML|srcdoc|\beval\b|new Function|javascript:|setAttribute\('(style|on)|style:|https?://`)

func TestMakesNoMarkupOfText(t *testing.T) {
	each(t, func(name, text string) {
		for i, line := range strings.Split(text, "\n") {
			if strings.Contains(line, "http://www.w3.org/") { // names of formats, which nobody fetches
				continue
			}
			if found := forbidden.FindString(line); found != "" && filepath.Ext(name) == ".js" {
				t.Errorf("%s:%d has %s: %s", name, i+1, found, strings.TrimSpace(line))
			}
		}
	})
}

func TestNeedsNothingThatThePolicyBlocks(t *testing.T) {
	inline := regexp.MustCompile(`<script(?:[^>]*)>[^<]|<style|\sstyle=|\son[a-z]+=|https?://|@import|url\(`)
	each(t, func(name, text string) {
		if ext := filepath.Ext(name); ext != ".html" && ext != ".css" {
			return
		}
		if found := inline.FindString(text); found != "" {
			t.Errorf("%s has %q", name, found)
		}
	})
}

// modules finds the files that others ask for.
var modules = regexp.MustCompile(`(?:from|import\() ?'\./([^']+)'|(?:src|href)="([^"#$][^"]*)"`)

func TestAsksForNothingThatIsNotThere(t *testing.T) {
	asked := map[string]bool{"index.html": true}
	each(t, func(name, text string) {
		for _, found := range modules.FindAllStringSubmatch(text, -1) {
			asked[found[1]+found[2]] = true
		}
	})
	each(t, func(name, _ string) {
		if !asked[name] {
			t.Errorf("nothing uses %s", name)
		}
		delete(asked, name)
	})
	for name := range asked {
		t.Errorf("there is no %s", name)
	}
}

// TestModulesComeAtOnce holds the document against the modules: a browser that has to read one
// to learn of the next takes as many round trips.
func TestModulesComeAtOnce(t *testing.T) {
	document := body(t, get(t, http.MethodGet, "/", nil))
	each(t, func(name, _ string) {
		if filepath.Ext(name) != ".js" || name == "types.js" { // which is never loaded
			return
		}
		if !strings.Contains(document, `<link rel="modulepreload" href="`+name+`">`) && !strings.Contains(document, `src="`+name+`"`) {
			t.Errorf("index.html does not preload %s", name)
		}
	})
}

// TestIsSmall keeps the modules readable, and the program small.
func TestIsSmall(t *testing.T) {
	all := 0
	each(t, func(name, text string) {
		all += len(text)
		if lines := strings.Count(text, "\n"); lines > 500 {
			t.Errorf("%s has %d lines, want at most 500", name, lines)
		}
	})
	if all > 300_000 {
		t.Errorf("the page has %d bytes, want at most 300,000", all)
	}
}

// each calls f with every file of the page.
func each(t *testing.T, f func(name, text string)) {
	t.Helper()
	n := 0
	err := filepath.WalkDir("page", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		f(filepath.ToSlash(strings.TrimPrefix(path, "page"+string(filepath.Separator))), string(data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 10 {
		t.Fatalf("there are %d files, want the whole page", n)
	}
}
