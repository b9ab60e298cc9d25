// Package learn lets a client find out in which form its server takes the
// parameters of a request.
//
// Servers that speak the same protocol disagree about parts of it: one refuses a
// temperature, another knows a limit by its older name only. A list of who takes
// what is out of date on the day it is written, so a client tries, reads the
// refusal, and sends the request in another form. What was taken in the end is
// remembered, and the user is told once.
package learn

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A Param is a part of a request that servers disagree about.
type Param int

// The parameters.
const (
	Temperature Param = iota
	MaxOutput
	Output // structured output
	Choices
	Cache
	params
)

// Forms says in which form each parameter is sent. What a number means is up to
// the client.
type Forms [params]int

// mostTries bounds how often one request is sent.
const mostTries = 8

// Lessons is what a client has learned. It is safe for concurrent use.
type Lessons struct {
	warn  func(p Param, form int, why string)
	forms [params]atomic.Int64

	mu   sync.Mutex
	told map[lesson]bool
}

type lesson struct {
	param Param
	form  int
}

// New starts with what is known. It calls warn, from any goroutine, once for each
// form that a parameter gets; why is what the server said.
func New(known Forms, warn func(p Param, form int, why string)) *Lessons {
	l := &Lessons{warn: warn, told: map[lesson]bool{}}
	for p, form := range known {
		l.forms[p].Store(int64(form))
	}
	return l
}

// Forms returns what is known now.
func (l *Lessons) Forms() Forms {
	var f Forms
	for p := range f {
		f[p] = int(l.forms[p].Load())
	}
	return f
}

// Try sends a request until the server takes its form. If send fails and says
// which forms to try next, and these have not been tried, it is called again.
// Only forms that the server took are remembered: what a refusal means is a
// guess until the next form works.
func (l *Lessons) Try(send func(Forms) (next Forms, why string, err error)) error {
	known := l.Forms()
	now := known
	var whys [params]string
	var tried []Forms
	for {
		next, why, err := send(now)
		if err == nil {
			for p := range now {
				if now[p] != known[p] {
					l.Remember(Param(p), known[p], now[p], whys[p])
				}
			}
			return nil
		}
		tried = append(tried, now)
		if len(tried) == mostTries || slices.Contains(tried, next) {
			return err
		}
		for p := range next {
			if next[p] != now[p] {
				whys[p] = why
			}
		}
		now = next
	}
}

// Remember replaces a form, unless it was replaced in the meantime: of many calls
// that learn the same at once, one is enough.
func (l *Lessons) Remember(p Param, from, to int, why string) {
	if l.forms[p].CompareAndSwap(int64(from), int64(to)) {
		l.Tell(p, to, why)
	}
}

// Tell warns about a form, once.
func (l *Lessons) Tell(p Param, form int, why string) {
	l.mu.Lock()
	first := !l.told[lesson{p, form}]
	l.told[lesson{p, form}] = true
	l.mu.Unlock()
	if first {
		l.warn(p, form, why)
	}
}
