package builtin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/internal/text/clip"
)

func TestRead(t *testing.T) {
	var numbers strings.Builder
	for i := range 2500 {
		fmt.Fprintln(&numbers, i+1)
	}
	s := newSet(t, Options{}, map[string]string{
		"a.txt":     "one\ntwo\n\nfour",
		"crlf.txt":  "one\r\ntwo\r\n",
		"empty":     "",
		"many":      numbers.String(),
		"wide":      strings.Repeat("x", 5000) + "\nnext\n",
		"exact":     strings.Repeat("y", 2000) + "\n",
		"large":     strings.Repeat(strings.Repeat("z", 1000)+"\n", 300),
		"oneline":   strings.Repeat("w", 300_000),
		"latin":     "caf\xe9\n",
		"zero":      "a\x00b",
		"image.png": "\x89PNG\r\n\x1a\n" + "\x00\x00\x00\rIHDR",
		"doc.pdf":   "%PDF-1.7\n",
		"dir/":      "",
		"link":      "-> a.txt",
	})
	s.check(t, "Read", []callTest{
		{"whole", `{"file_path":"a.txt"}`, "     1\tone\n     2\ttwo\n     3\t\n     4\tfour\n", false},
		{"absolute", `{"file_path":"$W/a.txt","limit":1}`, "     1\tone\n[cut: lines 1 to 1 are shown and more follow; read on with offset 2]\n", false},
		{"part", `{"file_path":"./dir/../a.txt","offset":2,"limit":2}`, "     2\ttwo\n     3\t\n[cut: lines 2 to 3 are shown and more follow; read on with offset 4]\n", false},
		{"to the end", `{"file_path":"a.txt","offset":4,"limit":1}`, "     4\tfour\n", false},
		{"from 0", `{"file_path":"a.txt","offset":0,"limit":10}`, "     1\tone\n     2\ttwo\n     3\t\n     4\tfour\n", false},
		{"past the end", `{"file_path":"a.txt","offset":5}`, "the file has 4 lines", true},
		{"crlf", `{"file_path":"crlf.txt"}`, "     1\tone\n     2\ttwo\n", false},
		{"empty", `{"file_path":"empty"}`, "[the file is empty]", false},
		{"through a link", `{"file_path":"link","limit":4}`, "     1\tone\n     2\ttwo\n     3\t\n     4\tfour\n", false},
		{"long line", `{"file_path":"wide"}`, "     1\t" + strings.Repeat("x", 2000) + "\n     2\tnext\n[cut: 1 lines are longer than 2000 bytes]\n", false},
		{"line of the limit", `{"file_path":"exact"}`, "     1\t" + strings.Repeat("y", 2000) + "\n", false},
		{"one very long line", `{"file_path":"oneline"}`, "     1\t" + strings.Repeat("w", 2000) + "\n[cut: 1 lines are longer than 2000 bytes]\n", false},
		{"not UTF-8", `{"file_path":"latin"}`, "     1\tcaf\uFFFD\n", false},
		{"binary", `{"file_path":"zero"}`, "zero is a binary file (application/octet-stream) of 3 bytes", true},
		{"image", `{"file_path":"image.png"}`, "an image (image/png)", true},
		{"pdf", `{"file_path":"doc.pdf"}`, "a PDF", true},
		{"missing", `{"file_path":"no"}`, "no does not exist", true},
		{"folder", `{"file_path":"dir"}`, "is a folder", true},
		{"device", `{"file_path":"/dev/zero"}`, "outside the workspace", true},
		{"no input", `{}`, "file_path", true},
		{"wrong limit", `{"file_path":"a.txt","limit":0}`, "limit", true},
		{"wrong offset", `{"file_path":"a.txt","offset":-1}`, "offset", true},
		{"NUL", `{"file_path":"a\u0000b"}`, "is no path", true},
	})
	many := s.call(t, "Read", `{"file_path":"many"}`).Text
	if !strings.HasSuffix(many, "  2000\t2000\n[cut: lines 1 to 2000 are shown and more follow; read on with offset 2001]\n") {
		t.Errorf("Read(2500 lines) ends with %q, want 2000 lines and a note", many[max(0, len(many)-120):])
	}
	large := s.call(t, "Read", `{"file_path":"large"}`).Text
	if len(large) > readBytes+1000 || !strings.Contains(large, "read on with offset") {
		t.Errorf("Read(300 kB) = %d bytes, want at most about %d and a note", len(large), readBytes)
	}
}

