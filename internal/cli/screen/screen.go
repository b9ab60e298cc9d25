package screen

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"golang.org/x/term"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/cli/tty"
)

// Controls are what a person can do with a run. They return at once.
type Controls struct{ Pause, Cancel func() }

// A Screen keeps the state of a run on a terminal, below the lines that are printed.
type Screen struct {
	out      *os.File
	keyboard *tty.Terminal // nil if nobody can press keys
	model    *Model

	refresh func() // the model
	ended   chan struct{}
	writing chan struct{} // has room for whoever draws

	mu     sync.Mutex
	held   bool          // somebody else is writing
	over   bool          // nothing is to be drawn any more
	on     bool          // it is on the screen
	off    chan struct{} // closed when it is not any more
	wake   chan struct{} // gets one when something of this has changed
	queue  []string      // lines to print
	answer chan bool     // whether a run that is paused goes on
}

// New returns a screen on a terminal.
func New(out *os.File, keyboard *tty.Terminal) *Screen {
	s := &Screen{out: out, keyboard: keyboard, writing: make(chan struct{}, 1), wake: make(chan struct{}, 1), answer: make(chan bool, 1)}
	s.model = &Model{color: os.Getenv("NO_COLOR") == "", keys: keyboard != nil}
	s.model.width, s.model.height = s.size()
	s.model.onIgnore = func(text []byte) {
		if keyboard != nil {
			keyboard.Ignore(text)
		}
	}
	return s
}

func (s *Screen) size() (width, height int) {
	if w, h, err := term.GetSize(int(s.out.Fd())); err == nil && w > 0 && h > 0 {
		return w, h
	}
	return 80, 24
}

// Begin shows a run from now on. Progress is where it stands, and stopping whether it is
// being cancelled.
func (s *Screen) Begin(h Head, c Controls, progress func() maker.Progress, stopping func() bool) {
	m := s.model
	m.mu.Lock()
	m.head, m.phase, m.leaving, m.pace = h, running, staying, Pace{}
	m.asking, m.choosing, m.opened = false, false, false
	m.onPause, m.onCancel, m.onGoOn = c.Pause, c.Cancel, func() {}
	m.mu.Unlock()
	s.show(func() {
		m.set(time.Now(), progress())
		m.mu.Lock()
		if stopping() && m.phase != pausing {
			m.phase = cancelling
		}
		m.mu.Unlock()
	})
}

// Hold shows that the run is paused until the person has decided whether it goes on, or
// done is closed.
func (s *Screen) Hold(done <-chan struct{}) (goOn bool) {
	m := s.model
	m.mu.Lock()
	m.phase, m.leaving = paused, staying
	m.onGoOn, m.onCancel = func() { s.decide(true) }, func() { s.decide(false) }
	m.mu.Unlock()
	s.show(func() {})
	defer s.End(false)
	select {
	case goOn = <-s.answer:
	case <-done:
	}
	return goOn
}

func (s *Screen) decide(goOn bool) {
	select {
	case s.answer <- goOn:
	default:
	}
}

// Take tells of an event, and reports whether it is enough to show it in the list.
func (s *Screen) Take(e event.Event, load func(event.Value) (event.Value, error)) bool {
	return s.model.take(e, load)
}

// Print puts lines above what is live.
func (s *Screen) Print(text string) {
	s.mu.Lock()
	s.queue = append(s.queue, strings.Split(text, "\n")...)
	s.mu.Unlock()
	s.changed()
}

// Release gives the terminal to somebody else until [Screen.Restore].
func (s *Screen) Release() {
	s.mu.Lock()
	s.held = true
	off, on := s.off, s.on
	s.mu.Unlock()
	s.changed()
	if on {
		<-off
	}
}

// Restore takes the terminal back.
func (s *Screen) Restore() {
	s.mu.Lock()
	s.held = false
	s.mu.Unlock()
	s.changed()
}

