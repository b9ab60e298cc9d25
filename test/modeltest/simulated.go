package modeltest

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/model/sim"
	"github.com/maker-mdap/maker/model/sim/simserver"
	"github.com/maker-mdap/maker/usage"
)

const perfect = "sim/default?p=1"

// simulator starts a simulator on loopback that counts connections.
func simulator(t *testing.T, settings sim.Settings) (*simserver.Server, string) {
	t.Helper()
	s, err := simserver.Handler(simserver.Options{Default: settings, RequireKey: true})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewUnstartedServer(s)
	ts.Config.ConnState = s.ConnState
	ts.Start()
	t.Cleanup(ts.Close)
	return s, ts.URL
}

// Simulated asks the simulator over HTTP.
func Simulated(t *testing.T, c Config) {
	t.Run("Answers", func(t *testing.T) { answers(t, c) })
	t.Run("Text", func(t *testing.T) { texts(t, c) })
	t.Run("Faults", func(t *testing.T) { faults(t, c) })
	t.Run("Mistakes", func(t *testing.T) { mistakes(t, c) })
	t.Run("Ends", func(t *testing.T) { ends(t, c) })
	t.Run("Connections", func(t *testing.T) { connections(t, c) })
}

// answers looks at what an answer says, and at what it is said to have used.
func answers(t *testing.T, c Config) {
	_, base := simulator(t, sim.Default())
	m := newClient(t, c, base, perfect)
	r, err := m.Generate(t.Context(), ask("Compute: 20 + 22"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(r.Text, "\nanswer = 42") || r.Stop != model.StopEnd || r.Model != perfect {
		t.Errorf("Generate = %+v, want 42", r)
	}
	// The simulator has a token for every four bytes: 9 of the system prompt and
	// 16 of the question.
	if want := (usage.Tokens{Input: 7, Output: int64(len(r.Text)+3) / 4}); r.Usage != want {
		t.Errorf("usage = %+v, want %+v", r.Usage, want)
	}
	req := ask("Compute: 20 + 22")
	req.System = ""
	if r, err = m.Generate(t.Context(), req); err != nil || r.Usage.Input != 4 {
		t.Errorf("Generate without a system prompt = %+v, %v, want 4 tokens read", r, err)
	}
	req.MaxOutput = 2
	if r, err = m.Generate(t.Context(), req); err != nil || r.Stop != model.StopLength || r.Usage.Output != 2 {
		t.Errorf("Generate with 2 tokens = %+v, %v, want a stop for length", r, err)
	}
	for _, temperature := range []float64{0, 0.7, 1} {
		req := ask("Compute: 20 + 22")
		req.Temperature = &temperature
		if r, err := m.Generate(t.Context(), req); err != nil || !strings.HasSuffix(r.Text, "42") {
			t.Errorf("Generate at temperature %v = %+v, %v, want 42", temperature, r, err)
		}
	}
	// The question is the last message of the user.
	req = ask("Compute: 1 + 1")
	req.Messages = append(req.Messages,
		model.Message{Role: model.Assistant, Text: "answer = 2"},
		model.Message{Role: model.User, Text: "Compute: 2 + 2"})
	if r, err := m.Generate(t.Context(), req); err != nil || !strings.HasSuffix(r.Text, "answer = 4") {
		t.Errorf("Generate in a conversation = %+v, %v, want 4", r, err)
	}
}

// texts sends and receives what JSON and HTTP can spoil.
func texts(t *testing.T, c Config) {
	const answer = "Ωμέγα 𝄞 🧮 <b>&\"\\ \u2028 e\u0301 \x7f"
	file := filepath.Join(t.TempDir(), "script.json")
	script := []map[string]any{
		{"match": "Grüße 𝄞 <&>", "answers": []any{map[string]any{"text": answer}}},
		{"match": "secret", "answers": []any{map[string]any{"text": "I will not say.", "stop": "refusal"}}},
		{"match": "silence", "answers": []any{map[string]any{"text": ""}}},
	}
	if err := os.WriteFile(file, mustJSON(t, script), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := sim.Default()
	settings.Script = file
	_, base := simulator(t, settings)
	m := newClient(t, c, base, "any")
	for _, test := range []struct {
		prompt, text string
		stop         model.StopReason
	}{
		{"Grüße 𝄞 <&>", answer, model.StopEnd},
		{"the secret", "I will not say.", model.StopRefusal},
		{"silence", "", model.StopEnd},
	} {
		r, err := m.Generate(t.Context(), ask(test.prompt))
		if err != nil || r.Text != test.text || r.Stop != test.stop {
			t.Errorf("Generate(%q) = %+v, %v, want %q, stop %s", test.prompt, r, err, test.text, test.stop)
		}
	}
}

// faults has the simulator fail in all its ways.
func faults(t *testing.T, c Config) {
	s, base := simulator(t, sim.Default())
	for _, test := range []struct {
		fault   string
		kind    model.Kind
		waitMin time.Duration
		waitMax time.Duration
		now     bool
	}{
		{"f429=1", model.RateLimited, 0, 0, false},
		{"f429=1&retry_after=0s", model.RateLimited, 0, 0, true},
		{"f429=1&retry_after=1500ms", model.RateLimited, 1500 * time.Millisecond, 2 * time.Second, false},
		{"f529=1&retry_after=2s", model.Overloaded, 2 * time.Second, 2 * time.Second, false},
		{"f500=1", model.Transient, 0, 0, false},
		{"cut=1", model.Transient, 0, 0, false},
		{"garbage=1", model.Transient, 0, 0, false},
	} {
		_, err := newClient(t, c, base, "sim/default?"+test.fault).Generate(t.Context(), ask("Sort: [2, 1]"))
		e := model.AsError(err)
		if err == nil || e.Kind != test.kind || e.RetryAfter < test.waitMin || e.RetryAfter > test.waitMax || e.RetryNow != test.now {
			t.Errorf("%s: Generate fails with %v, after %v, want kind %s, after %v", test.fault, err, e.RetryAfter, test.kind, test.waitMin)
		}
		if e.Faults != nil {
			t.Errorf("%s: the error has faults %v: a client does not retry", test.fault, e.Faults)
		}
	}
	if n := s.Stats().Requests; n != 7 {
		t.Errorf("7 calls made %d requests, want one each", n)
	}
}

// mistakes sends requests that cannot work.
func mistakes(t *testing.T, c Config) {
	s, base := simulator(t, sim.Default())
	m, err := c.New(Server{BaseURL: base, Model: perfect})
	if err != nil {
		t.Fatalf("New without a key: %v", err)
	}
	_, err = m.Generate(t.Context(), ask("x"))
	wantKind(t, "no key", err, model.Auth, "key")
	_, err = newClient(t, c, base, "sim/unheard-of").Generate(t.Context(), ask("x"))
	wantKind(t, "no such model", err, model.Invalid, "sim/unheard-of")
	_, err = newClient(t, c, base, perfect).Generate(t.Context(), &model.Request{})
	wantKind(t, "no messages", err, model.Invalid, "message")

	// A value out of range is the user's mistake, not a parameter to leave out.
	hot := newClient(t, c, base, perfect)
	req := ask("Sort: [2, 1]")
	req.Temperature = new(float64)
	*req.Temperature = 3
	before := s.Stats().Requests
	_, err = hot.Generate(t.Context(), req)
	wantKind(t, "too hot", err, model.Invalid, "temperature")
	if n := s.Stats().Requests - before; n != 1 || len(hot.warned()) > 0 {
		t.Errorf("too hot: %d requests and warnings %q, want 1 request and no warning", n, hot.warned())
	}
}

// ends has callers give up.
func ends(t *testing.T, c Config) {
	s, base := simulator(t, sim.Default())
	m := newClient(t, c, base, "sim/default?hang=1")

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err := m.Generate(ctx, ask("x"))
	wantKind(t, "deadline", err, model.Transient, "no answer within")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("deadline: Generate fails with %v, want one that wraps context.DeadlineExceeded", err)
	}
	eventually(t, "the server notices the deadline", func() bool { return s.Stats().Cancelled == 1 })

	ctx, cancelCause := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := m.Generate(ctx, ask("x"))
		done <- err
	}()
	eventually(t, "the call arrives", func() bool { return s.Stats().InFlight == 1 })
	cancelCause(errors.New("another sample won"))
	err = <-done
	wantKind(t, "cancel", err, model.Cancelled, "another sample won")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancel: Generate fails with %v, want one that wraps context.Canceled", err)
	}
	eventually(t, "the server notices the cancellation", func() bool { return s.Stats().Cancelled == 2 && s.Stats().InFlight == 0 })

	before := s.Stats().Requests
	_, err = m.Generate(ctx, ask("x"))
	wantKind(t, "cancelled before", err, model.Cancelled, "")
	if n := s.Stats().Requests - before; n != 0 {
		t.Errorf("a call with an ended context made %d requests, want 0", n)
	}
}

// connections makes many calls at once and counts how often they connect.
func connections(t *testing.T, c Config) {
	const callers, calls = 64, 20
	s, base := simulator(t, sim.Default())
	m := newClient(t, c, base, perfect)
	var group sync.WaitGroup
	errs := make(chan error, callers)
	for i := range callers {
		group.Go(func() {
			for j := range calls {
				r, err := m.Generate(t.Context(), ask(fmt.Sprintf("Compute: %d + %d", i, j)))
				if err == nil && !strings.HasSuffix(r.Text, fmt.Sprintf("answer = %d", i+j)) {
					err = fmt.Errorf("%d + %d = %q", i, j, r.Text)
				}
				if err != nil {
					errs <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	// A few more than callers may be opened while others become free.
	if n := *s.Stats().Connections; n > 2*callers {
		t.Errorf("%d callers with %d calls each used %d connections, want about one each", callers, calls, n)
	}
}

// eventually waits for something to become true that nobody tells of.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