func TestWrite(t *testing.T) {
	s := newSet(t, Options{Own: []string{"runs"}}, map[string]string{
		"old.txt": "old", "mode.sh": "x", "target": "t", "link": "-> target", "dir/": "", "runs/log": "truth", "sneaky": "-> runs",
	})
	at := func(name string) string { return filepath.Join(s.Workspace(), name) }
	if err := os.Chmod(at("mode.sh"), 0o751); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(at("target"), at("hard")); err != nil {
		t.Fatal(err)
	}
	s.check(t, "Write", []callTest{
		{"new", `{"file_path":"new.txt","content":"a\nb"}`, "Wrote 3 bytes to new.txt.", false},
		{"again", `{"file_path":"new.txt","content":"a\nb"}`, "Wrote 3 bytes to new.txt.", false},
		{"folders", `{"file_path":"$W/x/y/z.txt","content":""}`, "Wrote 0 bytes to $W/x/y/z.txt.", false},
		{"replace", `{"file_path":"old.txt","content":"new"}`, "Wrote 3 bytes to old.txt.", false},
		{"mode", `{"file_path":"mode.sh","content":"y"}`, "Wrote 1 bytes to mode.sh.", false},
		{"through a link", `{"file_path":"link","content":"linked"}`, "Wrote 6 bytes to link.", false},
		{"one of two names", `{"file_path":"hard","content":"both"}`, "Wrote 4 bytes to hard.", false},
		{"exact", `{"file_path":"exact","content":"  e\u0301 <&>\t\n\n"}`, "Wrote 12 bytes to exact.", false},
		{"folder", `{"file_path":"dir","content":"x"}`, "is a folder", true},
		{"file as folder", `{"file_path":"old.txt/x","content":"x"}`, "old.txt/x", true},
		{"workspace", `{"file_path":"$W","content":"x"}`, "workspace itself", true},
		{"protected", `{"file_path":"runs/log","content":"lie"}`, "protected", true},
		{"protected, new", `{"file_path":"runs/new","content":"lie"}`, "protected", true},
		{"protected, by a link", `{"file_path":"sneaky/log","content":"lie"}`, "protected", true},
		{"no content", `{"file_path":"x"}`, "content", true},
	})
	for name, want := range map[string]string{
		"new.txt": "a\nb", "x/y/z.txt": "", "old.txt": "new", "mode.sh": "y", "target": "both", "hard": "both",
		"exact": "  e\u0301 <&>\t\n\n", "runs/log": "truth",
	} {
		if got, err := os.ReadFile(at(name)); err != nil || string(got) != want {
			t.Errorf("%s = %q, %v, want %q", name, got, err, want)
		}
	}
	if info, err := os.Lstat(at("link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("link is no link any more (%v)", err)
	}
	if info, err := os.Stat(at("mode.sh")); err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("mode.sh has another mode (%v, %v), want 751", info.Mode(), err)
	}
	if left, err := filepath.Glob(at(".maker-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestEdit(t *testing.T) {
	const text = "alpha\nbeta\nalpha beta\n\tgamma  delta\n"
	tests := []struct {
		callTest
		before, after string
	}{
		{callTest{"once", `{"file_path":"f","old_string":"gamma  delta","new_string":"x"}`, "Replaced 1 occurrence(s) in f.", false}, text, "alpha\nbeta\nalpha beta\n\tx\n"},
		{callTest{"lines", `{"file_path":"f","old_string":"alpha\nbeta\n","new_string":""}`, "Replaced 1 occurrence(s) in f.", false}, text, "alpha beta\n\tgamma  delta\n"},
		{callTest{"all", `{"file_path":"f","old_string":"alpha","new_string":"A","replace_all":true}`, "Replaced 2 occurrence(s) in f.", false}, text, "A\nbeta\nA beta\n\tgamma  delta\n"},
		{callTest{"not unique", `{"file_path":"f","old_string":"alpha","new_string":"A"}`, "is in f 2 times", true}, text, text},
		{callTest{"not there", `{"file_path":"f","old_string":"gamma delta","new_string":"A"}`, "is not in f", true}, text, text},
		{callTest{"not there, all", `{"file_path":"f","old_string":"zeta","new_string":"A","replace_all":true}`, "is not in f", true}, text, text},
		{callTest{"no change", `{"file_path":"f","old_string":"beta","new_string":"beta"}`, "new_string", true}, text, text},
		{callTest{"empty", `{"file_path":"f","old_string":"","new_string":"x"}`, "old_string", true}, text, text},
		{callTest{"missing", `{"file_path":"g","old_string":"a","new_string":"x"}`, "g does not exist", true}, text, text},
		{callTest{"crlf", `{"file_path":"f","old_string":"a\nb","new_string":"c\nd"}`, "Replaced 1 occurrence(s) in f.", false}, "a\r\nb\r\n", "c\r\nd\r\n"},
		{callTest{"composed or not", `{"file_path":"f","old_string":"\u00e9","new_string":"x"}`, "is not in f", true}, "e\u0301\n", "e\u0301\n"},
		{callTest{"not UTF-8", `{"file_path":"f","old_string":"b","new_string":"x"}`, "Replaced 1 occurrence(s) in f.", false}, "\xff b\n", "\xff x\n"},
		{callTest{"dollar", `{"file_path":"f","old_string":"b","new_string":"$1"}`, "Replaced 1 occurrence(s) in f.", false}, "b", "$1"},
	}
	for _, test := range tests {
		s := newSet(t, Options{Tools: []string{"Edit"}}, map[string]string{"f": test.before})
		s.check(t, "Edit", []callTest{test.callTest})
		if got, err := os.ReadFile(filepath.Join(s.Workspace(), "f")); err != nil || string(got) != test.after {
			t.Errorf("after %s, f = %q, %v, want %q", test.name, got, err, test.after)
		}
	}
	s := newSet(t, Options{Tools: []string{"Edit"}, Own: []string{"runs"}}, map[string]string{"runs/log": "truth"})
	s.check(t, "Edit", []callTest{{"protected", `{"file_path":"runs/log","old_string":"truth","new_string":"lie"}`, "protected", true}})
}

var tree = map[string]string{
	".gitignore":         "*.log\n/build/\n!keep.log\n# comment\n\ndocs/**/*.tmp\n",
	".git/config":        "needle\n",
	".hidden":            "needle\n",
	"main.go":            "package main\n\nfunc main() {\n\tneedle()\n}\n",
	"a.log":              "needle\n",
	"keep.log":           "needle\n",
	"build/out.go":       "needle\n",
	"src/build/in.go":    "NEEDLE one\ntwo needle\n",
	"src/lib/x.go":       "nothing\n",
	"src/lib/x.ts":       "a\nb\nneedle\nc\nd\ne\nneedle\nf",
	"src/.gitignore":     "lib/secret.txt\n*.gen\n",
	"src/lib/secret.txt": "needle\n",
	"src/y.gen":          "needle\n",
	"lib/secret.txt":     "needle\n",
	"docs/a/b/c.tmp":     "needle\n",
	"docs/readme.md":     "needle needle\n",
	"binary":             "needle\x00\n",
	"link.go":            "-> main.go",
	"dirlink":            "-> src",
}

func TestGlob(t *testing.T) {
	s := newSet(t, Options{Tools: []string{"Glob"}}, tree)
	lines := func(names ...string) string { return strings.Join(names, "\n") + "\n" }
	s.check(t, "Glob", []callTest{
		{"everything", `{"pattern":"**"}`, lines(".gitignore", ".hidden", "binary", "dirlink", "docs/readme.md", "keep.log", "lib/secret.txt", "link.go", "main.go",
			"src/.gitignore", "src/build/in.go", "src/lib/x.go", "src/lib/x.ts"), false},
		{"top", `{"pattern":"*.go"}`, lines("link.go", "main.go"), false},
		{"deep", `{"pattern":"**/*.go"}`, lines("link.go", "main.go", "src/build/in.go", "src/lib/x.go"), false},
		{"braces", `{"pattern":"src/**/*.{go,ts}"}`, lines("src/build/in.go", "src/lib/x.go", "src/lib/x.ts"), false},
		{"folder", `{"pattern":"**/*.go","path":"src"}`, lines("src/build/in.go", "src/lib/x.go"), false},
		{"folder, top", `{"pattern":"x.*","path":"$W/src/lib"}`, lines("src/lib/x.go", "src/lib/x.ts"), false},
		{"rules from above", `{"pattern":"**","path":"docs"}`, lines("docs/readme.md"), false},
		{"absolute", `{"pattern":"$W/src/**/*.ts"}`, lines("src/lib/x.ts"), false},
		{"none", `{"pattern":"*.rs"}`, "[no files match]", false},
		{"ignored", `{"pattern":"**/*.log"}`, lines("keep.log"), false},
		{"bad", `{"pattern":"[a"}`, "pattern", true},
		{"no folder", `{"pattern":"*","path":"main.go"}`, "not a folder", true},
		{"missing folder", `{"pattern":"*","path":"nope"}`, "nope does not exist", true},
		{"outside", `{"pattern":"../*"}`, "outside", true},
		{"outside, path", `{"pattern":"*","path":".."}`, "outside", true},
		{"outside, absolute", `{"pattern":"/etc/*"}`, "outside", true},
		{"bomb", `{"pattern":"` + strings.Repeat("{a,b}", 30) + `"}`, "braces", true},
	})
	files := map[string]string{}
	for i := range 1100 {
		files[fmt.Sprintf("f%04d", i)] = ""
	}
	got := newSet(t, Options{Tools: []string{"Glob"}}, files).call(t, "Glob", `{"pattern":"*"}`).Text
	if strings.Count(got, "\n") != 1001 || !strings.HasSuffix(got, "f0999\n[cut: the first 1000 files are shown; use a narrower pattern]\n") {
		t.Errorf("Glob(1100 files) = %d lines, want 1000 and a note", strings.Count(got, "\n"))
	}
}

func TestGrep(t *testing.T) {
	s := newSet(t, Options{Tools: []string{"Grep"}}, tree)
	lines := func(names ...string) string { return strings.Join(names, "\n") + "\n" }
	s.check(t, "Grep", []callTest{
		{"files", `{"pattern":"needle"}`, lines(".hidden", "docs/readme.md", "keep.log", "lib/secret.txt", "main.go", "src/build/in.go", "src/lib/x.ts"), false},
		{"content", `{"pattern":"n.edle","output_mode":"content","glob":"*.go"}`, lines("main.go:4:\tneedle()", "src/build/in.go:2:two needle"), false},
		{"no numbers", `{"pattern":"needle","output_mode":"content","glob":"*.go","-n":false}`, lines("main.go:\tneedle()", "src/build/in.go:two needle"), false},
		{"case", `{"pattern":"needle","output_mode":"content","-i":true,"path":"src/build"}`, lines("src/build/in.go:1:NEEDLE one", "src/build/in.go:2:two needle"), false},
		{"count", `{"pattern":"needle","output_mode":"count","glob":"{docs,src}/**/*"}`, lines("docs/readme.md:1", "src/build/in.go:1", "src/lib/x.ts:2"), false},
		{"around", `{"pattern":"needle","output_mode":"content","path":"src/lib","-C":1}`, lines("src/lib/x.ts-2-b", "src/lib/x.ts:3:needle", "src/lib/x.ts-4-c", "--", "src/lib/x.ts-6-e", "src/lib/x.ts:7:needle", "src/lib/x.ts-8-f"), false},
		{"overlapping", `{"pattern":"needle","output_mode":"content","path":"src/lib/x.ts","-B":5,"-A":2}`, lines("src/lib/x.ts-1-a", "src/lib/x.ts-2-b", "src/lib/x.ts:3:needle", "src/lib/x.ts-4-c", "src/lib/x.ts-5-d", "src/lib/x.ts-6-e", "src/lib/x.ts:7:needle", "src/lib/x.ts-8-f"), false},
		{"anchors", `{"pattern":"^needle$","output_mode":"count"}`, lines(".hidden:1", "keep.log:1", "lib/secret.txt:1", "src/lib/x.ts:2"), false},
		{"one file, though ignored", `{"pattern":"needle","path":"a.log"}`, lines("a.log"), false},
		{"across lines", `{"pattern":"b.needle\nc","output_mode":"content","multiline":true}`, lines("src/lib/x.ts:2:b", "src/lib/x.ts:3:needle", "src/lib/x.ts:4:c"), false},
		{"across lines, twice in one", `{"pattern":"needle","output_mode":"content","multiline":true,"path":"docs"}`, lines("docs/readme.md:1:needle needle"), false},
		{"not across lines", `{"pattern":"b\nneedle"}`, "[no matches]\n", false},
		{"limit", `{"pattern":"needle","head_limit":2}`, ".hidden\ndocs/readme.md\n[cut: the first 2 lines are shown; narrow the search or raise head_limit]\n", false},
		{"exactly the limit", `{"pattern":"needle","head_limit":2,"path":"src"}`, lines("src/build/in.go", "src/lib/x.ts"), false},
		{"flags in the pattern", `{"pattern":"(?i)^NEEDLE one$"}`, lines("src/build/in.go"), false},
		{"bad pattern", `{"pattern":"("}`, "pattern", true},
		{"look-around", `{"pattern":"(?=x)"}`, "pattern", true},
		{"bad mode", `{"pattern":"x","output_mode":"lines"}`, "output_mode", true},
		{"bad glob", `{"pattern":"x","glob":"[a"}`, "glob", true},
		{"missing", `{"pattern":"x","path":"nope"}`, "nope does not exist", true},
		{"outside", `{"pattern":"root","path":"/etc/passwd"}`, "outside", true},
	})
	wide := newSet(t, Options{Tools: []string{"Grep"}}, map[string]string{
		"wide":  "needle" + strings.Repeat("x", 10_000) + "\n",
		"long":  strings.Repeat("needle and more text in a line\n", 20_000),
		"short": strings.Repeat("\n", 1000),
		"empty": "",
	})
	if got := wide.call(t, "Grep", `{"pattern":"needle","output_mode":"content","path":"wide"}`).Text; len(got) > 600 || !strings.HasSuffix(got, "x [cut]\n") {
		t.Errorf("Grep(wide line) = %d bytes, want it cut", len(got))
	}
	if got := wide.call(t, "Grep", `{"pattern":"needle","output_mode":"content","head_limit":100000}`).Text; len(got) > grepBytes+200 || !strings.Contains(got, "[cut: ") {
		t.Errorf("Grep(much) = %d bytes, want at most about %d and a note", len(got), grepBytes)
	}
	if got := wide.call(t, "Grep", `{"pattern":"^$","output_mode":"count"}`).Text; got != "short:1000\n" {
		t.Errorf("Grep(empty lines) = %q, want short:1000", got)
	}
}

func TestGrepLongFile(t *testing.T) {
	s := newSet(t, Options{Tools: []string{"Grep"}}, map[string]string{
		"long": strings.Repeat("0123456789abcde\n", grepFileBytes/16) + "needle\n",
	})
	got := s.call(t, "Grep", `{"pattern":"needle"}`).Text
	if !strings.Contains(got, "[no matches]") || !strings.Contains(got, "[cut: of 1 long files") {
		t.Errorf("Grep(past the limit) = %q, want it said", got)
	}
}

func TestIgnored(t *testing.T) {
	tests := []struct {
		rules, name string
		dir, want   bool
	}{
		{"*.o", "a.o", false, true},
		{"*.o", "x/y/a.o", false, true},
		{"*.o", "a.oo", false, false},
		{"/a", "a", false, true},
		{"/a", "x/a", false, false},
		{"a/b", "a/b", false, true},
		{"a/b", "x/a/b", false, false},
		{"dir/", "dir", true, true},
		{"dir/", "dir", false, false},
		{"dir/", "x/dir", true, true},
		{"**/x/y", "a/b/x/y", false, true},
		{"a/**", "a/b/c", false, true},
		{"a/**", "a", true, false},
		{"a/**/c", "a/c", false, true},
		{"a/**/c", "a/b/b/c", false, true},
		{"*.o\n!b.o", "b.o", false, false},
		{"!b.o\n*.o", "b.o", false, true},
		{`\#x`, "#x", false, true},
		{`\!x`, "!x", false, true},
		{"# x", "# x", false, false},
		{"x  ", "x", false, true},
		{`x\ `, "x ", false, true},
		{"x\r", "x", false, true},
		{"a{b,c}", "ab", false, false},
		{"a{b,c}", "a{b,c}", false, true},
		{"[ab].c", "a.c", false, true},
		{"[!ab].c", "a.c", false, false},
		{"a?c", "abc", false, true},
		{"a?c", "a/c", false, false},
		{"a*c", "a/c", false, false},
		{"[a", "[a", false, false}, // git passes over what it does not understand
		{"", "x", false, false},
		{"/", "x", true, false},
	}
	for _, test := range tests {
		rules := parseIgnore(".", strings.NewReader(test.rules))
		if got := ignored(rules, test.name, test.dir); got != test.want {
			t.Errorf("ignored(%q, %q, %v) = %v, want %v", test.rules, test.name, test.dir, got, test.want)
		}
	}
	nested := parseIgnore("sub", strings.NewReader("/a\n*.o\n"))
	for name, want := range map[string]bool{"sub/a": true, "a": false, "sub/x/a": false, "sub/x/y.o": true, "y.o": false, "subs/a": false} {
		if got := ignored(nested, name, false); got != want {
			t.Errorf("ignored(rules of sub, %q) = %v, want %v", name, got, want)
		}
	}
}

func TestClipped(t *testing.T) {
	for _, size := range []int{0, 1, 9, 10, 11, 19, 20, 21, 100, 1000} {
		text := make([]byte, size)
		for i := range text {
			text[i] = byte('a' + i%26)
		}
		for _, chunk := range []int{1, 3, 7, 10, 64, 1000} {
			c := newClipped(20)
			for rest := text; len(rest) > 0; {
				n := min(chunk, len(rest))
				if _, err := c.Write(rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			want := string(text)
			if size > 20 {
				want = string(text[:10]) + fmt.Sprintf("\n[cut: %d bytes in the middle are left out]\n", size-20) + string(text[size-10:])
			}
			if diff := cmp.Diff(want, c.String()); diff != "" {
				t.Errorf("clipped(20) of %d bytes in chunks of %d: -want +got\n%s", size, chunk, diff)
			}
		}
	}
	if got, want := clip.Output("ab\u00e9cd", 3), "ab\n[cut: 2 of 6 bytes are shown]"; got != want {
		t.Errorf("clip = %q, want %q", got, want)
	}
}
