//go:build unix

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/tool"
)

func TestCall(t *testing.T) {
	t.Parallel()
	_, r := connect(t, map[string]Server{"s": fixture("good")}, nil)
	lines := func(l ...string) string { return strings.Join(l, "\n") }
	tests := []struct {
		tool, input string
		want        tool.Result
	}{
		{"echo", `{"text":"hi"}`, tool.Result{Text: "hi"}},
		{"echo", `{"text":"\u0000 é"}`, tool.Result{Text: "\x00 é"}},
		{"fail", `{}`, tool.Result{Text: "there is no such row", IsError: true}},
		{"image", `{}`, tool.Result{Text: "[image, not shown, image/png, 1234 bytes]"}},
		{"mixed", `{}`, tool.Result{Text: lines(
			"first",
			"[audio, not shown, audio/wav, 5 bytes]",
			"[resource file:///a, text/plain]", "inside",
			"[resource file:///b, not shown, 3 bytes]",
			"[link to file:///c, text/csv, 7 bytes] c the third")}},
		{"structured", `{}`, tool.Result{Text: `{"a":"x","b":[1,2]}`}},
		{"large", `{}`, tool.Result{Text: lines(`{"id":9007199254740992}`, "[whole numbers from 2^53 on may be rounded]")}},
		{"both", `{}`, tool.Result{Text: "in words"}},
		{"nothing", `{}`, tool.Result{Text: "[the tool returned nothing]"}},
		{"echo", `{"txt":"hi"}`, tool.Result{Text: `input of mcp__s__echo: unexpected additional properties ["txt"]`, IsError: true}},
		{"echo", `[]`, tool.Result{Text: "input of mcp__s__echo: want a JSON object", IsError: true}},
	}
	for _, test := range tests {
		got, err := call(t, r, "mcp__s__"+test.tool, test.input)
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s(%s): %v, -want +got\n%s", test.tool, test.input, err, diff)
		}
	}
	got, err := call(t, r, "mcp__s__big", `{}`)
	if err != nil || len(got.Text) > maxOutput+100 || !strings.HasSuffix(got.Text, fmt.Sprintf("é\n[cut: %d of %d bytes are shown]", maxOutput, 2<<20)) {
		t.Errorf("big() = %d bytes that end with %q, %v", len(got.Text), got.Text[max(0, len(got.Text)-60):], err)
	}
}

// TestCallLost is about a server that dies in the middle of a call.
func TestCallLost(t *testing.T) {
	tests := []struct {
		name    string
		trusted bool
		tool    string
		calls   int    // that the server saw, of the one that we make
		want    string // in the result, or else in the error
		unknown bool
	}{
		{"read-only and trusted", true, "shaky_read", 2, "survived", false},
		{"idempotent and trusted", true, "shaky_put", 2, "survived", false},
		{"mutating", true, "shaky_append", 1, "exit code 7", true},
		{"read-only, it says", false, "shaky_read", 1, "exit code 7", true},
		{"idempotent, it says", false, "shaky_put", 1, "out of memory", true},
		{"every time", true, "always_dies", 2, "exit code 7", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "journal")
			present, env := watch(t)
			config := fixture("good", append(env, journalVar, path)...)
			config.Trusted = test.trusted
			s, r := connect(t, map[string]Server{"s": config}, nil)

			result, err := call(t, r, "mcp__s__"+test.tool, `{}`)
			got := result.Text
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, test.want) || errors.Is(err, tool.ErrUnknownOutcome) != test.unknown {
				t.Errorf("%s() = %v, %v, want %q, and unknown outcome is %v", test.tool, result, err, test.want, test.unknown)
			}
			if test.unknown && !strings.Contains(got, tool.ErrUnknownOutcome.Error()) {
				t.Errorf("%s() = %v, want it to say that the outcome is unknown", test.tool, err)
			}
			if n := count(path, test.tool); n != test.calls {
				t.Errorf("the server saw %d calls, want %d", n, test.calls)
			}
			if err != nil {
				if h := s.Health()[0]; h.State != Lost {
					t.Errorf("Health() = %+v, want lost", h)
				}
			}
			// The next call finds a new server.
			if got, err := call(t, r, "mcp__s__echo", `{"text":"again"}`); err != nil || got.Text != "again" {
				t.Errorf("echo() after that = %v, %v, want again", got, err)
			}
			if h := s.Health()[0]; h.State != Ready || h.Reason != "" {
				t.Errorf("Health() = %+v, want ready", h)
			}
			s.Close()
			wantGone(t, present.take(t, count(path, "start")), moment)
		})
	}
}

