package claudecode

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"syscall"

	"github.com/maker-mdap/maker/internal/httpclient"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/model"
)

// broken is an error of the program that may pass.
func broken(format string, args ...any) *model.Error {
	return &model.Error{Kind: model.Transient, Provider: provider, Message: "the program broke: " + fmt.Sprintf(format, args...)}
}

// invalid is an error that will not pass.
func invalid(format string, args ...any) *model.Error {
	return &model.Error{Kind: model.Invalid, Provider: provider, Message: fmt.Sprintf(format, args...)}
}

// notStarted is the error of a program that could not be started.
func notStarted(program string, err error) *model.Error {
	e := invalid("%v", err)
	e.NotSent, e.Err = true, err
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		e.Message = fmt.Sprintf("there is no program %q; install it with `npm install -g @anthropic-ai/claude-code`, or say where it is with --claude-path", program)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EISDIR):
		e.Message = fmt.Sprintf("%q cannot be run: %v; say where the claude program is with --claude-path", program, err)
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ETXTBSY):
		e.Kind = model.Transient // the machine is busy
	}
	return e
}

// maxWords bounds the program's words in an error.
const maxWords = 500

// failure is the error that the program's last line reports.
func (d *dialog) failure(r *resultLine) *model.Error {
	e := &model.Error{Provider: provider, Status: r.Status, Kind: kindOf(r.Status, d.trouble)}
	for _, words := range []string{r.Result, d.spoken, strings.Join(r.Errors, "; "), r.Subtype} {
		if e.Message == "" {
			e.Message = clip.Text(strings.ToValidUTF8(strings.TrimSpace(words), "\uFFFD"), maxWords)
		}
	}
	switch {
	case r.Terminal == "prompt_too_long" || e.Kind != model.TooLong && httpclient.TooLong(e.Message):
		e.Kind = model.TooLong
	case r.StopReason == "refusal":
		e.Kind = model.Refused
	case e.Kind == model.Auth:
		e.Message += " (set ANTHROPIC_API_KEY, or CLAUDE_CODE_OAUTH_TOKEN to what `claude setup-token` prints)"
	case r.Status == 0 && strings.Contains(e.Message, "ConnectionRefused"):
		e.NotSent = true
	}
	return e
}

// kindOf sorts an error by its status, or by the program's word for it if there
// was none.
func kindOf(status int, word string) model.Kind {
	if status != 0 {
		return httpclient.KindOf(status)
	}
	switch word {
	case "authentication_failed", "oauth_org_not_allowed":
		return model.Auth
	case "billing_error", "invalid_request", "model_not_found":
		return model.Invalid
	case "rate_limit":
		return model.RateLimited
	case "overloaded":
		return model.Overloaded
	}
	return model.Transient
}
