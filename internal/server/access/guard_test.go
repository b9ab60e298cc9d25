package access

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A house is a guarded server on a port of this machine. What it serves is who asks.
type house struct {
	*httptest.Server
	guard *Guard
	store *Store
	now   time.Time
}

func newHouse(t *testing.T, tls bool, change func(*Options)) *house {
	t.Helper()
	h := &house{store: newStore(t), now: time.Now()}
	server := httptest.NewUnstartedServer(nil)
	o := Options{Tokens: h.store, Address: server.Listener.Addr().String(), TLS: tls}
	if change != nil {
		change(&o)
	}
	var err error
	if h.guard, err = New(o); err != nil {
		t.Fatalf("New() = %v", err)
	}
	h.guard.now = func() time.Time { return h.now }
	h.guard.attempts.sleep = func(context.Context, time.Duration) {}
	server.Config.Handler = h.guard.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, From(r.Context()).Name)
	}))
	h.Server = server
	if tls {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return h
}

// ask makes a request with headers given as "Name: value".
func (h *house) ask(t *testing.T, method, target string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, h.URL+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Add(name, value)
	}
	client := h.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// want checks the status of an answer, and that what is refused says why in the one form.
func (h *house) want(t *testing.T, status int, method, target string, headers ...string) string {
	t.Helper()
	res, body := h.ask(t, method, target, headers...)
	if res.StatusCode != status {
		t.Errorf("%s %s %q = %d %s, want %d", method, target, headers, res.StatusCode, body, status)
	}
	if kind := res.Header.Get("Content-Type"); status >= 400 && method != http.MethodHead && !strings.HasPrefix(kind, "text/html") {
		var problem struct {
			Title, Detail string
			Status        int
		}
		if err := json.Unmarshal([]byte(body), &problem); err != nil || kind != "application/problem+json" || problem.Status != status || problem.Title == "" || problem.Detail == "" {
			t.Errorf("%s %s = %s %s, want a problem", method, target, kind, body)
		}
	}
	return body
}

// login opens a link and returns the cookie as a header.
func (h *house) login(t *testing.T) string {
	t.Helper()
	res, body := h.ask(t, "GET", strings.TrimPrefix(h.guard.NewLink(), h.guard.URL()))
	if res.StatusCode != http.StatusOK || len(res.Cookies()) != 1 {
		t.Fatalf("a link = %d %s with %v, want a cookie", res.StatusCode, body, res.Cookies())
	}
	c := res.Cookies()[0]
	return "Cookie: " + c.Name + "=" + c.Value
}

func TestNoToken(t *testing.T) {
	h := newHouse(t, false, nil)
	secret := mustNew(t, h.store, Token{Name: "ci", Scope: Read})
	h.want(t, 200, "GET", "/healthz")
	h.want(t, 401, "POST", "/healthz")
	h.want(t, 401, "GET", "/healthz/")
	h.want(t, 401, "GET", "//healthz")
	for _, target := range []string{"/", "/api/runs", "/api/openapi.json", "/metrics", "/readyz", "/page.js", "/api/../healthz"} {
		h.want(t, 401, "GET", target)
		h.want(t, 401, "GET", target, "Authorization: Bearer wrong")
		h.want(t, 401, "GET", target, "Authorization: Basic "+secret)
		h.want(t, 401, "GET", target, "Cookie: "+h.guard.cookie+"=wrong")
		h.want(t, 401, "GET", target, "Cookie: "+h.guard.cookie+"="+secret)
		h.want(t, 401, "GET", target+"?token="+secret+"&link="+secret)
		if got := h.want(t, 200, "GET", target, "Authorization: Bearer "+secret); got != "ci" {
			t.Errorf("GET %s with a token is asked by %q, want ci", target, got)
		}
	}
	// A wrong token is not made good by a session.
	h.want(t, 401, "GET", "/", "Authorization: Bearer wrong", h.login(t))
	if page := h.want(t, 401, "GET", "/", "Accept: text/html,*/*"); !strings.Contains(page, "maker token link") {
		t.Errorf("GET / of a browser = %s, want how to get in", page)
	}
	h.want(t, 401, "GET", "/api/runs", "Accept: text/html,*/*")
}

