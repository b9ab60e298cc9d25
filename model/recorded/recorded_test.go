package recorded

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

func ask(text string) *model.Request {
	return &model.Request{
		System:      "be brief",
		Messages:    []model.Message{{Role: model.User, Text: text}},
		Temperature: new(0.1),
		MaxOutput:   100,
	}
}

func TestRecordThenReplay(t *testing.T) {
	const callers, each, prompts = 64, 20, 7
	var n atomic.Int64
	source := model.Func(func(_ context.Context, req *model.Request) (*model.Response, error) {
		i := n.Add(1)
		if i%10 == 0 {
			return nil, &model.Error{Kind: model.RateLimited, Message: "once more", RetryNow: true}
		}
		if i%5 == 0 {
			return nil, &model.Error{
				Kind: model.RateLimited, Provider: "sim", Status: 429,
				Message: fmt.Sprint("slow down ", i), RetryAfter: 1500 * time.Millisecond,
			}
		}
		return &model.Response{
			Text: fmt.Sprintf("%s: %d <&>\u2028\n", req.Messages[0].Text, i), Stop: model.StopEnd,
			Usage: usage.Tokens{Input: i, Output: 2, Reasoning: 3}, CostUSD: new(float64(i) / 7), Model: "sim/x",
		}, nil
	})
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	rec, err := NewRecorder(source, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	recorded := collect(t, rec, callers, each, prompts)
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	player, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	played := collect(t, player, callers, each, prompts)
	if diff := cmp.Diff(recorded, played); diff != "" {
		t.Errorf("the replay differs (-recorded +played):\n%s", diff)
	}
	_, err = player.Generate(t.Context(), ask("prompt 0"))
	want := fmt.Sprintf("recorded: invalid: %s has no more than ", path)
	if err == nil || !strings.HasPrefix(err.Error(), want) || model.KindOf(err) != model.Invalid {
		t.Errorf("Generate() = %v, want %s...", err, want)
	}
}

// collect makes many calls at once and returns all outcomes of each prompt,
// sorted.
func collect(t *testing.T, m model.Model, callers, each, prompts int) map[string][]string {
	t.Helper()
	outcomes := make(map[string][]string)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range each {
				prompt := fmt.Sprint("prompt ", (c+i)%prompts)
				resp, err := m.Generate(t.Context(), ask(prompt))
				outcome := fmt.Sprintf("%#v", err)
				if e, ok := err.(*model.Error); ok {
					outcome = fmt.Sprintf("%+v", *e)
				} else if err == nil {
					outcome = fmt.Sprintf("%q %s %+v %v %s", resp.Text, resp.Stop, resp.Usage, *resp.CostUSD, resp.Model)
				}
				mu.Lock()
				outcomes[prompt] = append(outcomes[prompt], outcome)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for _, o := range outcomes {
		slices.Sort(o)
	}
	return outcomes
}

func TestReplaysInOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	answers := []string{"one", "two", "one", "three"}
	i := 0
	rec, err := NewRecorder(model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		i++
		return &model.Response{Text: answers[i-1]}, nil
	}), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range answers {
		rec.Generate(t.Context(), ask("q"))
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range answers {
		resp, err := p.Generate(t.Context(), ask("q"))
		if err != nil || resp.Text != want {
			t.Fatalf("Generate() = %v, %v, want %s", resp, err, want)
		}
	}
	_, err = p.Generate(t.Context(), ask(strings.Repeat("é", 70)))
	want := fmt.Sprintf("recorded: invalid: %s has no answer to the request that starts %q", path, strings.Repeat("é", 59)+"…")
	if err == nil || err.Error() != want {
		t.Errorf("Generate() = %v, want %s", err, want)
	}
}

func TestGivenUpCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := write(t, `{"request":{"messages":null},"error":{"kind":"cancelled"}}
{"request":{"messages":[]},"response":{"text":"late"}}
`)
		p, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if resp, err := p.Generate(ctx, &model.Request{}); err != nil || resp.Text != "late" {
			t.Errorf("Generate() = %v, %v, want the answer first", resp, err)
		}
		start := time.Now()
		_, err = p.Generate(ctx, &model.Request{})
		if model.KindOf(err) != model.Cancelled || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("Generate() = %v after %v, want cancelled after a minute", err, time.Since(start))
		}
		if _, err = p.Generate(ctx, &model.Request{}); model.KindOf(err) != model.Cancelled {
			t.Errorf("Generate(ended ctx) = %v, want cancelled", err)
		}
		if _, err = p.Generate(t.Context(), &model.Request{}); model.KindOf(err) != model.Invalid {
			t.Errorf("Generate() = %v, want that none is left", err)
		}
	})
}

