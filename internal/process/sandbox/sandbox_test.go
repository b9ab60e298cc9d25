//go:build linux

package sandbox

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestExitCodes(t *testing.T) {
	tests := []struct {
		script string
		code   int
		out    string
	}{
		{"echo out; echo err >&2", 0, "out\nerr\n"},
		{"exit 7", 7, ""},
		{"kill -9 $$", 137, ""},
		{"cat; echo $?", 0, "0\n"}, // no input
		{"no-such-program 2>/dev/null", 127, ""},
		{"cat <(echo hi) | tee /dev/stderr", 0, "hi\nhi\n"},
		{"echo x > /dev/null && head -c 3 /dev/zero | wc -c", 0, "3\n"},
		{`mkdir -p a/b && echo 1 > a/x && mv a/x a/b/y && cat "$PWD"/a/b/y && echo t > "${TMPDIR:-/tmp}/t" && echo h > ~/h`, 0, "1\n"},
	}
	forEach(t, all, func(t *testing.T, level Level) {
		s := open(t, Options{Levels: []Level{level}})
		for _, test := range tests {
			out, outcome := sh(t, s, test.script)
			if outcome.ExitCode != test.code || out != test.out {
				t.Errorf("Run(%s) = %d, %q, want %d, %q", test.script, outcome.ExitCode, out, test.code, test.out)
			}
		}
	})
}

func TestModes(t *testing.T) {
	workspace := t.TempDir()
	nothing := []Level{}
	for _, mode := range []Mode{Auto, Strict} {
		_, err := New(t.Context(), Options{Workspace: workspace, Mode: mode, Levels: nothing})
		if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "bubblewrap") || !strings.Contains(err.Error(), "--sandbox off") {
			t.Errorf("New(%s, without a sandbox) = %v, want ErrNone and what to do", mode, err)
		}
	}
	if s := open(t, Options{Workspace: workspace, Mode: Off}); s.Level() != None || !strings.Contains(s.Describe(), "your rights") {
		t.Errorf("New(off) = %s, want none, said clearly", s.Describe())
	}
	for _, o := range []Options{{Workspace: workspace, Mode: "maybe"}, {Workspace: "/"}, {Workspace: filepath.Join(workspace, "missing")}} {
		if s, err := New(t.Context(), o); err == nil {
			t.Errorf("New(%+v) = %s, want an error", o, s.Describe())
		}
	}
	found, err := Detect(t.Context())
	strict, strictErr := New(t.Context(), Options{Workspace: workspace, Mode: Strict})
	if errors.Is(err, ErrNone) != errors.Is(strictErr, ErrNone) || err == nil && strict.Level() != found.Level() {
		t.Errorf("New(strict) = %v, but Detect = %v", strictErr, err)
	}
	if err != nil {
		found = open(t, Options{Mode: Off})
	}
	cancelled, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("over")
	cancel(cause)
	if _, err := found.Run(cancelled, Command{Args: []string{"true"}}); !errors.Is(err, cause) {
		t.Errorf("Run(cancelled) = %v, want its cause", err)
	}
	if _, err := found.Run(t.Context(), Command{}); err == nil {
		t.Error("Run(nothing) succeeded, want an error")
	}
	if _, err := found.Run(t.Context(), Command{Args: []string{"no-such-program"}}); err == nil {
		t.Error("Run(no-such-program) succeeded, want an error")
	}
}

func TestEnvironment(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "MAKER_COMPAT_API_KEY", "BASH_ENV", "LD_LIBRARY_PATH", "SSH_AUTH_SOCK"} {
		t.Setenv(name, "leaked")
	}
	forEach(t, all, func(t *testing.T, level Level) {
		out, _ := sh(t, open(t, Options{Levels: []Level{level}}), "env")
		var names []string
		for line := range strings.Lines(out) {
			name, _, _ := strings.Cut(line, "=")
			names = append(names, name)
		}
		allowed := []string{"PATH", "HOME", "LANG", "TERM", "TMPDIR", "PWD", "SHLVL", "_", "OLDPWD"}
		for _, name := range names {
			if !slices.Contains(allowed, name) {
				t.Errorf("the command sees %s, want only %q", name, allowed)
			}
		}
		if !slices.Contains(names, "PATH") || strings.Contains(out, "leaked") || strings.Contains(out, "HOME="+os.Getenv("HOME")+"\n") {
			t.Errorf("env = %s, want a PATH, a HOME of its own and no secret", out)
		}
	})
}

