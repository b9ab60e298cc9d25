package serving

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/internal/server"
	"github.com/maker-mdap/maker/internal/server/access"
)

// A house is the command itself, served on a port of this machine.
type house struct {
	t     *testing.T
	url   string
	link  string
	logs  string
	store *access.Store
	stop  func()
}

// newHouse starts the command in a folder with runs and a file of tokens.
func newHouse(t *testing.T, dir string, change func(*flags)) *house {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("HOME", dir)
	h := &house{t: t, logs: filepath.Join(dir, "runs"), store: access.Tokens(filepath.Join(dir, "tokens.json"))}
	read, write := io.Pipe()
	a := App{
		Out: write, Err: io.Discard, LogDir: func() string { return h.logs }, Logger: slog.New(slog.DiscardHandler),
		Usage: func(err error) error { return err }, Settings: settings,
		Resuming: func(given map[string][]string) (*maker.Options, func(*maker.Config), error) {
			o, err := settings(0, nil)
			return o, func(c *maker.Config) {
				for name, texts := range given {
					_ = config.Find(name).Value(c).Set(texts[0])
				}
			}, err
		},
	}
	f := &flags{listen: "127.0.0.1:0", tokenFile: h.store.Path()}
	if change != nil {
		change(f)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- a.serve(ctx, f)
		write.Close()
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		cancel()
		t.Fatalf("serve prints no link: %v; it says %v", err, <-ended)
	}
	h.link = strings.TrimSpace(line)
	h.url, _, _ = strings.Cut(h.link, "/login")
	stopped := false
	h.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve() = %v", err)
		}
	}
	t.Cleanup(h.stop)
	return h
}

// settings are those of a run without a configuration file.
func settings(_ config.Kinds, given map[string][]string) (*maker.Options, error) {
	o := &maker.Options{Config: maker.Config{Model: "sim/default"}}
	for name, texts := range given {
		for _, text := range texts {
			v := config.Find(name).Value(&o.Config)
			if v == nil {
				continue
			}
			if err := v.Set(text); err != nil {
				return nil, &maker.ConfigError{Field: name, Err: err}
			}
		}
	}
	return o, nil
}

// token makes one and returns its secret.
func (h *house) token(token access.Token) string {
	h.t.Helper()
	secret, err := h.store.New(token)
	if err != nil {
		h.t.Fatal(err)
	}
	return secret
}

