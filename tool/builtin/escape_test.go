//go:build unix

package builtin

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const outsideSecret = "s3cret-outside"

// newTrap returns a workspace beside a folder with a secret, and many ways from
// one to the other.
func newTrap(t *testing.T) (s *Set, outside string) {
	t.Helper()
	top := t.TempDir()
	outside = filepath.Join(top, "outside")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte(outsideSecret+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	workspace := filepath.Join(top, "workspace")
	if err := os.Mkdir(workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	s = newSet(t, Options{Workspace: workspace, Tools: []string{"Read", "Write", "Edit", "Glob", "Grep"}}, map[string]string{
		"in.txt":   "inside\n",
		"sub/x":    "inside\n",
		"abs":      "-> " + outside,
		"rel":      "-> ../outside",
		"file":     "-> " + filepath.Join(outside, "secret"),
		"hop":      "-> hop2",
		"hop2":     "-> sub/../../outside/secret",
		"sub/up":   "-> ../..",
		"loop":     "-> loop",
		"proc":     "-> /proc/self/root",
		"dangling": "-> ../outside/new",
		"root":     "-> /",
	})
	return s, outside
}

// checkOutside reports what happened to the folder outside.
func checkOutside(t *testing.T, outside, after string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(outside, "secret"))
	if err != nil || string(data) != outsideSecret+"\n" {
		t.Errorf("after %s, the file outside = %q, %v, want it unchanged", after, data, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("after %s, the folder outside has %d entries, %v, want 1", after, len(entries), err)
	}
}

func TestEscapes(t *testing.T) {
	s, outside := newTrap(t)
	paths := []string{
		"../outside/secret", "sub/../../outside/secret", "./.././outside/secret", "..", "../", "/", "//", "/etc/passwd",
		outside, outside + "/secret", s.Workspace() + "/../outside/secret", s.Workspace() + "x/secret", s.Workspace() + "/../workspace/../outside/secret",
		"abs/secret", "rel/secret", "file", "hop", "hop2", "sub/up/outside/secret", "loop", "dangling", "root/etc/passwd", "root" + outside + "/secret",
		"proc/etc/passwd", "proc" + outside + "/secret", "/proc/self/environ", "/proc/self/root/etc/passwd", "/proc/self/cwd/../outside/secret",
		"/dev/fd/0", "/dev/stdin", "~/secret", "$HOME", "file:///etc/passwd", "..\\outside\\secret", "sub/\u2025/outside/secret",
	}
	for _, path := range paths {
		quoted, err := json.Marshal(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, input := range map[string]string{
			"Read":  `{"file_path":%s}`,
			"Grep":  `{"pattern":".","path":%s,"output_mode":"content"}`,
			"Glob":  `{"pattern":"**","path":%s}`,
			"Edit":  `{"file_path":%s,"old_string":"s3cret","new_string":"broken"}`,
			"Write": `{"file_path":%s,"content":"broken"}`,
		} {
			// These are ordinary names of new files.
			if name == "Write" && (strings.HasPrefix(path, "~") || strings.HasPrefix(path, "$") || strings.HasPrefix(path, "file:") || strings.HasPrefix(path, "..\\") || strings.Contains(path, "\u2025")) {
				continue
			}
			result := s.call(t, name, fmt.Sprintf(input, quoted))
			if !result.IsError || strings.Contains(result.Text, "s3cret") || strings.Contains(result.Text, "root:") {
				t.Errorf("%s(%s) = %q, want it refused", name, path, result.Text)
			}
			checkOutside(t, outside, name+" "+path)
		}
	}
	// Links are neither followed nor searched on the way.
	if got := s.call(t, "Grep", `{"pattern":"."}`).Text; got != "in.txt\nsub/x\n" {
		t.Errorf("Grep(.) = %q, want the two files inside", got)
	}
	if got := s.call(t, "Glob", `{"pattern":"**/secret"}`).Text; got != "[no files match]" {
		t.Errorf("Glob(**/secret) = %q, want nothing", got)
	}
	for _, pattern := range []string{"../**", "sub/../../**", "abs/**", "rel/*", "root/etc/*", "/etc/*", "{..,x}/outside/*"} {
		if got := s.call(t, "Glob", fmt.Sprintf(`{"pattern":%q}`, pattern)); !got.IsError && strings.Contains(got.Text, "/") {
			t.Errorf("Glob(%s) = %q, want nothing", pattern, got.Text)
		}
	}
}

// A folder and a file change between a real one and a link that leads out, while
// the tools use them.
func TestSymlinkSwaps(t *testing.T) {
	s, outside := newTrap(t)
	at := func(name string) string { return filepath.Join(s.Workspace(), name) }
	for _, dir := range []string{"real", "swap"} {
		if err := os.Mkdir(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at(dir), "secret"), []byte("inside\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swaps := 0
	swapper.Go(func() {
		for ; ; swaps++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(at("swap"), at("aside"))
			_ = os.Symlink(outside, at("swap"))
			_ = os.Remove(at("swap"))
			_ = os.Rename(at("aside"), at("swap"))
		}
	})
	calls := map[string]string{
		"Read":  `{"file_path":"swap/secret"}`,
		"Grep":  `{"pattern":"s3cret|inside","path":"swap","output_mode":"content"}`,
		"Glob":  `{"pattern":"**","path":"swap"}`,
		"Edit":  `{"file_path":"swap/secret","old_string":"e","new_string":"e!","replace_all":true}`,
		"Write": `{"file_path":"swap/secret","content":"inside\n"}`,
	}
	worked := 0
	for deadline := time.Now().Add(700 * time.Millisecond); time.Now().Before(deadline); {
		for name, input := range calls {
			result := s.call(t, name, input)
			if strings.Contains(result.Text, "s3cret") {
				t.Fatalf("%s read the file outside: %q", name, result.Text)
			}
			if !result.IsError {
				worked++
			}
		}
	}
	close(stop)
	swapper.Wait()
	checkOutside(t, outside, "swaps")
	if swaps < 100 || worked == 0 {
		t.Errorf("%d swaps and %d calls that worked, want many: the test tests nothing", swaps, worked)
	}
}

// What blocks or never ends is refused before it is read.
func TestSpecialFiles(t *testing.T) {
	s, _ := newTrap(t)
	pipe := filepath.Join(s.Workspace(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(s.Workspace(), "p"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(s.Workspace(), "p", ".gitignore"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.check(t, "Read", []callTest{{"pipe", `{"file_path":"pipe"}`, "not a regular file", true}})
	s.check(t, "Edit", []callTest{{"pipe", `{"file_path":"pipe","old_string":"a","new_string":"b"}`, "not a regular file", true}})
	if got := s.call(t, "Write", `{"file_path":"pipe","content":"x"}`); !got.IsError {
		t.Errorf("Write(pipe) = %q, want it refused", got.Text)
	}
	if got := s.call(t, "Grep", `{"pattern":"inside"}`).Text; got != "in.txt\nsub/x\n" {
		t.Errorf("Grep beside pipes = %q, want the two files", got)
	}
}

func FuzzPath(f *testing.F) {
	for _, path := range []string{"a", "../a", "/etc/passwd", "a/../../b", "", ".", "\x00", "//", "a//b", "link/x", "./..", "a\\..\\b"} {
		f.Add(path)
	}
	top := f.TempDir()
	inside := filepath.Join(top, "inside")
	if err := os.Mkdir(inside, 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, "secret"), []byte(outsideSecret), 0o644); err != nil {
		f.Fatal(err)
	}
	if err := os.Symlink("..", filepath.Join(inside, "link")); err != nil {
		f.Fatal(err)
	}
	w, err := openWorkspace(inside)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = w.Close() })
	f.Fuzz(func(t *testing.T, path string) {
		if file, _, err := w.openRegular(path); err == nil {
			_ = file.Close()
			t.Fatalf("openRegular(%q) opened a file, and there is none inside", path)
		}
		if rel, err := w.rel(path); err == nil && !filepath.IsLocal(rel) {
			t.Fatalf("rel(%q) = %q, which leads out", path, rel)
		}
	})
}

func FuzzIgnore(f *testing.F) {
	f.Add("*.o\n!a\n/b/\n", "a/b/c.o", true)
	f.Add("a{b,c}/**/[x\n", "ab", false)
	f.Fuzz(func(t *testing.T, rules, name string, isDir bool) {
		parsed := parseIgnore(".", strings.NewReader(rules))
		got := ignored(parsed, name, isDir)
		// A rule that is about everything has the last word.
		parsed = append(parsed, parseIgnore(".", strings.NewReader("!**"))...)
		if ignored(parsed, name, isDir) && name != "" {
			t.Fatalf("ignored(%q, %q) = %v, and ** does not undo it", rules, name, got)
		}
	})
}