// TestCallGoesWrong is about a server that misbehaves without dying.
func TestCallGoesWrong(t *testing.T) {
	tests := []struct {
		tool    string
		want    string
		unknown bool
		lost    bool
	}{
		{"garbage", `not MCP to its stdout: "DEBUG: got a call"`, true, true},
		{"silence", "it closed its stdin or stdout", true, true},
		{"unreadable", "its answer cannot be read", true, false},
		{"refuse", "The server refuses the call: there is no column x (code -32602)", false, false},
		{"missing", "The server refuses the call: there is no row x (code -32004) (code -32000)", false, false},
		{"plain", "[the tool returned nothing]", false, false},
	}
	for _, test := range tests {
		t.Run(test.tool, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "journal")
			present, env := watch(t)
			s, r := connect(t, map[string]Server{"s": fixture("raw", append(env, journalVar, path)...)}, nil)
			result, err := call(t, r, "mcp__s__"+test.tool, `{}`)
			got := result.Text
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, test.want) || errors.Is(err, tool.ErrUnknownOutcome) != test.unknown {
				t.Errorf("%s() = %v, %v, want %q, and unknown outcome is %v", test.tool, result, err, test.want, test.unknown)
			}
			if h := s.Health()[0]; (h.State == Lost) != test.lost {
				t.Errorf("Health() = %+v, want lost: %v", h, test.lost)
			}
			if n := count(path, test.tool); n != 1 {
				t.Errorf("the server saw %d calls, want 1", n)
			}
			if !test.lost {
				return
			}
			// The next call finds a new server, and never two of them.
			if _, err := call(t, r, "mcp__s__plain", `{}`); err != nil {
				t.Errorf("plain() after that = %v", err)
			}
			wantGone(t, present.take(t, 2)[:1], time.Millisecond)
		})
	}
}

func TestCallTimeout(t *testing.T) {
	t.Parallel()
	config := fixture("good")
	config.Trusted = true
	s, r := connect(t, map[string]Server{"s": config}, nil)
	s.setCallTimeout(200 * time.Millisecond)
	for name, unknown := range map[string]bool{"never_read": false, "never_append": true} {
		_, err := call(t, r, "mcp__s__"+name, `{}`)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, tool.ErrUnknownOutcome) != unknown || !strings.Contains(err.Error(), "no answer within 200ms") {
			t.Errorf("%s() = %v, want a timeout, and unknown outcome is %v", name, err, unknown)
		}
	}
	s.setCallTimeout(20 * time.Second)
	if got, err := call(t, r, "mcp__s__echo", `{"text":"hi"}`); err != nil || got.Text != "hi" {
		t.Errorf("echo() after that = %v, %v, want hi", got, err)
	}
}

