// Package screen shows a run on a terminal while it goes on.
//
// It draws below what is already there, so that the end of a run stays where people can
// scroll back to it. The text cursor rests where the drawing begins: however a window that
// becomes narrower wraps what was drawn, all of it is below the cursor, and is erased with
// one command. Ctrl-C and Ctrl-Z stay signals.
package screen

import (
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/runs"
)

// A Head is what does not change about a run.
type Head struct {
	Run  string
	Task string
	Form event.Form
	Rule string // in words; empty if it goes without saying
}

// phase is what the run is doing as a whole.
type phase int

const (
	running phase = iota
	pausing
	cancelling
	paused
)

// ending is why the screen is given up, for a moment or for good.
type ending int

const (
	staying   ending = iota
	handed           // somebody is asked something
	stopped          // the program is put aside
	disturbed        // it was put aside without a word, and what is drawn is gone
	over             // the run has ended
)

// A Model is what is on the screen. Its methods may be called from any goroutine.
type Model struct {
	mu            sync.Mutex
	width, height int
	color         bool
	keys          bool // somebody can press some

	head  Head
	p     maker.Progress
	pace  Pace
	list  list
	phase phase

	choosing bool // one of the entries was chosen
	chosen   int
	opened   bool // and is shown
	scroll   int
	asking   bool // whether the run is to be cancelled

	leaving  ending
	keepLast bool // the last state stays on the screen

	// What keys do. They return at once.
	onPause, onCancel, onGoOn func()
	onIgnore                  func(typed []byte)
}

// Init implements [tea.Model].
func (m *Model) Init() tea.Cmd { return nil }

// typed is what was typed, as it came.
type typed string

// Update implements [tea.Model].
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case typed:
		m.press(string(msg))
	}
	return m, nil
}

// press does what a key is for. Several characters at once are a text that somebody pasted
// or typed before, and mean nothing.
func (m *Model) press(key string) {
	if m.asking {
		if m.asking = false; strings.EqualFold(key, "y") {
			m.phase = cancelling
			m.onCancel()
		}
		return
	}
	switch key {
	case "p", "P", " ":
		switch m.phase {
		case running:
			m.phase = pausing
			m.onPause()
		case paused:
			m.onGoOn()
		}
	case "q", "Q":
		switch m.phase {
		case running:
			m.asking = true
		case paused:
			m.onCancel()
		}
	case "\x1b[A", "\x1bOA", "k":
		m.move(-1)
	case "\x1b[B", "\x1bOB", "j":
		m.move(1)
	case "\r", "\n":
		if !m.choosing {
			m.move(0)
		}
		m.opened, m.scroll = m.choosing && !m.opened, 0
	case "\x1b":
		if m.opened {
			m.opened = false
		} else {
			m.choosing = false
		}
	default:
		m.onIgnore([]byte(key))
	}
}

// move chooses another entry, or the latest one if none was chosen. What is open is
// scrolled.
func (m *Model) move(by int) {
	n := m.choices()
	if n == 0 {
		return
	}
	if m.opened {
		m.scroll = max(0, m.scroll+by)
		return
	}
	if !m.choosing {
		m.choosing, m.chosen = true, n-1
		if len(m.list.items) > 0 {
			m.chosen = m.list.current
		}
		return
	}
	m.chosen = max(0, min(m.chosen+by, n-1))
}

// View implements [tea.Model].
func (m *Model) View() tea.View {
	m.mu.Lock()
	defer m.mu.Unlock()
	var lines []string
	switch m.leaving {
	case staying:
		lines = m.lines()
	case handed:
		lines = append(m.before(), "")
	case over:
		lines = []string{" "}
		if m.keepLast {
			lines = append(m.last(), "")
		}
	default:
		lines = []string{" "} // the line on which the next drawing begins
	}
	v := tea.NewView(strings.Join(lines, "\n"))
	v.DisableBracketedPasteMode = true
	// The shape says that the cursor is to look as it does: there is no name for that.
	v.Cursor = &tea.Cursor{Shape: -1}
	return v
}

// set tells where the run stands.
func (m *Model) set(now time.Time, p maker.Progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.p = p
	m.pace.Update(now, p.Session, Outage(p))
}

// Outage reports whether nothing can go on because servers fail.
func Outage(p maker.Progress) bool {
	return len(p.Servers) > 0 && !slices.ContainsFunc(p.Servers, func(s runs.Server) bool { return !s.Failing })
}

// take tells of an event, and reports whether it is enough to show it in the list.
func (m *Model) take(e event.Event, load func(event.Value) (event.Value, error)) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list.take(m.head.Form, e, load)
	return m.list.shows(e)
}

// isStale reports whether what is drawn next was made for a window of another size. What is left when
// the screen is given up is drawn whatever the size is.
func (m *Model) isStale(width, height int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.leaving == staying && (m.width != width || m.height != height)
}

// leave gives the screen up.
func (m *Model) leave(why ending) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leaving = why
}
