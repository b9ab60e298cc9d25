package sdk

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/maker-mdap/maker/model/sim"
	"github.com/maker-mdap/maker/model/sim/simserver"
)

// makerPath is the program with the gateway.
var makerPath string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "maker-sdk-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	makerPath = filepath.Join(dir, "maker")
	build := exec.Command("go", "build", "-o", makerPath, "./cmd/maker")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// A voted server is the gateway of a real `maker serve`, with models behind it that are wrong
// one time in five, or worse.
type voted struct {
	url, token string

	calls   atomic.Int64  // that the models got
	waiting chan struct{} // gets something for each call of the model that never answers
	gone    chan struct{} // and for each of them that is given up
}

// Models behind the gateway.
const (
	wrongAtTimes = "maker/openai/wrong-at-times?k=4"
	neverAgrees  = "maker/openai/never-agrees?k=2"
	broken       = "maker/openai/broken?k=2&max_faults=1"
	silent       = "maker/openai/silent?k=3"
)

// voteFor starts one.
func voteFor(t *testing.T) *voted {
	t.Helper()
	dir := t.TempDir()
	v := &voted{waiting: make(chan struct{}, 100), gone: make(chan struct{}, 100)}
	file := filepath.Join(dir, "script.yaml")
	if err := os.WriteFile(file, []byte(gatewayScript), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := sim.Default()
	settings.P, settings.Seed, settings.Script = 0.8, 3, file
	simulated, err := simserver.Handler(simserver.Options{Default: settings})
	if err != nil {
		t.Fatal(err)
	}
	upstream := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { v.upstream(w, r, simulated) }))
	upstream.Config.BaseContext = func(net.Listener) context.Context { return t.Context() }
	upstream.Start()
	t.Cleanup(upstream.Close)

	tokens := filepath.Join(dir, "tokens.json")
	token, err := exec.CommandContext(t.Context(), makerPath, "token", "new", "--name", "app", "--scope", "write", "--token-file", tokens).Output()
	if err != nil {
		t.Fatalf("maker token: %v", err)
	}
	v.token = strings.TrimSpace(string(token))
	serve := exec.Command(makerPath, "serve", "--listen", "127.0.0.1:0", "--token-file", tokens)
	serve.Dir = dir
	serve.Env = []string{"OPENAI_BASE_URL=" + upstream.URL + "/v1", "OPENAI_API_KEY=none", "XDG_CONFIG_HOME=" + dir, "HOME=" + dir}
	out, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Kill()
		_ = serve.Wait() // it was killed
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("maker serve printed no address: %v", err)
	}
	at, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	v.url = at.Scheme + "://" + at.Host
	return v
}

// gatewayScript is an agent that looks at the weather, and is wrong at times.
const gatewayScript = `
- match: 'weather in (\w+) and (\w+)'
  after: 0
  right:
    text: 'Let me look at both.'
    tool_calls:
      - {name: weather, input: {city: '${1}', days: 2}}
      - {name: weather, input: {city: '${2}', note: "<&> ü€𝄞 \"\\ \n", deep: {list: ['${1}', 1.5, true, null]}}}
  wrong:
    - {tool_calls: [{name: weather, input: {city: Atlantis}}]}
    - {text: 'I do not know.'}
    - {tool_calls: [{name: umbrella, input: {}}]}
- match: weather
  match_result: '(\d+) degrees\n(\d+) degrees'
  right: {text: '${result.1} here and ${result.2} there.'}
  wrong: [{text: 'It rains.'}, {text: 'It snows.'}]
`

// upstream is what the gateway asks.
func (v *voted) upstream(w http.ResponseWriter, r *http.Request, simulated http.Handler) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var asked struct{ Model string }
	_ = json.Unmarshal(body, &asked) // the simulator says what is wrong
	n := v.calls.Add(1)
	switch asked.Model {
	case "never-agrees":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,`+
			`"tool_calls":[{"id":"c-%d","type":"function","function":{"name":"weather","arguments":"{\"city\":\"%[1]d\"}"}}]}}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`, n)
	case "broken":
		w.WriteHeader(http.StatusInternalServerError)
	case "silent":
		v.waiting <- struct{}{}
		<-r.Context().Done()
		v.gone <- struct{}{}
	default:
		r.Body = io.NopCloser(bytes.NewReader(body))
		simulated.ServeHTTP(w, r)
	}
}

// byVote checks what the headers of an answer say about the vote.
func byVote(t *testing.T, answer *http.Response) {
	t.Helper()
	if answer == nil || answer.Header.Get("X-Maker-Decided-By") != "vote" || answer.Header.Get("X-Maker-Votes") == "" || answer.Header.Get("X-Maker-Run") == "" {
		t.Errorf("the headers are %v, want those of a vote", answer)
	}
}