func TestCallCancelled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	present, env := watch(t)
	_, r := connect(t, map[string]Server{"s": fixture("good", append(env, journalVar, path)...)}, nil)
	present.take(t, 1)
	never, err := r.Get("mcp__s__never_append")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := never.Run(ctx, json.RawMessage(`{}`)); !errors.Is(err, context.Canceled) || errors.Is(err, tool.ErrUnknownOutcome) {
		t.Errorf("never_append(cancelled before) = %v, want canceled and certainly not run", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	go func() {
		<-present.conns // the server has the call
		cancel()
	}()
	if _, err := never.Run(ctx, json.RawMessage(`{}`)); !errors.Is(err, context.Canceled) || !errors.Is(err, tool.ErrUnknownOutcome) {
		t.Errorf("never_append(cancelled during) = %v, want an unknown outcome", err)
	}
	if n := count(path, "never_append"); n != 1 {
		t.Errorf("the server saw %d calls, want 1", n)
	}
}

// TestCallNotSent is about a server that does not read what it is sent.
func TestCallNotSent(t *testing.T) {
	t.Parallel()
	s, r := connect(t, map[string]Server{"s": fixture("raw")}, nil)
	if got, err := call(t, r, "mcp__s__deaf", `{}`); err != nil || got.Text != "what?" {
		t.Fatalf("deaf() = %v, %v, want what?", got, err)
	}
	// The first fills the pipe and is sent in part, for which nobody can say what
	// the server makes of it. The connection is of no use after that.
	s.setCallTimeout(300 * time.Millisecond)
	input := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 200<<10))
	if _, err := call(t, r, "mcp__s__deaf", input); !errors.Is(err, tool.ErrUnknownOutcome) {
		t.Errorf("deaf(200 KB) = %v, want an unknown outcome", err)
	}
	s.setCallTimeout(20 * time.Second)
	if got, err := call(t, r, "mcp__s__deaf", `{}`); err != nil || got.Text != "what?" {
		t.Errorf("deaf() after that = %v, %v, want what?", got, err)
	}
}

func TestCallWithoutServer(t *testing.T) {
	dir := t.TempDir()
	config := fixture("good", journalVar, filepath.Join(dir, "journal"))
	s, r := connect(t, map[string]Server{"s": config}, nil)
	if _, err := call(t, r, "mcp__s__shaky_append", `{}`); !errors.Is(err, tool.ErrUnknownOutcome) {
		t.Fatalf("shaky_append() = %v, want an unknown outcome", err)
	}
	s.all[0].config.Command = "/no/such/program" // and it does not come back
	for range 2 {
		_, err := call(t, r, "mcp__s__append", `{}`)
		if err == nil || errors.Is(err, tool.ErrUnknownOutcome) || !strings.Contains(err.Error(), "cannot be reached") {
			t.Errorf("append() = %v, want an error that says that it was not sent", err)
		}
	}
	if h := s.Health()[0]; h.State != Lost || !strings.Contains(h.Reason, "/no/such/program") {
		t.Errorf("Health() = %+v, want lost with the reason", h)
	}
}

// TestCallsTogether is about many calls at once that lose their server together.
func TestCallsTogether(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	config := fixture("good", journalVar, path)
	config.Trusted = true
	_, r := connect(t, map[string]Server{"s": config}, nil)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			name, want := "echo", fmt.Sprint(i)
			if i == 7 {
				name, want = "shaky_read", "survived"
			}
			found, err := r.Get("mcp__s__" + name)
			if err != nil {
				t.Error(err)
				return
			}
			got, err := found.Run(t.Context(), json.RawMessage(fmt.Sprintf(`{"text":"%d"}`, i)))
			if err != nil || got.Text != want {
				t.Errorf("%s(%d) = %v, %v, want %s", name, i, got, err, want)
			}
		})
	}
	wg.Wait()
	if n := count(path, "start"); n != 2 {
		t.Errorf("the server was started %d times, want 2", n)
	}
}

func TestCloseDuringCall(t *testing.T) {
	t.Parallel()
	present, env := watch(t)
	s, r := connect(t, map[string]Server{"s": fixture("good", env...)}, nil)
	conns := present.take(t, 1)
	never, err := r.Get("mcp__s__never_append")
	if err != nil {
		t.Fatal(err)
	}
	result := make(chan error)
	go func() {
		_, err := never.Run(t.Context(), json.RawMessage(`{}`))
		result <- err
	}()
	conns = append(conns, present.take(t, 1)...) // the server has the call
	s.Close()
	wantGone(t, conns, moment)
	if err := <-result; !errors.Is(err, tool.ErrUnknownOutcome) {
		t.Errorf("never_append(closed during) = %v, want an unknown outcome", err)
	}
	if _, err := never.Run(t.Context(), json.RawMessage(`{}`)); !errors.Is(err, errClosed) || errors.Is(err, tool.ErrUnknownOutcome) {
		t.Errorf("never_append(closed before) = %v, want %v", err, errClosed)
	}
	s.Close() // once more does no harm
}
