package demo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"
)

// TestInterruptedBetweenCommands: whoever ends the demo while it only says something has
// interrupted it, whichever scene is next.
func TestInterruptedBetweenCommands(t *testing.T) {
	interrupted := errors.New("interrupted")
	for name, scene := range map[string]func(*stage) error{
		"outvoted": (*stage).outvoted, "killed": (*stage).killed, "approved": (*stage).approved, "certified": (*stage).certified,
	} {
		ctx, end := context.WithCancelCause(t.Context())
		end(interrupted)
		var out bytes.Buffer
		s := &stage{Options: Options{Program: os.Args[0], Out: &out, Err: &out}, ctx: ctx, dir: t.TempDir(), seen: map[string]bool{}}
		if err := scene(s); err != interrupted {
			t.Errorf("%s() = %v, want %v", name, err, interrupted)
		}
	}
}
