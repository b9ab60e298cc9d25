// Package browser has no code, only tests: the page of maker serve in a real browser.
package browser

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long anything may take on a busy machine. A test that waits for it fails.
const patience = 20 * time.Second

var (
	allocator context.Context // starts browsers
	browser   context.Context // the one that all tests share
	program   string          // maker
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "maker-browser-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "maker")
	build := exec.Command("go", "build", "-o", program, "./cmd/maker")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		fmt.Fprintln(os.Stderr, "there is no chromium; apt-get install chromium")
		return 1
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(filepath.Join(dir, "profile")))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which it refuses to have as root
	}
	var end context.CancelFunc
	allocator, end = chromedp.NewExecAllocator(context.Background(), options...)
	defer end()
	browser, end = chromedp.NewContext(allocator)
	defer end()
	if err := chromedp.Do(browser, chromedp.Navigate("about:blank")); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
		return 1
	}
	return m.Run()
}

// A site is a folder with runs, and a server of it.
type site struct {
	t    *testing.T
	dir  string
	link string // that lets a person in
	addr string // that it listens at, once it has one
	end  func() // ends the server
}

// newSite is a folder with files in it.
func newSite(t *testing.T, files map[string]string) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir()}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// command is maker in the folder, with settings of nobody else.
func (s *site) command(args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	return cmd
}

// maker runs a command to its end. Runs end as they may.
func (s *site) maker(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		s.t.Fatal(err)
	}
	return string(out)
}

// shell runs a command line that the page shows.
func (s *site) shell(line string) (string, error) {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = s.dir
	cmd.Env = []string{"HOME=" + s.dir, "PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// serve starts the server. It is ended with the test.
func (s *site) serve() *site {
	s.t.Helper()
	s.start("127.0.0.1:0")
	s.t.Cleanup(s.stop)
	return s
}

// again starts the server anew, where it was.
func (s *site) again() {
	s.t.Helper()
	s.start(s.addr)
}

// stop ends the server.
func (s *site) stop() {
	if s.end != nil {
		s.end()
		s.end = nil
	}
}

func (s *site) start(listen string) {
	s.t.Helper()
	cmd := s.command("serve", "--listen", listen)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.end = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 130 {
			s.t.Errorf("maker serve: %v\n%s", err, said.String())
		}
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.t.Fatalf("maker serve said %q: %v\n%s", line, err, said.String())
	}
	s.link = strings.TrimSpace(line)
	at, err := url.Parse(s.link)
	if err != nil {
		s.t.Fatal(err)
	}
	s.addr = at.Host
}

// A tab is an open page. What it says in its console fails the test.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu      sync.Mutex
	allowed []string
	said    []string
}

// open opens the page in a window of its own size, as somebody who has never been here.
func (s *site) open(width int64) *tab {
	s.t.Helper()
	ctx, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	s.t.Cleanup(end)
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	s.t.Cleanup(cancel)
	p := &tab{t: s.t, ctx: ctx}
	p.do(chromedp.EmulateViewport(width, 900))
	console := chromedp.Console(ctx)
	go func() {
		for m, err := range console {
			if err != nil {
				return
			}
			p.mu.Lock()
			p.said = append(p.said, m.String()+" "+m.URL)
			p.mu.Unlock()
		}
	}()
	s.t.Cleanup(p.quiet)
	p.do(chromedp.Navigate(s.link))
	p.arrive()
	p.base = strings.TrimSuffix(strings.SplitN(p.get(`location.href`), "#", 2)[0], "/")
	return p
}

// arrive waits until the page is there. The link opens a document that leads on to it, and what
// looks at that one in the meantime fails.
func (p *tab) arrive() {
	p.t.Helper()
	here := chromedp.Poll[bool](`location.pathname === '/' && document.querySelector('#main > *') !== null`, chromedp.WithPollingTimeout(patience/4))
	var err error
	for begun := time.Now(); time.Since(begun) < patience; {
		if _, err = chromedp.Run(p.ctx, here); err == nil {
			return
		}
	}
	p.fail(fmt.Sprintf("the link does not lead to the page: %v", err))
}

