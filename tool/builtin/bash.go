package builtin

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/maker-mdap/maker/internal/process/sandbox"
	"github.com/maker-mdap/maker/tool"
)

type bashInput struct {
	Command     string `json:"command" jsonschema:"The command line."`
	Timeout     int    `json:"timeout,omitempty" minimum:"1" jsonschema:"Milliseconds until it is ended; 120000 unless given, at most 600000."`
	Description string `json:"description,omitempty" vote:"-" jsonschema:"What the command does, in a few words."`
}

const (
	bashTimeout    = 120 * time.Second
	bashMaxTimeout = 600 * time.Second
	bashBytes      = 30_000
)

// Check refuses what the system could not take as one argument, and waits that
// nobody means.
func (in bashInput) Check() error {
	const longest = 100_000
	switch {
	case in.Command == "":
		return errors.New("command: it is empty")
	case len(in.Command) > longest:
		return fmt.Errorf("command: it has %d bytes, more than %d; write a script", len(in.Command), longest)
	case time.Duration(in.Timeout) > bashMaxTimeout/time.Millisecond:
		return fmt.Errorf("timeout: %d is more than %d milliseconds", in.Timeout, bashMaxTimeout.Milliseconds())
	}
	return nil
}

type bash struct{ sandbox *sandbox.Sandbox }

func (b bash) run(ctx context.Context, in bashInput) (tool.Result, error) {
	if b.sandbox == nil {
		return tool.Result{}, fmt.Errorf("builtin: Bash: %w", tool.ErrUnavailable)
	}
	limit := bashTimeout
	if in.Timeout > 0 {
		limit = time.Duration(in.Timeout) * time.Millisecond
	}
	args := []string{"bash", "--noprofile", "--norc", "-c", in.Command}
	if _, err := exec.LookPath("bash"); err != nil {
		args = []string{"sh", "-c", in.Command}
	}
	errTimeout := fmt.Errorf("it was ended after %s", limit)
	timed, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	out := newClipped(bashBytes)
	outcome, err := b.sandbox.Run(timed, sandbox.Command{Args: args, Output: out})
	text := out.String()
	if len(outcome.Changed) > 0 {
		// Whatever else there is to say: nobody may take this for a success.
		text = fmt.Sprintf("%s[protected: %s]\n", endLine(text), strings.Join(outcome.Changed, "; "))
	}
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, context.Cause(ctx)
	case err != nil && !errors.Is(err, errTimeout):
		return tool.Result{}, err
	case err != nil:
		return tool.Failed("%s[timeout: the command did not finish; %v]", endLine(text), err), nil
	case outcome.Limit != "":
		return tool.Failed("%s[limit: the command was ended because it passed the limit of %s]", endLine(text), outcome.Limit), nil
	case outcome.ExitCode != 0:
		return tool.Failed("%s[exit code %d]", endLine(text), outcome.ExitCode), nil
	case len(outcome.Changed) > 0:
		return tool.Failed("%s", text), nil
	case text == "":
		text = "[no output]"
	}
	return tool.Result{Text: text}, nil
}