func TestRevokedToken(t *testing.T) {
	h := newHouse(t, false, nil)
	secret := mustNew(t, h.store, Token{Name: "ci", Scope: Read})
	h.want(t, 200, "GET", "/api/me", "Authorization: Bearer "+secret)
	if err := Tokens(h.store.Path()).Revoke("ci"); err != nil {
		t.Fatal(err)
	}
	h.want(t, 401, "GET", "/api/me", "Authorization: Bearer "+secret)
}

// TestRevokedWhileFollowing: a stream ends when its token is revoked or its session is over.
func TestRevokedWhileFollowing(t *testing.T) {
	store := newStore(t)
	secret := mustNew(t, store, Token{Name: "ci", Scope: Read})
	synctest.Test(t, func(t *testing.T) {
		guard, err := New(Options{Tokens: store, Address: "127.0.0.1:7433"})
		if err != nil {
			t.Fatal(err)
		}
		session := guard.sessions.begin(time.Now())
		for name, test := range map[string]struct {
			header, value string
			end           func() error
		}{
			"token":   {"Authorization", "Bearer " + secret, func() error { return Tokens(store.Path()).Revoke("ci") }},
			"session": {"Cookie", guard.cookie + "=" + session, func() error { guard.sessions.end(session); return nil }},
		} {
			ended := make(chan struct{})
			h := guard.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
			r := httptest.NewRequest("GET", "http://localhost:7433/api/events", nil)
			r.Header.Set(test.header, test.value)
			go func() {
				defer close(ended)
				h.ServeHTTP(httptest.NewRecorder(), r)
			}()
			time.Sleep(time.Hour) // of the test's own time
			select {
			case <-ended:
				t.Errorf("%s: the stream ended while it was good", name)
			default:
			}
			if err := test.end(); err != nil {
				t.Fatal(err)
			}
			gone := time.Now()
			<-ended
			if took := time.Since(gone); took > lookAgain+time.Second {
				t.Errorf("%s: the stream went on for %v, want about %v", name, took, lookAgain)
			}
		}
	})
}