// allow says which messages are fine, such as that of an answer that the test wants to be
// refused.
func (p *tab) allow(parts ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allowed = append(p.allowed, parts...)
}

// quiet fails the test if the console has anything.
func (p *tab) quiet() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.said {
		fine := false
		for _, part := range p.allowed {
			fine = fine || strings.Contains(line, part)
		}
		if !fine {
			p.t.Errorf("the console of the browser says: %s", line)
		}
	}
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.fail(err)
	}
}

// fail says what is on the page, for whoever has to find out why.
func (p *tab) fail(why any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), 5*time.Second)
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + '\n' + document.body.innerText.slice(0, 3000)`))
	p.t.Fatalf("%v\n--- the page:\n%s", why, text)
}

// wait waits until an expression is true.
func (p *tab) wait(js string) {
	p.t.Helper()
	if _, err := chromedp.Run(p.ctx, chromedp.Poll[bool](`Boolean(`+js+`)`, chromedp.WithPollingTimeout(patience), chromedp.WithPollingInterval(20*time.Millisecond))); err != nil {
		p.fail(fmt.Sprintf("waiting for %s: %v", js, err))
	}
}

// waitText waits until an element has a text in it.
func (p *tab) waitText(selector, text string) {
	p.t.Helper()
	p.wait(fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.innerText.includes(%q))`, selector, text))
}

// get evaluates an expression that gives a text.
func (p *tab) get(js string) string {
	p.t.Helper()
	text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`String(`+js+`)`))
	if err != nil {
		p.fail(fmt.Sprintf("%s: %v", js, err))
	}
	return text
}

// at goes to a place of the page.
func (p *tab) at(hash string) {
	p.t.Helper()
	p.get(fmt.Sprintf(`location.hash = %q`, hash))
}

// click clicks on what has a text in it. It has to be seen where it is clicked on, as with a
// mouse. All of it is one script: the page may draw itself anew in between.
func (p *tab) click(selector, text string) {
	p.t.Helper()
	p.wait(fmt.Sprintf(`(() => {
		const e = [...document.querySelectorAll(%q)].find((e) => e.innerText.includes(%q) && e.checkVisibility() && !e.disabled);
		if (!e) return false;
		e.scrollIntoView({ block: 'nearest' });
		const r = e.getClientRects()[0];
		const top = r && document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
		if (!top || !e.contains(top)) return false;
		e.click();
		return true;
	})()`, selector, text))
}

// keys presses keys one after the other. A key whose default is prevented types nothing, as on
// a real keyboard.
func (p *tab) keys(keys string) {
	p.t.Helper()
	for _, r := range keys {
		key := kb.Keys[r]
		if key == nil {
			p.t.Fatalf("there is no key %q", r)
		}
		press := input.DispatchKeyEventParams{
			Type: input.DispatchKeyEventTypeKeyDown, Key: key.Key, Code: key.Code, Text: key.Text, UnmodifiedText: key.Unmodified,
			NativeVirtualKeyCode: key.Native, WindowsVirtualKeyCode: key.Windows,
		}
		if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, press); err != nil {
			p.fail(err)
		}
		press.Type, press.Text, press.UnmodifiedText = input.DispatchKeyEventTypeKeyUp, "", ""
		if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, press); err != nil {
			p.fail(err)
		}
	}
}

// fits fails the test if one would have to scroll to the side.
func (p *tab) fits(what string) {
	p.t.Helper()
	if got := p.get(`document.documentElement.scrollWidth - innerWidth`); got != "0" {
		wide := p.get(`[...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 5).map((e) => e.tagName + '.' + e.className).join(', ')`)
		p.t.Errorf("%s is %s pixels wider than the window: %s", what, got, wide)
	}
}

// scheme is what the system prefers: dark or light.
func (p *tab) scheme(name string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
	if err != nil {
		p.t.Fatal(err)
	}
}