// A process keeps the environment that it was started with where others of the
// same user can read it.
func TestEnvironmentOfOtherProcesses(t *testing.T) {
	const secret = "sk-very-secret-7261"
	const script = `cat /proc/self/environ /proc/$PPID/environ /proc/1/environ /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n'; echo; echo end`
	forEach(t, confined, func(t *testing.T, level Level) {
		cmd, out := startParent(t, parentJob{Workspace: t.TempDir(), Level: level, Script: script}, "ANTHROPIC_API_KEY="+secret)
		text := readAll(t, out)
		if err := cmd.Wait(); err != nil || !strings.Contains(text, "end\n") {
			t.Fatalf("the script: %v, output %s", err, text)
		}
		if strings.Contains(text, secret) {
			t.Errorf("the command read our key from /proc")
		}
	})
}

func TestFiles(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("s3cret"), 0o644); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "secret"), []byte("s3cret"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	// Each of them must fail and print nothing of the secret. $1 is the folder
	// outside, $2 a link to it that is in the workspace, $3 the home folder.
	attacks := []string{
		`cat "$1/secret"`,
		`cat "$3/secret"`,
		`cat "$2/secret"`,
		`cat "../$(basename "$1")/secret"`,
		`cat /proc/self/root/"$1"/secret`,
		`cat /proc/1/root/"$1"/secret`,
		`cat /proc/self/cwd/../"$(basename "$1")"/secret`,
		`echo x > "$1/new"`,
		`echo x > "$2/new"`,
		`echo x >> "$1/secret"`,
		`: > "$1/secret"`,
		`rm "$1/secret"`,
		`mv "$1/secret" .`,
		`ln "$1/secret" hard && cat hard`,
		`mkdir "$1/dir"`,
		`echo x > /usr/maker-test-escape`,
		`echo x > /etc/maker-test-escape`,
		`for f in /proc/sys/kernel/hostname /proc/sys/kernel/core_pattern /proc/sysrq-trigger; do ( : >> $f ) 2>/dev/null && exit 0; done; exit 1`,
		`mount -t tmpfs none /mnt`,
		`chroot / true`,
		`mknod dev b 8 0 && head -c1 dev`,
		`cat /run/* /root/.* /home/*/.* 2>/dev/null | grep .`,
	}
	forEach(t, confined, func(t *testing.T, level Level) {
		s := open(t, Options{Levels: []Level{level}})
		link := filepath.Join(s.options.Workspace, "link")
		if err := os.Symlink(outside, link); err != nil {
			t.Fatal(err)
		}
		for _, script := range attacks {
			out, outcome := sh(t, s, script, outside, link, home)
			if outcome.ExitCode == 0 || strings.Contains(out, "s3cret") {
				t.Errorf("Run(%s) = %d, %q, want a failure", script, outcome.ExitCode, out)
			}
		}
		if data, err := os.ReadFile(secret); err != nil || string(data) != "s3cret" {
			t.Errorf("the file outside = %q, %v, want it unchanged", data, err)
		}
		if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
			t.Errorf("the folder outside has %d entries, %v, want 1", len(entries), err)
		}
		// What is useful must work all the same.
		for _, script := range []string{"ls /usr/bin >/dev/null", "cat /etc/passwd >/dev/null", "git --version || true", "date", "seq 3 | sort -r"} {
			if out, outcome := sh(t, s, script); outcome.ExitCode != 0 {
				t.Errorf("Run(%s) = %d, %q, want success", script, outcome.ExitCode, out)
			}
		}
	})
}

// TestCannotBecomeTheCommand: a program that cannot be executed is an error that says why.
func TestCannotBecomeTheCommand(t *testing.T) {
	forEach(t, []Level{Landlock, None}, func(t *testing.T, level Level) {
		s := open(t, Options{Levels: []Level{level}})
		program := filepath.Join(s.options.Workspace, "program")
		if err := os.WriteFile(program, []byte("#!/nowhere/to/be/found\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context(), Command{Args: []string{program}}); err == nil || !strings.Contains(err.Error(), "sandbox: "+program+": ") {
			t.Errorf("Run(a program without its interpreter) = %v, want an error that names it", err)
		}
	})
}

// TestRootIsNoRoot: root has no powers over the machine inside, whatever the network.
func TestRootIsNoRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("it takes root to have them outside")
	}
	forEach(t, confined, func(t *testing.T, level Level) {
		for _, network := range []bool{false, true} {
			if out, outcome := sh(t, open(t, Options{Levels: []Level{level}, Network: network}), "mknod null c 1 3 2>&1 && echo made"); outcome.ExitCode == 0 {
				t.Errorf("mknod with network %t = %q, want a failure", network, out)
			}
		}
	})
}

