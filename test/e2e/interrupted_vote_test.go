//go:build slow && linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"github.com/maker-mdap/maker/model/sim"
	"github.com/maker-mdap/maker/model/sim/simserver"
)

// A rationedServer is a simulated provider that gives as many answers as a test
// allows it. Further requests get none for as long as their sender waits.
type rationedServer struct {
	server http.Handler
	base   string // address with /v1

	mu    sync.Mutex
	given int
	most  int
}

func startRationed(t *testing.T, script string) *rationedServer {
	t.Helper()
	settings, err := sim.Parse("sim/default?script=" + script)
	if err != nil {
		t.Fatal(err)
	}
	s := &rationedServer{}
	if s.server, err = simserver.Handler(simserver.Options{Default: settings}); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	s.base = web.URL + "/v1"
	return s
}

func (s *rationedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body) // only then is a sender who goes away noticed
	if err != nil {
		return
	}
	if !s.mayAnswer() {
		<-r.Context().Done()
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.server.ServeHTTP(w, r)
}

func (s *rationedServer) mayAnswer() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.given >= s.most {
		return false
	}
	s.given++
	return true
}

// allow lets the server give so many answers in all.
func (s *rationedServer) allow(most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = most
}

func (s *rationedServer) answers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given
}

// samplesIn counts the samples in a log and adds up what they cost.
func samplesIn(t *testing.T, log []byte) (n int, usd float64) {
	t.Helper()
	for line := range bytes.Lines(complete(log)) {
		var e struct {
			Type string   `json:"type"`
			Cost *float64 `json:"cost_usd"`
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if e.Type != "agent_sample_completed" {
			continue
		}
		if e.Cost == nil {
			t.Fatalf("the cost of a sample is not known: %s", line)
		}
		n, usd = n+1, usd+*e.Cost
	}
	return n, usd
}

// TestKillInTheMiddleOfAVote kills a run when some of the samples of a vote are in its
// log. They were paid for and thrown away: the vote began anew, and the result said
// nothing of what they had cost.
func TestKillInTheMiddleOfAVote(t *testing.T) {
	const k = 3
	for _, test := range []struct {
		name  string
		kills []int // after so many answers
		want  int   // answers in all: one move to propose the call, one to say that it is done
	}{
		{"of a call", []int{2}, 2 * k},
		{"of an answer", []int{5}, 2 * k},
		{"again and again", []int{1, 2, 4, 5}, 2 * k},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := startRationed(t, writeFile(t, "script.yaml", `
- {match: 'Append the line item-0', after: 0, answers: [{tool_calls: [{name: Bash, input: {command: 'echo item-0 >> log.txt'}}]}]}
- {match: 'Append the line item-0', answers: [{text: 'done: true'}]}
`))
			t.Setenv("OPENAI_API_KEY", "none")
			t.Setenv("OPENAI_BASE_URL", server.base)
			workspace, logDir := t.TempDir(), t.TempDir()
			args := []string{"exec", effectPlan(t, 1, "file"), "--model", "openai/gpt-4.1-mini", "--voting", "first_to_k", "--voting-k", fmt.Sprint(k),
				"--approve", "none", "--no-input", "--workspace", workspace, "--log-dir", logDir, "--quiet"}
			for _, after := range test.kills {
				server.allow(after)
				p := start(t, makerPath, args...)
				eventually(t, fmt.Sprintf("%d samples are in the log", after), func() bool {
					dir, ok := findRun(logDir)
					if !ok {
						return false
					}
					n, _ := samplesIn(t, readLog(t, dir))
					return n == after
				})
				if o := p.kill(); o.code != -1 {
					t.Fatalf("maker %q = %v, want it killed", args, o)
				}
				args = []string{"resume", runDir(t, logDir), "--no-input", "--quiet"}
			}
			server.allow(100)
			mustMaker(t, 0, args...)

			dir := runDir(t, logDir)
			if n := server.answers(); n != test.want {
				t.Errorf("the run got %d answers, want %d", n, test.want)
			}
			n, usd := samplesIn(t, readLog(t, dir))
			r := readResult(t, dir)
			if r.Voting.Samples != n || n != test.want {
				t.Errorf("the steps are made of %d samples, and %d are in the log, want %d", r.Voting.Samples, n, test.want)
			}
			if math.Abs(r.Usage.USD-usd) > 1e-9 {
				t.Errorf("the run cost $%v, want $%v: that is what the samples in its log cost", r.Usage.USD, usd)
			}
			if lines := linesOf(t, filepath.Join(workspace, "log.txt")); len(lines) != 1 || lines["item-0"] != 1 {
				t.Errorf("log.txt has the lines %v, want item-0 once", lines)
			}
			mustMaker(t, 0, "replay", dir)
		})
	}
}