// TestTokensThatCannotBeRead let nobody in, and people still come by a link.
func TestTokensThatCannotBeRead(t *testing.T) {
	h := newHouse(t, false, nil)
	secret := mustNew(t, h.store, Token{Name: "ci", Scope: Read})
	cookie := h.login(t)
	if err := os.WriteFile(h.store.Path(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.want(t, 503, "GET", "/api/me", "Authorization: Bearer "+secret)
	h.want(t, 200, "GET", "/api/me", cookie)
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(h.store.Path(), 0o644); err != nil {
		t.Fatal(err)
	}
	h.want(t, 503, "GET", "/api/me", "Authorization: Bearer "+secret)
}

func TestReplayedLink(t *testing.T) {
	h := newHouse(t, false, nil)
	path := func() string { return strings.TrimPrefix(h.guard.NewLink(), h.guard.URL()) }
	link := path()
	h.want(t, 405, "HEAD", link)
	h.want(t, 405, "POST", link)
	h.want(t, 503, "GET", link, "Sec-Purpose: prefetch;prerender")
	if page := h.want(t, 200, "GET", link); !strings.Contains(page, "url=/") {
		t.Errorf("GET of a link = %s, want a page that leads on", page)
	}
	if res, _ := h.ask(t, "GET", link); res.StatusCode != 401 || len(res.Cookies()) > 0 {
		t.Errorf("GET of a used link = %d with cookies %v, want 401 and none", res.StatusCode, res.Cookies())
	}
	h.want(t, 401, "GET", "/login")
	h.want(t, 401, "GET", "/login?link=")
	h.want(t, 401, "GET", "/login?link=wrong")

	old, fresh := path(), ""
	h.now = h.now.Add(LinkLife - time.Second)
	fresh = path()
	h.now = h.now.Add(time.Second)
	h.want(t, 401, "GET", old)
	h.want(t, 200, "GET", fresh)
}

func TestLinksOfAnotherProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "serving")
	if list, err := Running(dir); err != nil || len(list) != 0 {
		t.Errorf("Running(no folder) = %v, %v, want none", list, err)
	}
	h := newHouse(t, false, nil)
	if err := h.guard.Announce(dir); err != nil {
		t.Fatalf("Announce() = %v", err)
	}
	other, err := OpenDoor(dir, "http://127.0.0.1:2")
	if err != nil {
		t.Fatalf("OpenDoor() = %v", err)
	}
	list, err := Running(dir)
	if err != nil || len(list) != 2 {
		t.Fatalf("Running() = %+v, %v, want two", list, err)
	}
	link := func(server string) string {
		t.Helper()
		for _, at := range list {
			if at.URL == server {
				link, err := at.NewLink()
				if err != nil {
					t.Fatal(err)
				}
				return strings.TrimPrefix(link, server)
			}
		}
		t.Fatalf("%s is not among %+v", server, list)
		return ""
	}
	mine, theirs := link(h.guard.URL()), link("http://127.0.0.1:2")
	h.want(t, 401, "GET", theirs)
	h.want(t, 200, "GET", mine)
	h.want(t, 401, "GET", mine)
	late := link(h.guard.URL())
	h.now = h.now.Add(LinkLife + time.Second)
	h.want(t, 401, "GET", late)

	// One ends, and the other is killed: nothing of them is left.
	if err := h.guard.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
	if err := other.lock.Close(); err != nil {
		t.Fatal(err)
	}
	if list, err := Running(dir); err != nil || len(list) != 0 {
		t.Errorf("Running(after their end) = %+v, %v, want none", list, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("the folder has %v, %v, want nothing", left, err)
	}
}

func TestRebinding(t *testing.T) {
	h := newHouse(t, false, func(o *Options) { o.Hosts = []string{"Maker.example.org"} })
	cookie := h.login(t)
	secret := mustNew(t, h.store, Token{Name: "ci", Scope: Read})
	for _, host := range []string{"evil.example", "evil.example:7433", "localhost.evil.example", "127.0.0.1.nip.io", "127.0.0.2", "localhost:80@evil.example", "10.0.0.1", "[::2]:80", "x.maker.example.org"} {
		h.want(t, 421, "GET", "/", "Host: "+host, cookie)
		h.want(t, 421, "GET", "/api/runs", "Host: "+host, "Authorization: Bearer "+secret)
		h.want(t, 421, "GET", strings.TrimPrefix(h.guard.NewLink(), h.guard.URL()), "Host: "+host)
		h.want(t, 200, "GET", "/healthz", "Host: "+host)
	}
	for _, host := range []string{"localhost", "LOCALHOST:1", "localhost.", "127.0.0.1:99", "[::1]:5", "maker.example.org", "maker.example.org:443"} {
		h.want(t, 200, "GET", "/", "Host: "+host, cookie)
	}
	for _, name := range []string{"", "*", "http://a", "a/b", "a b"} {
		if _, err := New(Options{Address: "127.0.0.1:1", Hosts: []string{name}}); err == nil {
			t.Errorf("New(host %q) = nil, want an error", name)
		}
	}
}

func TestCrossSite(t *testing.T) {
	h := newHouse(t, false, func(o *Options) { o.Hosts = []string{"maker.example.org"} })
	cookie, own := h.login(t), "Origin: "+h.URL
	u, err := url.Parse(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	h.want(t, 200, "POST", "/api/runs", cookie, own)
	h.want(t, 200, "POST", "/api/runs", cookie, own, "Sec-Fetch-Site: same-origin")
	h.want(t, 200, "GET", "/api/runs/r/events", cookie, own, "Upgrade: websocket", "Connection: Upgrade")
	h.want(t, 200, "GET", "/", cookie, "Sec-Fetch-Site: none")
	h.want(t, 200, "GET", "/", cookie, "Sec-Fetch-Site: same-site") // a link of another page
	for _, headers := range [][]string{
		{},
		{"Origin: null"},
		{"Origin: http://evil.example"},
		{"Origin: https://" + u.Host},
		{"Origin: http://127.0.0.1:1"}, // another server of this machine
		{"Origin: http://" + u.Host + ".evil.example"},
		{"Origin: http://evil.example#" + u.Host},
		{own, "Sec-Fetch-Site: cross-site"},
		{own, "Sec-Fetch-Site: same-site"},
	} {
		with := append([]string{cookie}, headers...)
		for _, method := range []string{"POST", "DELETE", "PUT", "PATCH", "OPTIONS"} {
			h.want(t, 403, method, "/api/runs", with...)
		}
		h.want(t, 403, "GET", "/api/runs/r/events", append(with, "Upgrade: websocket", "Connection: Upgrade")...)
	}
	h.want(t, 403, "GET", "/api/runs", cookie, "Sec-Fetch-Site: cross-site")
	h.want(t, 403, "GET", "/api/runs", cookie, "Sec-Fetch-Site: same-site")

	// A proxy that speaks TLS for a name that the server was told.
	h.want(t, 200, "POST", "/api/runs", cookie, "Host: maker.example.org", "Origin: https://maker.example.org")
	h.want(t, 403, "POST", "/api/runs", cookie, "Host: maker.example.org", own)

	// Nobody's browser sends a token on its own.
	secret := mustNew(t, h.store, Token{Name: "ci", Scope: Write})
	h.want(t, 200, "POST", "/api/runs", "Authorization: Bearer "+secret)
}

func TestCookie(t *testing.T) {
	for _, secure := range []bool{false, true} {
		h := newHouse(t, secure, nil)
		res, _ := h.ask(t, "GET", strings.TrimPrefix(h.guard.NewLink(), h.guard.URL()))
		got := res.Cookies()[0]
		_, port, _ := strings.Cut(h.URL, "127.0.0.1:")
		want := &http.Cookie{Name: "maker-" + port, Path: "/", MaxAge: int(sessionLife.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode}
		if secure {
			want.Name, want.Secure = "__Host-"+want.Name, true
		}
		value := got.Value
		got.Value, got.Raw = "", ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the cookie with TLS %t: -want +got\n%s", secure, diff)
		}
		cookie := "Cookie: " + want.Name + "=" + value
		h.want(t, 200, "GET", "/", cookie)
		h.want(t, 403, "POST", "/logout", cookie)
		h.want(t, 204, "POST", "/logout", cookie, "Origin: "+h.URL)
		h.want(t, 401, "GET", "/", cookie)
	}
}

func TestSessionsEnd(t *testing.T) {
	h := newHouse(t, false, nil)
	used, idle := h.login(t), h.login(t)
	for h.now = h.now.Add(sessionIdle / 2); ; h.now = h.now.Add(sessionIdle / 2) {
		res, _ := h.ask(t, "GET", "/", used)
		if res.StatusCode == 401 {
			break
		}
	}
	h.want(t, 401, "GET", "/", idle)
	var s sessions
	start := time.Now()
	first := s.begin(start)
	for i := range mostSession {
		s.begin(start.Add(time.Duration(i+1) * time.Second))
	}
	if s.use(first, start) || len(s.open) != mostSession {
		t.Errorf("after %d sessions there are %d, want %d without the first", mostSession+1, len(s.open), mostSession)
	}
}

func TestHeaders(t *testing.T) {
	h := newHouse(t, false, nil)
	cookie := h.login(t)
	for _, target := range []string{"/", "/api/runs", "/healthz", "/login"} {
		for _, headers := range [][]string{{cookie}, {}} {
			res, _ := h.ask(t, "GET", target, headers...)
			for name, want := range map[string]string{
				"Content-Security-Policy":      Policy,
				"X-Content-Type-Options":       "nosniff",
				"Referrer-Policy":              "no-referrer",
				"Cross-Origin-Opener-Policy":   "same-origin",
				"Cross-Origin-Resource-Policy": "same-origin",
				"Access-Control-Allow-Origin":  "",
			} {
				if got := res.Header.Get(name); got != want {
					t.Errorf("GET %s: %s: %q, want %q", target, name, got, want)
				}
			}
			if got := res.Header.Get("Cache-Control"); target == "/api/runs" && got != "no-store" {
				t.Errorf("GET %s: Cache-Control: %q, want no-store", target, got)
			}
		}
	}
	if strings.Contains(Policy, "unsafe") {
		t.Errorf("the policy is %q", Policy)
	}
}

func TestScopes(t *testing.T) {
	type may struct{ see, seeOther, all, write, answer, set, trust bool }
	own := func(s Scope) Caller { return Caller{Name: "ci", Scope: s} }
	for name, test := range map[string]struct {
		c    Caller
		want may
	}{
		"nobody": {Caller{}, may{}},
		"read":   {own(Read), may{see: true}},
		"write":  {own(Write), may{see: true, write: true, set: true}},
		"answer": {own(Answer), may{see: true, write: true, set: true, answer: true, trust: true}},
		"all":    {Caller{Name: "ci", Scope: Read, AllRuns: true}, may{see: true, seeOther: true, all: true}},
		"person": {person(), may{true, true, true, true, true, true, true}},
		"other":  {Caller{Name: "ci", Scope: "admin", AllRuns: true}, may{}},
	} {
		c := test.c
		got := may{c.MaySee("ci"), c.MaySee("") || c.MaySee("dev"), c.MaySeeAll(), c.MayWrite(), c.MayAnswer(), c.MaySet("ahead_by"), c.MaySet("approve")}
		if got != test.want {
			t.Errorf("%s may %+v, want %+v", name, got, test.want)
		}
	}
	if c := (Caller{Scope: Read}); c.MaySee("") {
		t.Error("somebody without a name sees runs of nobody")
	}
	if got := From(context.Background()); got != (Caller{}) {
		t.Errorf("From(nothing) = %+v, want nobody", got)
	}
	if diff := cmp.Diff([]Scope{Read, Write}, Write.Scopes()); diff != "" {
		t.Errorf("Scopes(): -want +got\n%s", diff)
	}
}

func TestURL(t *testing.T) {
	for want, o := range map[string]Options{
		"http://127.0.0.1:7433":     {Address: "127.0.0.1:7433"},
		"http://[::1]:7433":         {Address: "[::1]:7433"},
		"http://localhost:7433":     {Address: "0.0.0.0:7433"},
		"https://localhost:7433":    {Address: "[::]:7433", TLS: true},
		"https://m.example.org:443": {Address: ":443", TLS: true, Hosts: []string{"m.example.org"}},
	} {
		g, err := New(o)
		if err != nil || g.URL() != want || !strings.HasPrefix(g.NewLink(), want+"/login?link=maker_") {
			t.Errorf("New(%+v) = %v, %v, want %s", o, g, err, want)
		}
	}
}

// TestMaySet: who may not answer may not take the place of what the server's folder forbids.
func TestMaySet(t *testing.T) {
	for setting, answer := range map[string]bool{"approve": true, "allow": true, "deny": true, "tools": true, "sandbox": true, "base_url": true, "ahead_by": false, "max_usd": false, "model": false} {
		if may := (Caller{Name: "ci", Scope: Write}).MaySet(setting); may == answer {
			t.Errorf("who may write may set %s: %t", setting, may)
		}
		if !(Caller{Name: "ci", Scope: Answer}).MaySet(setting) {
			t.Errorf("who may answer may not set %s", setting)
		}
	}
}