func TestRedact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	secret := "sk-12345"
	var fails bool
	rec, err := NewRecorder(model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		if fails {
			return nil, &model.Error{Kind: model.Auth, Provider: "p " + secret, Err: errors.New("bad key " + secret)}
		}
		return &model.Response{Text: "it is " + secret, Model: "m " + secret}, nil
	}), path, &Options{Redact: func(line []byte) []byte { return bytes.ReplaceAll(line, []byte(secret), []byte("[secret]")) }})
	if err != nil {
		t.Fatal(err)
	}
	req := ask("what is " + secret + "?")
	req.System = secret
	resp, err := rec.Generate(t.Context(), req)
	if err != nil || resp.Text != "it is "+secret || req.System != secret {
		t.Errorf("Generate() = %v, %v, want the answer as it was", resp, err)
	}
	fails = true
	rec.Generate(t.Context(), req)
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || bytes.Contains(text, []byte(secret)) || bytes.Count(text, []byte("[secret]")) != 8 {
		t.Errorf("the file holds %s, %v, want the secret redacted in eight places", text, err)
	}
	p, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := p.Generate(t.Context(), req); err != nil || resp.Text != "it is [secret]" {
		t.Errorf("Generate() = %v, %v, want the redacted answer to the original request", resp, err)
	}
}

// TestRedactCalls: what is no text of a call is redacted as well.
func TestRedactCalls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	const secret = "sk-12345"
	rec, err := NewRecorder(model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		return &model.Response{ToolCalls: []model.ToolCall{{ID: "1", Name: "Write", Input: json.RawMessage(`{"content":"sk-12345"}`)}}}, nil
	}), path, &Options{Redact: func(line []byte) []byte { return bytes.ReplaceAll(line, []byte(secret), []byte("[secret]")) }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rec.Generate(t.Context(), ask("?")); err != nil {
		t.Fatal(err)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || bytes.Contains(text, []byte(secret)) || !bytes.Contains(text, []byte(`{"content":"[secret]"}`)) {
		t.Errorf("the file holds %s, %v, want the input of the call without the secret", text, err)
	}
}

func TestNotRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	exhausted := errors.New("budget exhausted")
	rec, err := NewRecorder(model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		return nil, exhausted
	}), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rec.Generate(t.Context(), ask("q")); err != exhausted {
		t.Errorf("Generate() = %v, want %v", err, exhausted)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(path); len(text) != 0 {
		t.Errorf("the file holds %q, want nothing", text)
	}
}

func TestWriteErrorIsReported(t *testing.T) {
	rec, err := NewRecorder(model.Func(func(context.Context, *model.Request) (*model.Response, error) {
		return &model.Response{Text: "paid for"}, nil
	}), filepath.Join(t.TempDir(), "calls.jsonl"), nil)
	if err != nil {
		t.Fatal(err)
	}
	rec.file.Close() // as if the disk were gone
	for range 2 {
		if resp, err := rec.Generate(t.Context(), ask("q")); err != nil || resp.Text != "paid for" {
			t.Errorf("Generate() = %v, %v, want the answer", resp, err)
		}
	}
	if err := rec.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Close() = %v, want the error of the write", err)
	}
}

const (
	good = `{"hash":"a","request":{"messages":[],"new":1},"response":{"text":"x","later":{}},"more":[1]}` + "\n"
	bad  = `{"hash":"a","resp` + "\n"
)