// Abandon puts the terminal right because the program is about to end. Nothing is drawn after it,
// and half of a picture only if the terminal does not take the other half.
func (s *Screen) Abandon() {
	if s.keyboard != nil {
		s.keyboard.Restore()
	}
	select {
	case s.writing <- struct{}{}: // for good
	case <-time.After(time.Second):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.on {
		fmt.Fprint(s.out, "\x1b[?7h\r\x1b[J\x1b[?25h")
	}
}

// End ends the drawing. The last state stays on the screen if it is wanted.
func (s *Screen) End(leaveState bool) {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.model.mu.Lock()
	s.model.keepLast = leaveState
	s.model.mu.Unlock()
	s.changed()
	<-s.ended
}

func (s *Screen) changed() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Screen) show(refresh func()) {
	s.refresh, s.ended = refresh, make(chan struct{})
	s.mu.Lock()
	s.over = false
	s.mu.Unlock()
	go func() {
		defer close(s.ended)
		s.loop()
	}()
}

// period is how often the model is refreshed.
const period = 100 * time.Millisecond

// loop draws whenever nothing speaks against it, until it is over.
func (s *Screen) loop() {
	for {
		asked, stop := tty.Suspensions()
		goOn, stopGoOn := tty.Continuations()
		why := s.wanted()
		if why == staying {
			why = s.draw(asked, goOn)
		}
		stop()
		stopGoOn()
		switch why {
		case over:
			s.flushQueue()
			return
		case stopped:
			tty.Suspend()
		case handed:
			s.rest()
		}
	}
}

// wanted is why the screen is not to be drawn on now; staying if nothing speaks against it,
// and then it is on: who wants the terminal from now on waits until it is off.
func (s *Screen) wanted() ending {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
		return over
	case s.held, !tty.Foreground(int(s.out.Fd())):
		return handed
	}
	s.on, s.off = true, make(chan struct{})
	return staying
}

// rest waits while somebody else has the terminal. Behind a shell lines are printed all the
// same.
func (s *Screen) rest() {
	s.mu.Lock()
	held := s.held
	s.mu.Unlock()
	if !held {
		s.flushQueue()
	}
	select {
	case <-s.wake:
	case <-time.After(time.Second): // the shell may have put the program in front again
	}
}

// flushQueue prints what was not printed above a drawing.
func (s *Screen) flushQueue() {
	s.mu.Lock()
	lines := s.queue
	s.queue = nil
	s.mu.Unlock()
	for _, line := range lines {
		fmt.Fprintf(s.out, "%s\n", line)
	}
}

// output is the terminal, which tells when something was drawn for the first time: before
// that nobody knows where above it is. It does not wrap what is drawn: when the window
// becomes narrower at the very moment, that would take rows that nobody knows of. What is below
// the cursor it erases in two parts, because tmux keeps a copy of a whole screen that is erased;
// but not after the height has changed, because tmux then shows again what it moved away. What was
// made for a window of another size it leaves out: it might not fit, and scroll its own beginning out
// of sight; all is drawn anew for the new size. Behind a shell it is silent, and what it kept to
// itself has to be drawn anew. A picture that was due before the model had made its first one is
// none, and left out.
type output struct {
	*os.File
	writing chan struct{}
	size    func() (width, height int)
	stale   func(width, height int) bool // whether what is drawn was made for another size
	height  int
	once    sync.Once
	drawn   chan struct{}
	silent  atomic.Bool
	missed  atomic.Bool // something was left out since everything was drawn anew
}