// ask makes a request with a token, or with none.
func (h *house) ask(secret, method, path, body string) (int, string) {
	h.t.Helper()
	req, err := http.NewRequest(method, h.url+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// want checks the status of an answer, and that of what is refused its form.
func (h *house) want(status int, secret, method, path, body string) string {
	h.t.Helper()
	got, text := h.ask(secret, method, path, body)
	if got != status {
		h.t.Errorf("%s %s %.200s = %d %s, want %d", method, path, body, got, text, status)
	}
	var problem struct {
		Title, Detail string
		Status        int
	}
	if err := json.Unmarshal([]byte(text), &problem); status >= 400 && (err != nil || problem.Status != got || problem.Title == "" || problem.Detail == "") {
		h.t.Errorf("%s %s = %s, want a problem", method, path, text)
	}
	return text
}

// field is a field of an answer.
func field(t *testing.T, text, path string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// begin starts a run and returns its name.
func (h *house) begin(secret, settings string) string {
	h.t.Helper()
	text := h.want(201, secret, "POST", "/api/runs", `{"kind":"hanoi","params":{"disks":4},"settings":{`+settings+`}}`)
	run, _ := field(h.t, text, "run.run").(string)
	if run == "" {
		h.t.Fatalf("POST /api/runs = %s, want a run", text)
	}
	return run
}

const (
	slow = `"model":"sim/default?latency=1h"`
	fast = `"model":"sim/default"`
)

// until waits for the state of a run.
func (h *house) until(secret, run, state string) {
	h.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		text := h.want(200, secret, "GET", "/api/runs/"+run, "")
		if field(h.t, text, "summary.state") == state {
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("%s is not %s: %s", run, state, text)
		}
	}
}

// requests are all that the server says that it answers, with a run in the place of {run}: a
// method and a path each.
func (h *house) requests(secret, run string) [][2]string {
	h.t.Helper()
	var doc struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal([]byte(h.want(200, secret, "GET", "/api/openapi.json", "")), &doc); err != nil {
		h.t.Fatal(err)
	}
	names := strings.NewReplacer("{run}", run, "{step}", "0", "{n}", "0", "{hash}", strings.Repeat("0", 64))
	var list [][2]string
	for path, methods := range doc.Paths {
		for method := range methods {
			list = append(list, [2]string{strings.ToUpper(method), names.Replace(path)})
		}
	}
	if len(list) < 20 {
		h.t.Fatalf("GET /api/openapi.json describes %d requests: %v", len(list), list)
	}
	return list
}

func TestNobody(t *testing.T) {
	h := newHouse(t, t.TempDir(), nil)
	ci := h.token(access.Token{Name: "ci", Scope: access.Write})
	run := h.begin(ci, fast)
	requests := append(h.requests(ci, run), h.requests(ci, "none")...)
	requests = append(requests, [2]string{"GET", "/"}, [2]string{"GET", "/api/"}, [2]string{"GET", "/nothing"}, [2]string{"PUT", "/api/runs"})
	for _, r := range requests {
		if r[1] != "/healthz" {
			h.want(401, "", r[0], r[1], "")
		}
	}
	for _, path := range []string{"/api/runs", "/metrics"} { // more of them would wait
		h.want(401, "wrong", "GET", path, "")
	}
	h.want(200, "", "GET", "/healthz", "")
}

func TestWrongScope(t *testing.T) {
	h := newHouse(t, t.TempDir(), nil)
	read := h.token(access.Token{Name: "board", Scope: access.Read, AllRuns: true})
	write := h.token(access.Token{Name: "ci", Scope: access.Write})
	answer := h.token(access.Token{Name: "me", Scope: access.Answer, AllRuns: true})
	run := h.begin(write, slow)
	const order = `{"kind":"hanoi","params":{"disks":3}}`
	h.want(200, read, "GET", "/api/runs/"+run, "")
	h.want(403, read, "POST", "/api/runs", order)
	h.want(403, read, "POST", "/api/preview", order)
	for _, what := range []string{"pause", "cancel", "resume", "answers"} {
		h.want(403, read, "POST", "/api/runs/"+run+"/"+what, "")
	}
	h.want(403, read, "DELETE", "/api/runs/"+run, "")
	h.want(403, write, "POST", "/api/runs/"+run+"/answers", `{"question":"q","answer":"yes"}`)
	h.want(409, answer, "POST", "/api/runs/"+run+"/answers", `{"question":"q","answer":"yes"}`) // nobody asked

	for setting, may := range map[string]bool{
		`"ahead_by":2`:                true,
		`"red_flags":"format"`:        true,
		`"model":"sim/default?p=0.9"`: true,
		`"approve":"none"`:            false,
		`"sandbox":"off"`:             false,
		`"workspace":"/"`:             false,
		`"allow":["Bash(ls)"]`:        false,
		`"base_url":"http://evil/v1"`: false,
		`"mcp_config":"mcp.json"`:     false,
		`"record":"out"`:              false,
		`"prices":"/etc/passwd"`:      false,
		`"replay":["/etc/passwd"]`:    false,
		`"red_flags":"../flags.yaml"`: false,
		`"voters":["a/b","sim/default?script=/etc/passwd@0.5"]`: false,
	} {
		order := `{"kind":"run","task":"Do it.","settings":{` + setting + `}}`
		status, text := h.ask(write, "POST", "/api/preview", order)
		if (status != 403) != may {
			t.Errorf("a token that may write sets %s: %d %s, want that it may: %t", setting, status, text, may)
		}
		if status, text := h.ask(answer, "POST", "/api/preview", order); status == 403 {
			t.Errorf("a token that may answer sets %s: %d %s", setting, status, text)
		}
	}
	h.want(403, write, "POST", "/api/runs/"+run+"/resume", `{"settings":{"approve":"none"}}`)
	h.want(200, write, "POST", "/api/runs/"+run+"/cancel", "")
}

func TestAnothersRun(t *testing.T) {
	h := newHouse(t, t.TempDir(), nil)
	mine := h.token(access.Token{Name: "mine", Scope: access.Answer})
	theirs := h.token(access.Token{Name: "theirs", Scope: access.Answer})
	board := h.token(access.Token{Name: "board", Scope: access.Read, AllRuns: true})
	run := h.begin(theirs, fast)
	h.until(theirs, run, "completed")
	about := 0
	for _, r := range h.requests(mine, run) {
		if !strings.Contains(r[1], run) {
			continue
		}
		about++
		none := strings.Replace(r[1], run, "none", 1)
		got, want := h.want(404, mine, r[0], r[1], ""), h.want(404, mine, r[0], none, "")
		if got = strings.ReplaceAll(got, run, "none"); got != want {
			t.Errorf("%s %s of another's run = %s, of none = %s, want no difference", r[0], r[1], got, want)
		}
	}
	if about < 15 {
		t.Errorf("%d requests are about a run", about)
	}
	h.want(403, mine, "GET", "/metrics", "")
	h.want(200, board, "GET", "/metrics", "")
	for secret, want := range map[string]float64{mine: 0, theirs: 1, board: 1} {
		if got := field(t, h.want(200, secret, "GET", "/api/runs", ""), "total"); got != want {
			t.Errorf("GET /api/runs: %v runs, want %v", got, want)
		}
	}
	h.want(200, board, "GET", "/api/runs/"+run, "")

	// What is said whenever a run changes is said about one's own.
	heard := h.listen(mine, "/api/events")
	h.until(theirs, h.begin(theirs, fast), "completed")
	own := h.begin(mine, fast)
	h.until(mine, own, "completed")
	for line := range heard {
		if field(t, line, "owner") != "mine" {
			t.Errorf("GET /api/events of mine says %s", line)
		}
		if field(t, line, "run") == own {
			break
		}
	}

	// One who comes later under the same name has the same runs; what is left of nobody is for
	// those who see all.
	if err := h.store.Revoke("theirs"); err != nil {
		t.Fatal(err)
	}
	h.want(401, theirs, "GET", "/api/runs/"+run, "")
	h.want(200, h.token(access.Token{Name: "theirs", Scope: access.Write}), "GET", "/api/runs/"+run, "")
	h.want(404, mine, "GET", "/api/runs/"+run, "")
}

// listen follows a stream of events, and gives their data.
func (h *house) listen(secret, path string) <-chan string {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "GET", h.url+path, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	if res.StatusCode != 200 {
		h.t.Fatalf("GET %s = %s", path, res.Status)
	}
	lines := make(chan string, 1000)
	h.t.Cleanup(func() {
		cancel()
		for range lines { // until it has ended
		}
	})
	go func() {
		defer close(lines)
		defer res.Body.Close()
		for in := bufio.NewScanner(res.Body); in.Scan(); {
			if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
				lines <- data
			}
		}
	}()
	return lines
}

// raw sends a request as it is written and returns the status.
func (h *house) raw(secret, path string) int {
	h.t.Helper()
	u, err := url.Parse(h.url)
	if err != nil {
		h.t.Fatal(err)
	}
	c, err := net.Dial("tcp", u.Host)
	if err != nil {
		h.t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", path, u.Host, secret); err != nil {
		h.t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	if bytes.Contains(body, []byte("secret of another folder")) {
		h.t.Errorf("GET %s = %s", path, body)
	}
	return res.StatusCode
}

func TestPathsThatLeadElsewhere(t *testing.T) {
	dir := t.TempDir()
	h := newHouse(t, dir, nil)
	me := h.token(access.Token{Name: "me", Scope: access.Answer, AllRuns: true})
	run := h.begin(me, fast)
	h.until(me, run, "completed")
	// A run and a file that a way out would lead to.
	if err := os.CopyFS(filepath.Join(dir, "other", "outside"), os.DirFS(filepath.Join(h.logs, run))); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(h.logs, ".hidden"), os.DirFS(filepath.Join(h.logs, run))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "result.json"), []byte(`{"task":"secret of another folder"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := h.raw(me, "/api/runs/"+run+"/result"); got != 200 {
		t.Fatalf("GET a run = %d, want 200", got)
	}
	names := []string{
		"..%2fother%2foutside", "..%2Fother%2Foutside", "%2e%2e%2fother%2foutside", "..%5cother%5coutside", "%2e%2e", "%2e", "..%2f", "%2f", "%5c",
		"%252e%252e%252fother%252foutside", "..%252fother%252foutside", "..%c0%afother", "..%00", run + "%00", run + "%2f", run + "%2f..%2f" + run, "." + run, ".hidden", "%2ehidden",
		url.PathEscape(filepath.Join(dir, "other", "outside")), "file:%2f%2f%2fetc", "con", "nul", "C:%5c", run + "%20", run + ".", "~root", strings.Repeat("a", 5000), run[:8],
	}
	for _, name := range names {
		for _, rest := range []string{"", "/result", "/events", "/values/" + strings.Repeat("a", 64), "/steps/0"} {
			if got := h.raw(me, "/api/runs/"+name+rest); got != 404 {
				t.Errorf("GET /api/runs/%s%s = %d, want 404", name, rest, got)
			}
		}
	}
	for _, hash := range []string{"..%2f..%2fevents.jsonl", "..", "%2e%2e%2fresult.json", strings.Repeat("A", 64), strings.Repeat("a", 63) + "%2f", "events.jsonl"} {
		if got := h.raw(me, "/api/runs/"+run+"/values/"+hash); got != 404 && got != 301 && got != 307 {
			t.Errorf("GET /api/runs/RUN/values/%s = %d, want 404", hash, got)
		}
	}
	// What is not encoded is made plain first, and leads back to the server.
	for _, path := range []string{"/api/runs/../../result.json", "/api/runs/" + run + "/../../../result.json", "/../result.json", "//api/runs/../runs"} {
		if got := h.raw(me, path); got != 404 && got != 301 && got != 307 {
			t.Errorf("GET %s = %d, want 404 or another address", path, got)
		}
	}
}

// endless is a body without end.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read.Add(int64(len(p)))
	return len(p), nil
}

func TestHugeBodies(t *testing.T) {
	h := newHouse(t, t.TempDir(), nil)
	me := h.token(access.Token{Name: "me", Scope: access.Answer, AllRuns: true})
	run := h.begin(me, slow)
	for _, path := range []string{"/api/runs", "/api/runs/" + run + "/cancel"} {
		for _, length := range []int64{-1, 1 << 40} {
			body := &endless{}
			req, err := http.NewRequest("POST", h.url+path, io.NopCloser(body))
			if err != nil {
				t.Fatal(err)
			}
			req.ContentLength = length
			req.Header.Set("Authorization", "Bearer "+me)
			res, err := (&http.Client{Transport: &http.Transport{}}).Do(req)
			if err != nil { // it was cut off while it still wrote
				if body.read.Load() > 128<<20 {
					t.Errorf("POST %s took %d bytes", path, body.read.Load())
				}
				continue
			}
			if res.Body.Close(); res.StatusCode != 413 || body.read.Load() > 128<<20 {
				t.Errorf("POST %s with %d bytes = %d after %d, want 413", path, length, res.StatusCode, body.read.Load())
			}
		}
	}
	req, err := http.NewRequest("GET", h.url+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Long", strings.Repeat("x", 200<<10))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != 431 {
		t.Errorf("GET with headers of 200 KiB = %d, want 431", res.StatusCode)
	}
	h.want(200, me, "POST", "/api/runs/"+run+"/cancel", "")
}

func (h *house) left(name string) float64 {
	h.t.Helper()
	list, err := h.store.List()
	if err != nil {
		h.t.Fatal(err)
	}
	for _, t := range list {
		if t.Name == name {
			return t.Budget.LeftUSD()
		}
	}
	h.t.Fatalf("there is no token %s", name)
	return 0
}

func TestBudgets(t *testing.T) {
	h := newHouse(t, t.TempDir(), nil)
	ci := h.token(access.Token{Name: "ci", Scope: access.Write, Budget: &access.Budget{MaxUSD: 1}})
	const order = `{"kind":"hanoi","params":{"disks":3}}`

	// What a run may spend is held while it goes on, and then what it has cost.
	run := h.begin(ci, slow+`,"max_usd":0.4`)
	if got := h.left("ci"); got != 0.6 {
		t.Errorf("with 0.4 of 1 reserved %v are left, want 0.6", got)
	}
	second := h.begin(ci, slow+`,"max_usd":5`) // more than is left
	if got := field(t, h.want(200, ci, "GET", "/api/runs/"+second, ""), "config.max_usd"); got != 0.6 {
		t.Errorf("a run that wants 5 dollars of 0.6 may spend %v", got)
	}
	if text := h.want(403, ci, "POST", "/api/runs", order); !strings.Contains(text, "nothing is left") || !strings.Contains(text, "reserved by 2 runs") {
		t.Errorf("POST /api/runs without money = %s, want why", text)
	}
	if text := h.want(200, ci, "GET", "/api/me", ""); field(t, text, "budget_usd") != 1.0 || field(t, text, "left_usd") != 0.0 {
		t.Errorf("GET /api/me = %s, want a budget of 1 with nothing left", text)
	}
	for _, one := range []string{run, second} {
		h.want(200, ci, "POST", "/api/runs/"+one+"/cancel", "")
	}
	h.settled("ci")
	before := h.left("ci")
	done := h.begin(ci, fast)
	h.until(ci, done, "completed")
	h.settled("ci")
	cost, _ := field(t, h.want(200, ci, "GET", "/api/runs/"+done+"/result", ""), "total_cost_usd").(float64)
	if got := h.left("ci"); cost <= 0 || got < before-cost-1e-9 || got > before-cost+1e-9 {
		t.Errorf("after a run for %v of %v dollars %v are left", cost, before, got)
	}

	// Those who have little are stopped by it, and a resume is no way round.
	poor := h.token(access.Token{Name: "poor", Scope: access.Write, Budget: &access.Budget{MaxUSD: cost / 2}})
	run = h.begin(poor, fast)
	h.until(poor, run, "stopped")
	h.settled("poor")
	if got := h.left("poor"); got < 0 || got > cost/2 {
		t.Errorf("a run that was stopped left %v", got)
	}
	if status, text := h.ask(poor, "POST", "/api/runs/"+run+"/resume", `{"settings":{"max_usd":5}}`); status == 200 {
		h.until(poor, run, "stopped")
		h.settled("poor")
	} else if status != 403 {
		t.Errorf("resume without money = %d %s", status, text)
	}
	list, err := h.store.List()
	if err != nil {
		t.Fatal(err)
	}
	if b := list[1].Budget; b.SpentUSD > b.MaxUSD {
		t.Errorf("%v of %v dollars were spent", b.SpentUSD, b.MaxUSD)
	}

	// A person has no budget, and an order that cannot be started takes nothing.
	left := h.left("ci")
	h.want(400, ci, "POST", "/api/runs", `{"kind":"hanoi","params":{"disks":99}}`)
	if got := h.left("ci"); got != left {
		t.Errorf("an order that is wrong took %v", left-got)
	}
}

// settled waits until nothing is reserved.
func (h *house) settled(name string) {
	h.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		list, err := h.store.List()
		if err != nil {
			h.t.Fatal(err)
		}
		open := 0
		for _, t := range list {
			if t.Name == name {
				open = len(t.Budget.Open)
			}
		}
		if open == 0 {
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("%s has %d reservations still", name, open)
		}
	}
}

// TestBudgetAfterAKill: what a server has left open is settled by the next.
func TestBudgetAfterAKill(t *testing.T) {
	dir := t.TempDir()
	h := newHouse(t, dir, nil)
	ci := h.token(access.Token{Name: "ci", Scope: access.Write, Budget: &access.Budget{MaxUSD: 10}})
	run := h.begin(ci, fast)
	h.until(ci, run, "completed")
	h.settled("ci")
	cost := 10 - h.left("ci")
	h.stop()

	open := func(place, run string, usd float64) {
		t.Helper()
		r, err := h.store.Reserve("ci", place, usd, 0)
		if err == nil && run != "" {
			err = h.store.Bind("ci", r.ID, run)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	open(h.logs, run, 1)                          // it had ended
	open(h.logs, "", 2)                           // it may have begun
	open(h.logs, "gone", 3)                       // nobody knows
	open(filepath.Join(dir, "elsewhere"), "x", 1) // of another server
	h = newHouse(t, dir, nil)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		list, err := h.store.List()
		if err != nil {
			t.Fatal(err)
		}
		b := list[0].Budget
		if len(b.Open) == 1 {
			if want := 2*cost + 2 + 3; b.SpentUSD < want-1e-9 || b.SpentUSD > want+1e-9 || b.Open[0].Run != "x" {
				t.Errorf("after a restart the budget is %+v, want %v spent", b, want)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the budget is %+v, want what is open settled", b)
		}
	}
}

func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, cert, key)
	h := newHouse(t, dir, func(f *flags) { f.tlsCert, f.tlsKey = cert, key })
	if !strings.HasPrefix(h.link, "https://127.0.0.1:") {
		t.Errorf("the link is %s, want one with https", h.link)
	}
	serial := func() string {
		t.Helper()
		u, err := url.Parse(h.url)
		if err != nil {
			t.Fatal(err)
		}
		c, err := tls.Dial("tcp", u.Host, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	first := serial()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}
	res, err := client.Get(h.link)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 200 || len(res.Cookies()) != 1 || !res.Cookies()[0].Secure || res.ProtoMajor != 2 {
		t.Errorf("GET of the link = %s %s with %v, want a cookie for TLS alone", res.Proto, res.Status, res.Cookies())
	}

	// A certificate that is renewed is taken up; one that is broken leaves the last.
	writePair(t, cert, key)
	second := serial()
	if second == first {
		t.Error("a new certificate is not taken up")
	}
	if err := os.WriteFile(cert, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := serial(); got != second {
		t.Errorf("with a broken file the certificate is %s, want %s", got, second)
	}
	client.CloseIdleConnections()
}

// TestTokensAreProtected: agents cannot write what says who may.
func TestTokensAreProtected(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	a := App{Err: io.Discard, LogDir: func() string { return "runs" }, Logger: slog.New(slog.DiscardHandler)}
	g, err := a.guard(&flags{tlsCert: "c.pem", tlsKey: "k.pem"}, entry{store: access.Tokens("t.json")}, "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	given := func() *maker.Options { return &maker.Options{Protected: []string{"maker.yaml"}} }
	o := g.options(server.Options{
		Settings: func(config.Kinds, map[string][]string) (*maker.Options, error) { return given(), nil },
		Resuming: func(map[string][]string) (*maker.Options, func(*maker.Config), error) { return given(), nil, nil },
	})
	started, err := o.Settings(config.Run, nil)
	if err != nil {
		t.Fatal(err)
	}
	resumed, _, err := o.Resuming(nil)
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"maker.yaml", filepath.Join(here, "t.json"), filepath.Join(here, "c.pem"), filepath.Join(here, "k.pem")}
	for _, got := range []*maker.Options{started, resumed} {
		if diff := cmp.Diff(want, got.Protected); diff != "" {
			t.Errorf("what is protected: -want +got\n%s", diff)
		}
	}
}

func TestEnter(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	var said strings.Builder
	a := App{Err: &said, Usage: func(err error) error { return err }}
	open := filepath.Join(dir, "open.json")
	if err := os.WriteFile(open, []byte(`{"version":1,"tokens":[]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(dir, "old.json")
	past := time.Now().Add(-time.Hour)
	if _, err := access.Tokens(old).New(access.Token{Name: "old", Scope: access.Write, Expires: &past}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		f           flags
		field, want string
	}{
		{flags{listen: "0.0.0.0:0"}, "listen", "make one first: maker token new"},
		{flags{listen: ":0"}, "listen", "make one first"},
		{flags{listen: "192.0.2.1:0", tokenFile: old}, "listen", "make one first"}, // of those that are good for something
		{flags{listen: "7433"}, "listen", "host:port"},
		{flags{listen: "127.0.0.1:0", tokenFile: open}, "token_file", "chmod 600"},
		{flags{listen: "127.0.0.1:0", tlsCert: "a"}, "tls_key", "needs its key"},
		{flags{listen: "127.0.0.1:0", tlsKey: "a"}, "tls_cert", "needs its certificate"},
		{flags{listen: "127.0.0.1:0", tlsCert: "a", tlsKey: "b"}, "tls_cert", "no such file"},
	} {
		_, err := a.enter(&test.f)
		c, ok := errors.AsType[*maker.ConfigError](err)
		if !ok || c.Field != test.field || !strings.Contains(err.Error(), test.want) {
			t.Errorf("enter(%+v) = %v, want %s: %q", test.f, err, test.field, test.want)
		}
	}
	if said.Len() > 0 {
		t.Errorf("enter() says %q", said.String())
	}
	good := filepath.Join(dir, "good.json")
	if _, err := access.Tokens(good).New(access.Token{Name: "ci", Scope: access.Write}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.enter(&flags{listen: "0.0.0.0:0", tokenFile: good}); err != nil || !strings.Contains(said.String(), "WARNING: 0.0.0.0:0 can be reached from elsewhere, and nothing is encrypted") {
		t.Errorf("enter(another address) = %v, and says %q, want a warning", err, said.String())
	}
}