func TestOpen(t *testing.T) {
	tests := []struct {
		name, text string
		want       int // calls
		wantErr    string
	}{
		{"empty", "", 0, ""},
		{"unknown fields", good + good, 2, ""},
		{"blank lines", "\n" + good + " \n", 1, ""},
		{"no newline at the end", strings.TrimSpace(good), 1, ""},
		{"torn last line", good + good[:30], 1, ""},
		{"nothing but a torn line", good[:30], 0, ""},
		{"corrupt line in the middle", good + bad + good, 0, "line 2: "},
		{"corrupt line at the end", good + bad, 0, "line 2: "},
		{"neither", good + `{"hash":"a"}`, 0, "line 2: want either a response or an error"},
		{"both", `{"hash":"a","response":{},"error":{}}`, 0, "line 1: want either a response or an error"},
		{"no hash", `{"response":{}}`, 0, "line 1: there is neither a hash nor a request"},
		{"other types", good + `{"hash":3}` + "\n" + good, 0, "line 2: json: "},
	}
	for _, tt := range tests {
		path := write(t, tt.text)
		p, err := Open(path)
		if tt.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), path+": "+tt.wantErr) {
				t.Errorf("%s: Open() = %v, want an error with the file's name and %q", tt.name, err, tt.wantErr)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: Open() = %v, want no error", tt.name, err)
			continue
		}
		got := 0
		for _, c := range p.calls {
			got += len(c.answers)
		}
		if got != tt.want {
			t.Errorf("%s: Open() found %d calls, want %d", tt.name, got, tt.want)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open(absent) = %v, want that it does not exist", err)
	}
}

// Recording goes on after a crash in the middle of a line.
func TestAppends(t *testing.T) {
	for _, before := range []string{good, strings.TrimSpace(good), good + good[:30]} {
		path := write(t, before)
		rec, err := NewRecorder(model.Func(func(context.Context, *model.Request) (*model.Response, error) {
			return &model.Response{Text: "new"}, nil
		}), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		rec.Generate(t.Context(), ask("q"))
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		p, err := Open(path)
		if err != nil || len(p.calls) != 2 {
			t.Errorf("after appending to %q: Open() = %v, %v, want both calls", before, p, err)
		}
	}
}

func TestHash(t *testing.T) {
	same := [][2]*model.Request{
		{ask("q"), ask("q")},
		{{Messages: nil}, {Messages: []model.Message{}}},
	}
	for _, pair := range same {
		if a, b := Hash(pair[0]), Hash(pair[1]); a != b {
			t.Errorf("Hash(%+v) = %s, want %s as for %+v", pair[0], a, b, pair[1])
		}
	}
	seen := make(map[string]*model.Request)
	for _, req := range []*model.Request{
		{},
		{System: "a"},
		{Messages: []model.Message{{Role: model.User, Text: "a"}}},
		{Messages: []model.Message{{Role: model.Assistant, Text: "a"}}},
		{Messages: []model.Message{{Role: model.User, Text: "a"}, {Role: model.User}}},
		{Temperature: new(0.0)},
		{Temperature: new(0.1)},
		{Temperature: new(math.NaN())},
		{MaxOutput: 1},
	} {
		if other, twice := seen[Hash(req)]; twice {
			t.Errorf("Hash(%+v) = Hash(%+v), want another", req, other)
		}
		seen[Hash(req)] = req
	}
	// Files outlive programs: the hash of a request never changes.
	if got, want := Hash(ask("q")), "0e22f9f2fca6133ae7a371db12e23a7676d0a81ada2fac71fb7b704cd0872525"; got != want {
		t.Errorf("Hash(q) = %s, want %s", got, want)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(good + good))
	f.Add([]byte(good + bad + good))
	f.Add([]byte(`{"request":{"messages":[{"role":"user","text":"q"}]},"error":{"kind":"cancelled","retry_after_ms":9}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := read(bytes.NewReader(text))
		if (all == nil) == (err == nil) {
			t.Fatalf("read(%q) = %v, %v, want one of them", text, all, err)
		}
		for hash, c := range all {
			if hash == "" || c.known != len(c.answers)+c.givenUp {
				t.Errorf("read(%q)[%q] = %+v, want a hash and all calls counted", text, hash, c)
			}
		}
		if err != nil || !bytes.HasSuffix(text, []byte("\n")) {
			return
		}
		// A torn line after whole ones changes nothing.
		torn, err := read(bytes.NewReader(append(text, `{"hash":"a","resp`...)))
		if err != nil || len(torn) != len(all) {
			t.Errorf("read(%q + torn line) = %v, %v, want %v", text, torn, err, all)
		}
	})
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
