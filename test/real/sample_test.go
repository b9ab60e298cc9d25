package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A counting server answers every question with its temperature.
type countingServer struct {
	*httptest.Server
	requests []wireRequest
	failFrom int // requests from this one on fail, if it is not 0
}

type wireRequest struct {
	Temperature float64
	Seed        uint32
	Stop        []string
	MaxTokens   int `json:"max_tokens"`
	Messages    []struct{ Role, Content string }
}

func newCountingServer(t *testing.T) *countingServer {
	s := &countingServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req wireRequest
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Errorf("a request is not JSON: %v", err)
		}
		if s.failFrom > 0 && len(s.requests)+1 >= s.failFrom {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		s.requests = append(s.requests, req)
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":" %v"},"finish_reason":"stop"}],
			"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9,"prompt_tokens_details":{"cached_tokens":5}}}`, req.Temperature)
	}))
	t.Cleanup(s.Close)
	return s
}

// smallFolder is a folder with one small family.
func smallFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	f := small()
	f.Wordings = slices.Repeat([]string{"{a} + 1 ="}, framings)
	f.ExampleSets = nil
	for n := range framings {
		f.ExampleSets = append(f.ExampleSets, []example{{map[string]string{"a": fmt.Sprint(n + 10)}, "1"}})
	}
	head, items, err := f.files()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"small.json": head, "small.jsonl": items} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestSampleGoesOnWhereItWas(t *testing.T) {
	server := newCountingServer(t)
	folder, families := t.TempDir(), smallFolder(t)
	args := []string{"-url", server.URL + "/v1", "-model", "m", "-form", "text", "-bank", folder, "-families", families}

	server.failFrom = 4
	if err := sampleCommand(t.Context(), args); err == nil {
		t.Error("sampleCommand with a server that fails = nil, want an error")
	}
	if have, err := readBank(folder); err != nil || len(have) != 3 {
		t.Fatalf("after a failure the bank has %d samples, %v, want 3", len(have), err)
	}
	server.failFrom = 0
	for range 2 { // the second time there is nothing to do
		if err := sampleCommand(t.Context(), args); err != nil {
			t.Fatal(err)
		}
		if len(server.requests) != 30 {
			t.Fatalf("the server got %d requests, want 30", len(server.requests))
		}
	}
	have, err := readBank(folder)
	if err != nil || len(have) != 30 {
		t.Fatalf("the bank has %d samples, %v, want 30", len(have), err)
	}
	q := ask{temperature: warm, sample: 2}.question("m", "small", "small-1")
	want := &sample{question: q, Prompt: have[q].Prompt, Text: " 0.7", Stop: "end", In: 7, Out: 2}
	if diff := cmp.Diff(encoded(t, want), encoded(t, have[q])); diff != "" || len(want.Prompt) != 16 {
		t.Errorf("the sample %+v: -want +got\n%s", q, diff)
	}
	if cold := (ask{}).question("m", "small", "small-1"); have[cold].Prompt != want.Prompt {
		t.Errorf("the prompt of %+v is %s, want that of every temperature, %s", cold, have[cold].Prompt, want.Prompt)
	}
}

func TestSamplesOfOneQuestionDiffer(t *testing.T) {
	server := newCountingServer(t)
	args := []string{"-url", server.URL + "/v1", "-model", "m", "-bank", t.TempDir(), "-families", smallFolder(t), "-stages", "3"}
	if err := sampleCommand(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	seeds := map[uint32]bool{}
	for _, r := range server.requests {
		if r.Temperature == warm {
			seeds[r.Seed] = true
		}
		if !slices.Equal(r.Stop, []string{"\n"}) || r.MaxTokens != oneLineTokens {
			t.Errorf("a request stops at %q or %d tokens, want at the end of a line or %d", r.Stop, r.MaxTokens, oneLineTokens)
		}
	}
	if want := 2*framings - 1; len(seeds) != want { // of one prompt, and of the other example sets
		t.Errorf("%d samples had %d seeds, want as many", want, len(seeds))
	}
}

// Each call is answered only when another one meets it, so that calls one by one would
// never end.
func TestCallsMeetInSlots(t *testing.T) {
	meet := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // so that the server sees when the client goes
		select {
		case meet <- struct{}{}:
		case <-meet:
		case <-r.Context().Done():
			return
		}
		io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":" 6"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	client, err := newClient(server.URL+"/v1", "m")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	to, have, err := openBank(filepath.Join(folder, "m.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer to.close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := &sampler{client: client, form: text, have: have, to: to, slots: 2}
	four := stage{"", each(0, 4, func(n int) ask { return ask{temperature: warm, sample: n} })}
	if done, err := s.all(ctx, jobs("m", []*family{small()}, []stage{four}, 1)); done != 4 || err != nil {
		t.Errorf("all = %d, %v, want 4 calls", done, err)
	}
	if b, err := readBank(folder); err != nil || len(b) != 4 {
		t.Errorf("the bank has %d samples, %v, want 4", len(b), err)
	}
}

func TestSampleOwnPrompts(t *testing.T) {
	server := newCountingServer(t)
	folder := t.TempDir()
	file := filepath.Join(t.TempDir(), "own.jsonl")
	lines := `{"kind":"do","id":"do-01","request":{"system":"Do it.","messages":[{"role":"user","text":"Sing."}],"max_output":4096}}
{"kind":"do","id":"do-02","request":{"messages":[{"role":"user","text":"Dance."}]}}
`
	if err := os.WriteFile(file, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"-url", server.URL + "/v1", "-model", "m", "-bank", folder, "-families", smallFolder(t), "-own", file, "-items", "1"}
	if err := sampleCommand(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	have, err := readBank(folder)
	if err != nil || len(have) != len(ownAsks) {
		t.Fatalf("the bank has %d samples, %v, want %d of the first prompt", len(have), err, len(ownAsks))
	}
	for _, r := range server.requests {
		if len(r.Messages) != 2 || r.Messages[0].Content != "Do it." || r.MaxTokens != ownTokens || r.Stop != nil {
			t.Errorf("a request is %+v, want the recorded one with %d tokens", r, ownTokens)
		}
	}
}

func TestEveryMethodIsSampled(t *testing.T) {
	all, one := small(), small()
	all.Wordings = slices.Repeat(all.Wordings[:1], framings)
	one.Wordings = one.Wordings[:1]
	if got := len(jobs("m", []*family{one}, stages, 100)); got != 18 {
		t.Errorf("jobs has %d calls for an item with one wording, want 18", got)
	}
	families := []*family{all}
	sampled := map[question]bool{}
	list := jobs("m", families, stages, 100)
	for _, j := range list {
		if sampled[j.question] {
			t.Errorf("%+v is sampled twice", j.question)
		}
		sampled[j.question] = true
	}
	if len(list) != 30 {
		t.Errorf("jobs has %d calls for an item, want 30", len(list))
	}
	for _, m := range methods {
		for _, a := range m.asks {
			if !sampled[a.question("m", "small", "small-1")] {
				t.Errorf("%s needs %+v, which is not sampled", m.name, a)
			}
		}
	}
}
