//go:build linux

package screen

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/internal/cli/tty"
)

// seen is what a terminal was sent.
type seen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *seen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *seen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// openTerminal makes a terminal: what is written to keys is typed.
func openTerminal(t *testing.T) (keys, terminal *os.File, sent *seen) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	number, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	sent = &seen{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(sent, keys) // until the terminal is closed
	}()
	t.Cleanup(func() {
		terminal.Close()
		<-done
		keys.Close()
	})
	return keys, terminal, sent
}

func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for start := time.Now(); !f(); time.Sleep(time.Millisecond) {
		if time.Since(start) > 20*time.Second {
			t.Fatal(what)
		}
	}
}

// TestReleased: whoever gets the terminal gets it as it was, with all that is typed from then
// on; and lines that came meanwhile are printed, all of them and in order.
func TestReleased(t *testing.T) {
	keys, terminal, sent := openTerminal(t)
	settings := func() unix.Termios {
		s, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		return *s
	}
	before := settings()
	keyboard := tty.New(terminal)
	s := New(terminal, keyboard)
	none := func() {}
	s.Begin(Head{Task: "a task"}, Controls{none, none}, func() maker.Progress { return maker.Progress{} }, func() bool { return false })
	for i := range 30 {
		until(t, "the keys are not read", func() bool { return settings() != before })
		s.Print(fmt.Sprintf("line %d before", i))
		s.Release()
		if now := settings(); now != before {
			t.Fatalf("the terminal is handed over with the settings %+v, want %+v", now, before)
		}
		s.Print(fmt.Sprintf("line %d after", i))
		if _, err := fmt.Fprintf(keys, "answer %d\n", i); err != nil {
			t.Fatal(err)
		}
		if line, err := keyboard.ReadLine(t.Context()); err != nil || line != fmt.Sprintf("answer %d", i) {
			t.Fatalf("ReadLine() = %q, %v, want what was typed", line, err)
		}
		s.Restore()
	}
	s.End(true)
	if now := settings(); now != before {
		t.Errorf("the terminal is left with the settings %+v, want %+v", now, before)
	}
	until(t, "lines are missing", func() bool { return strings.Contains(sent.String(), "line 29 after") })
	text, at := sent.String(), 0
	for i := range 30 {
		for _, when := range []string{"before", "after"} {
			line := fmt.Sprintf("line %d %s", i, when)
			next := strings.Index(text[at:], line)
			if next < 0 || strings.Count(text, line) != 1 {
				t.Fatalf("%q is printed %d times, want once and in order", line, strings.Count(text, line))
			}
			at += next
		}
	}
}

// TestHold: a run that is paused goes on or not by a key, or ends with the program.
func TestHold(t *testing.T) {
	keys, terminal, sent := openTerminal(t)
	for i, test := range []struct {
		key  string
		want bool
	}{{"p", true}, {"q", false}, {"", false}} {
		s := New(terminal, tty.New(terminal))
		done, result := make(chan struct{}), make(chan bool)
		go func() { result <- s.Hold(done) }()
		until(t, "nothing says that it is paused", func() bool { return strings.Count(sent.String(), "paused: p goes on") > i })
		if test.key == "" {
			close(done)
		} else if _, err := keys.WriteString(test.key); err != nil {
			t.Fatal(err)
		}
		if got := <-result; got != test.want {
			t.Errorf("Hold(%q) = %t, want %t", test.key, got, test.want)
		}
	}
}

// TestAbandoned: when the program is about to end, a picture that is being drawn is drawn to its
// end, the terminal is left as it was, and nothing is drawn after that.
func TestAbandoned(t *testing.T) {
	_, terminal, sent := openTerminal(t)
	s := New(terminal, tty.New(terminal))
	none := func() {}
	s.Begin(Head{Task: "a task"}, Controls{none, none}, func() maker.Progress { return maker.Progress{} }, func() bool { return false })
	until(t, "nothing is drawn", func() bool { return strings.Contains(sent.String(), "a task") })
	s.writing <- struct{}{} // as whoever draws does
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.Abandon()
	}()
	select {
	case <-over:
		t.Error("the terminal is put right in the middle of a picture")
	case <-time.After(period):
	}
	fmt.Fprint(terminal, "\x1b[?25lthe rest")
	<-s.writing
	<-over
	until(t, "the cursor stays hidden", func() bool { return strings.Contains(sent.String(), "\x1b[?25lthe rest\x1b[?7h\r\x1b[J\x1b[?25h") })
	select {
	case s.writing <- struct{}{}:
		t.Error("something can be drawn after the end")
	default:
	}
	<-s.writing // for the test to end
	s.End(false)
}

// late is a model that takes its time for the first picture.
type late struct {
	*Model
	once sync.Once
}

func (l *late) View() tea.View {
	l.once.Do(func() { <-time.After(period) }) // longer than it takes until a picture is due
	return l.Model.View()
}

// TestNoPictureYet: a picture that is due before there is one does not change the terminal, and
// is not taken for the first.
func TestNoPictureYet(t *testing.T) {
	_, terminal, sent := openTerminal(t)
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	m, _ := newModel(80, 24)
	m.head = Head{Task: "a task"}
	out := &output{File: terminal, writing: make(chan struct{}, 1), size: func() (int, int) { return 80, 24 }, stale: m.isStale, height: 24, drawn: make(chan struct{})}
	p := tea.NewProgram(&late{Model: m}, tea.WithInput(nil), tea.WithOutput(out), tea.WithoutSignalHandler(), tea.WithEnvironment(environment()), tea.WithFPS(30))
	go func() {
		<-out.drawn
		p.Quit()
	}()
	if _, err := p.Run(); err != nil {
		t.Fatal(err)
	}
	until(t, fmt.Sprintf("nothing is drawn: %q", sent), func() bool { return strings.Contains(sent.String(), "a task") })
	if text := sent.String(); strings.Contains(text, "\x1b[?2004h") || strings.Index(text, "\x1b[?25l") > 0 && strings.Index(text, "\x1b[?25l") < strings.Index(text, "a task") {
		t.Errorf("the terminal gets %q", text)
	}
}