// TestWorkspaceOfSomebodyElse: root may work in it, as in containers.
func TestWorkspaceOfSomebodyElse(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("it takes root to own a folder of somebody else")
	}
	forEach(t, confined, func(t *testing.T, level Level) {
		dir := t.TempDir()
		if err := errors.Join(os.Chown(dir, 12345, 12345), os.Chmod(dir, 0o700)); err != nil {
			t.Fatal(err)
		}
		if out, outcome := sh(t, open(t, Options{Workspace: dir, Levels: []Level{level}}), "echo x > mine && chmod 600 mine && cat mine"); out != "x\n" {
			t.Errorf("a file in a workspace of somebody else = %q, exit code %d, want x", out, outcome.ExitCode)
		}
	})
}

func TestReadable(t *testing.T) {
	extra := t.TempDir()
	if err := os.WriteFile(filepath.Join(extra, "f"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	forEach(t, confined, func(t *testing.T, level Level) {
		s := open(t, Options{Levels: []Level{level}, Readable: []string{extra}})
		if out, _ := sh(t, s, `cat "$1/f"`, extra); out != "text" {
			t.Errorf("a readable file = %q, want its text", out)
		}
		if _, outcome := sh(t, s, `echo x > "$1/f"`, extra); outcome.ExitCode == 0 {
			t.Error("a readable folder was written to")
		}
	})
}

func TestNetwork(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	_, tcpPort, _ := net.SplitHostPort(tcp.Addr().String())
	_, udpPort, _ := net.SplitHostPort(udp.LocalAddr().String())
	const connect = `exec 3<>/dev/tcp/127.0.0.1/$1 && echo connected; (echo sneaky > /dev/udp/127.0.0.1/$2) 2>/dev/null; true`
	forEach(t, confined, func(t *testing.T, level Level) {
		for _, allowed := range []bool{false, true} {
			s := open(t, Options{Levels: []Level{level}, Network: allowed})
			out, _ := sh(t, s, connect, tcpPort, udpPort)
			if got := strings.Contains(out, "connected"); got != allowed {
				t.Errorf("with network %v the command connected: %v, output %s", allowed, got, out)
			}
			// What was sent before arrives before our own packet.
			if _, err := udp.WriteTo([]byte("end"), udp.LocalAddr()); err != nil {
				t.Fatal(err)
			}
			if err := udp.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
				t.Fatal(err)
			}
			buffer := make([]byte, 100)
			n, _, err := udp.ReadFrom(buffer)
			if got := string(buffer[:n]) != "end"; err != nil || got != allowed {
				t.Errorf("with network %v a packet got out: %v (%q, %v)", allowed, got, buffer[:n], err)
			}
			if allowed && err == nil && string(buffer[:n]) != "end" {
				_, _, _ = udp.ReadFrom(buffer) // our own
			}
		}
	})
}

func TestConcurrentRuns(t *testing.T) {
	forEach(t, all, func(t *testing.T, level Level) {
		s := open(t, Options{Levels: []Level{level}})
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				want := strings.Repeat("x", i+1) + "\n"
				var out strings.Builder
				outcome, err := s.Run(t.Context(), Command{Args: []string{"echo", strings.TrimSpace(want)}, Output: &out})
				if err != nil || outcome.ExitCode != 0 || out.String() != want {
					t.Errorf("Run(echo) = %+v, %v, %q, want %q", outcome, err, out.String(), want)
				}
			})
		}
		wg.Wait()
	})
}

func TestNoTraces(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	forEach(t, all, func(t *testing.T, level Level) {
		s := open(t, Options{Workspace: t.TempDir(), Levels: []Level{level}})
		sh(t, s, `t="${TMPDIR:-/tmp}"; mkdir -p "$t/a/b" ~/c; echo x > "$t/a/b/x"; chmod 000 "$t/a" ~/c`)
		left, err := filepath.Glob(filepath.Join(temp, "maker-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %q, %v, want nothing", left, err)
		}
	})
}

func TestAround(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"a", "lib/x", "lib/home/inner", "lib/y/z"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, path := range around(top, filepath.Join(top, "lib/home")) {
		rel, err := filepath.Rel(top, path)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rel)
	}
	if diff := cmp.Diff([]string{"a", "lib/x", "lib/y"}, got); diff != "" {
		t.Errorf("around: -want +got\n%s", diff)
	}
}