func (o *output) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("\x1b[?2004h")) { // which no picture of ours asks for
		return len(p), nil
	}
	defer o.once.Do(func() { close(o.drawn) })
	if !tty.Foreground(int(o.Fd())) {
		o.silent.Store(true)
		return len(p), nil
	}
	width, height := o.size()
	select {
	case <-o.drawn:
		if o.stale(width, height) {
			o.missed.Store(true)
			return len(p), nil
		}
	default: // the first one
	}
	drawing := p
	if erase := []byte("\x1b[J"); bytes.Contains(p, erase) {
		if height == o.height {
			drawing = bytes.ReplaceAll(p, erase, []byte("\x1b7\x1b[K\x1b[B\x1b[J\x1b8"))
		} else {
			o.height = height
		}
	}
	o.writing <- struct{}{}
	defer func() { <-o.writing }()
	if _, err := o.File.Write(slices.Concat([]byte("\x1b[?7l"), drawing, []byte("\x1b[?7h"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// WriteString prints lines above what is drawn, which are not left out.
func (o *output) WriteString(text string) (int, error) {
	o.writing <- struct{}{}
	defer func() { <-o.writing }()
	return o.File.WriteString(text)
}

// line is text to be printed above what is drawn.
type line struct {
	text  string
	taken *atomic.Bool
}

// again has the model drawn again.
type again struct{}

// draw is one drawing, from the first line to why it was given up.
func (s *Screen) draw(asked, goOn <-chan os.Signal) ending {
	m := s.model
	s.refresh()
	m.mu.Lock()
	m.width, m.height = s.size()
	m.leaving = staying
	m.mu.Unlock()
	out := &output{File: s.out, writing: s.writing, size: s.size, stale: m.isStale, height: m.height, drawn: make(chan struct{})}
	p := tea.NewProgram(m, tea.WithInput(nil), tea.WithOutput(out), tea.WithoutSignalHandler(), tea.WithEnvironment(environment()), tea.WithFPS(30),
		tea.WithFilter(s.filter))
	ended := make(chan struct{})
	var feeding sync.WaitGroup
	feeding.Go(func() { s.feed(p, out, ended, asked, goOn) })
	stopKeys := func() {}
	if s.keyboard != nil {
		if stop, err := s.keyboard.Keys(func(text []byte) { sendKeys(p, string(text)) }); err == nil {
			stopKeys = stop
		}
	}
	_, err := p.Run()
	stopKeys() // before anybody else reads what is typed
	close(ended)
	feeding.Wait()
	m.mu.Lock()
	why := m.leaving
	m.mu.Unlock()
	if err != nil && why == staying {
		why = over // it cannot be drawn
	}
	s.mu.Lock()
	s.on = false
	close(s.off)
	s.mu.Unlock()
	return why
}

// filter changes messages into what the drawing understands.
func (s *Screen) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case line:
		msg.taken.Store(true)
		return tea.Println(msg.text)()
	case tea.WindowSizeMsg:
		msg.Width, msg.Height = s.size() // some terminals do not say theirs
		return msg
	}
	return msg
}

// sendKeys tells a program what was typed. Arrows come one by one, however many came at
// once.
func sendKeys(p *tea.Program, text string) {
	for len(text) >= 3 && text[0] == '\x1b' && (text[1] == '[' || text[1] == 'O') {
		p.Send(typed(text[:3]))
		text = text[3:]
	}
	if text != "" {
		p.Send(typed(text))
	}
}

// feed refreshes the model and prints lines, until the drawing has ended or is to end.
func (s *Screen) feed(p *tea.Program, out *output, ended <-chan struct{}, asked, goOn <-chan os.Signal) {
	select {
	case <-out.drawn:
	case <-ended:
		return
	}
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		s.printQueue(p, ended)
		if why := s.wanted(); why != staying {
			s.refresh()
			s.model.leave(why)
			p.Quit()
			return
		}
		if out.silent.Load() {
			s.model.leave(disturbed)
			p.Quit()
			return
		}
		select {
		case <-tick.C:
			s.refresh()
			if out.missed.Swap(false) {
				p.Send(tea.WindowSizeMsg{}) // which has everything drawn anew
			}
			p.Send(again{})
		case <-s.wake:
		case <-asked:
			s.model.leave(stopped)
			p.Quit()
			return
		case <-goOn:
			s.model.leave(disturbed)
			p.Quit()
			return
		case <-ended:
			return
		}
	}
}

// printQueue prints the lines that wait, a few at a time: they have to fit above what is
// drawn. Lines that came too late wait for the next drawing.
func (s *Screen) printQueue(p *tea.Program, ended <-chan struct{}) {
	for {
		s.mu.Lock()
		few := slices.Clone(s.queue[:min(len(s.queue), 4)])
		s.mu.Unlock()
		if len(few) == 0 {
			return
		}
		width, _ := s.size()
		var taken atomic.Bool
		var parts []string
		for _, text := range few {
			parts = append(parts, lipgloss.Wrap(text, max(width-1, 8), ""))
		}
		p.Send(line{strings.Join(parts, "\n"), &taken})
		p.Send(again{}) // which comes after it
		if !taken.Load() {
			if <-ended; !taken.Load() {
				return
			}
		}
		s.mu.Lock()
		s.queue = s.queue[len(few):]
		s.mu.Unlock()
	}
}

// environment is what the drawing is told: nothing that makes it ask the terminal something,
// because an answer that comes too late is taken for what somebody typed.
func environment() []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "TERM", "TERM_PROGRAM", "WT_SESSION", "SSH_TTY":
		default:
			env = append(env, v)
		}
	}
	return append(env, "TERM=xterm-256color", "SSH_TTY=none")
}
