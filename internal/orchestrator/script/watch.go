package script

import (
	"encoding/json"
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// A Watcher is told which built-in function a script calls, and where, and with which state a
// chain begins. From is the file and the line of main, or of the function of a map or a chain,
// that led there, if that is another place.
type Watcher interface {
	Called(what, file string, line int, from string)
	Chained(key string, state json.RawMessage)
}

// tell tells whoever watches which built-in function is called, and where.
func (s *scope) tell(t *starlark.Thread, what string) {
	if s.Watch == nil {
		return
	}
	var first, at syntax.Position
	stack := t.CallStack()
	for _, frame := range stack[:len(stack)-1] { // without the built-in function
		if frame.Pos.Line == 0 {
			continue
		}
		if at = frame.Pos; first.Line == 0 {
			first = at
		}
	}
	from := ""
	if first != at {
		from = fmt.Sprintf("%s:%d", first.Filename(), first.Line)
	}
	s.Watch.Called(what, at.Filename(), int(at.Line), from)
}
