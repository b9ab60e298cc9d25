//go:build slow && linux

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A gatewayServer is a `maker serve` process that programs come to with a token.
type gatewayServer struct {
	*process
	base  string // address without a path
	token string
	runs  string // folder of its runs
}

// startGateway serves for a token with this scope; env are further variables, as NAME=value.
func startGateway(t testing.TB, scope string, env ...string) *gatewayServer {
	t.Helper()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens.json")
	token := strings.TrimSpace(mustMaker(t, 0, "token", "new", "--name", "app", "--scope", scope, "--token-file", tokens).stdout)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	args := append([]string{"--chdir", dir}, env...)
	p := startWith(t, w, "env", append(args, makerPath, "serve", "--listen", "127.0.0.1:0", "--token-file", tokens)...)
	w.Close()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("maker serve printed no address: %v", p.kill())
	}
	at, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return &gatewayServer{process: p, base: at.Scheme + "://" + at.Host, token: token, runs: filepath.Join(dir, "runs")}
}

// interrupt ends the server as Ctrl-C does.
func (g *gatewayServer) interrupt(t testing.TB) {
	t.Helper()
	if err := g.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if o := g.wait(t); o.code != 0 {
		t.Fatalf("maker serve, interrupted = %v, want exit code 0", o)
	}
}

// post sends a request as JSON and returns the answer.
func (g *gatewayServer) post(t testing.TB, path string, body any) (*http.Response, []byte) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.base+path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+g.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if data, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp, data
}

// TestGatewayIsRight: a server that is wrong one time in five, asked through the gateway by a
// hundred requests with a margin of four: every answer is right or says that it is not agreed
// on. The log of the session says the same, after the server has ended.
func TestGatewayIsRight(t *testing.T) {
	const requests = 100
	upstream := startSim(t, "sim/default?p=0.8&seed=11&latency=5ms,0.5", "")
	g := startGateway(t, "write", "OPENAI_BASE_URL="+upstream.base, "OPENAI_API_KEY=none")
	schema := json.RawMessage(`{"type":"object","properties":{"answer":{"type":"integer"}},"required":["answer"],"additionalProperties":false}`)
	format := map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "sum", "strict": true, "schema": schema}}

	// One after the other, so that the server draws the same samples each time: of a hundred
	// races with a margin of four at p = 0.8 one is lost in a third of all runs.
	agreed, unsure, samples := 0, 0, 0
	for i := range requests {
		resp, body := g.post(t, "/v1/chat/completions", map[string]any{
			"model": "maker/openai/any?k=4", "response_format": format,
			"messages": []map[string]string{{"role": "user", "content": fmt.Sprintf("What is %d + %d? Answer in JSON.", i, 3*i+1)}},
		})
		var answer struct {
			Choices []struct{ Message struct{ Content string } }
			Maker   struct {
				Samples, Margin int
				DecidedBy       string `json:"decided_by"`
			}
			Error struct{ Code string }
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			t.Fatalf("request %d: %s %s", i, resp.Status, body)
		}
		if resp.StatusCode == http.StatusUnprocessableEntity && answer.Error.Code == "not_agreed" {
			unsure++
			continue
		}
		want := fmt.Sprintf(`{"answer": %d}`, 4*i+1)
		if len(answer.Choices) != 1 || answer.Choices[0].Message.Content != want || answer.Maker.DecidedBy != "vote" || answer.Maker.Margin < 4 {
			t.Errorf("request %d: %s %s, want %s by vote", i, resp.Status, body, want)
			continue
		}
		agreed, samples = agreed+1, samples+answer.Maker.Samples
	}
	t.Logf("%d of %d agreed on with %d samples, %d not agreed on", agreed, requests, samples, unsure)
	if agreed < requests*8/10 {
		t.Errorf("%d of %d are agreed on, want most of them", agreed, requests)
	}

	g.interrupt(t)
	run := runDir(t, g.runs)
	if o := mustMaker(t, 0, "replay", run); !strings.Contains(o.stdout, "agrees with the stored result") {
		t.Errorf("maker replay = %v, want that it agrees", o)
	}
	var certificate struct {
		Votes struct{ Races, Undecided int }
	}
	if err := json.Unmarshal([]byte(mustMaker(t, 0, "certify", run, "--json").stdout), &certificate); err != nil {
		t.Fatal(err)
	}
	if v := certificate.Votes; v.Races != requests || v.Undecided != unsure {
		t.Errorf("the certificate has %d races, %d of them undecided, want %d and %d", v.Races, v.Undecided, requests, unsure)
	}
}
