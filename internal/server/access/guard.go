package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/maker-mdap/maker/model/served"
)

// Policy is the content security policy of everything that is served: nothing runs, and nothing
// is loaded, that is not a file of this server.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// Options are how a server is reached.
type Options struct {
	Tokens  *Store       // nil for none
	Address string       // that is listened on, with its port
	Hosts   []string     // other names that it is known by
	TLS     bool         // it speaks TLS itself
	Log     *slog.Logger // nil for none
}

// A Guard stands before everything that a server serves.
type Guard struct {
	o        Options
	hosts    map[string]bool // names, and addresses as they are written
	named    map[string]bool // those of them that a proxy may be known by
	base     string          // the address that links begin with
	cookie   string          // its name
	door     *Door           // where other processes leave links; nil for none
	links    links
	sessions sessions
	attempts *attempts
	now      func() time.Time
}

// New returns a guard.
func New(o Options) (*Guard, error) {
	host, port, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	g := &Guard{o: o, hosts: map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true}, named: map[string]bool{}, attempts: newAttempts(), now: time.Now}
	shown := host
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		shown = "localhost"
	} else {
		g.hosts[plainHost(host)] = true
	}
	for i, host := range o.Hosts {
		name := plainHost(host)
		if name == "" || strings.ContainsAny(host, "/@ *") {
			return nil, fmt.Errorf("%q is no name of a host, want one such as maker.example.org", host)
		}
		if i == 0 {
			shown = name
		}
		g.hosts[name], g.named[name] = true, true
	}
	g.base, g.cookie = "http://"+net.JoinHostPort(shown, port), "maker-"+port
	if o.TLS {
		// Browsers take a cookie of such a name from nobody but this host, over TLS.
		g.base, g.cookie = "https://"+net.JoinHostPort(shown, port), "__Host-"+g.cookie
	}
	return g, nil
}

// URL is the address of the server, for a person.
func (g *Guard) URL() string { return g.base }

// Announce lets other processes of the user find the server, in a folder that nobody else can look
// into, and leave links for it until it is closed. It comes before the first request.
func (g *Guard) Announce(dir string) error {
	var err error
	g.door, err = OpenDoor(dir, g.base)
	return err
}

// Close ends what Announce began.
func (g *Guard) Close() error {
	if g.door == nil {
		return nil
	}
	return g.door.Close()
}

// NewLink returns the address of a new link, which logs a person in once.
func (g *Guard) NewLink() string {
	secret := newSecret()
	g.links.add(secret, g.now())
	return linkTo(g.base, secret)
}

// Wrap lets those through to next who may come in. Who they are is in the context of their
// requests.
func (g *Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header(), r)
		limitAnswer(w)
		switch {
		case r.URL.Path == "/healthz" && isRead(r): // nobody learns anything there
			next.ServeHTTP(w, r)
			return
		case !g.knows(r):
			refuse(w, r, http.StatusMisdirectedRequest, "Unknown host",
				fmt.Sprintf("this server is not known as %q; if it is yours, start it with --host %[1]s", r.Host))
			return
		case r.URL.Path == loginPath:
			g.login(w, r)
			return
		}
		c, secret, ok := g.authenticate(w, r)
		if !ok {
			return
		}
		if reason := g.foreign(r, c); reason != "" {
			refuse(w, r, http.StatusForbidden, "Request from elsewhere", reason)
			return
		}
		if c.Person && r.URL.Path == "/logout" && r.Method == http.MethodPost {
			g.sessions.end(secret)
			http.SetCookie(w, g.newCookie("", -1))
			w.WriteHeader(http.StatusNoContent)
			return
		}
		ctx, stop := g.whileKnown(With(r.Context(), c), r, secret)
		defer stop()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// lookAgain is how long somebody who is being answered may go on after their token was revoked
// or their session ended.
const lookAgain = 5 * time.Second

// whileKnown ends a context when its caller is not known any more: a stream may go on for days.
func (g *Guard) whileKnown(ctx context.Context, r *http.Request, session string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	header := authorization(r)
	var timer *time.Timer
	ready := make(chan struct{})
	timer = time.AfterFunc(lookAgain, func() {
		<-ready
		if ctx.Err() != nil {
			return
		}
		ok := header == "" && g.sessions.use(session, g.now())
		if header != "" {
			_, err := g.withToken(header)
			ok = err == nil
		}
		if !ok {
			cancel()
			return
		}
		timer.Reset(lookAgain)
	})
	close(ready)
	return ctx, func() {
		timer.Stop()
		cancel()
	}
}

// setHeaders sets what holds for every answer.
func setHeaders(h http.Header, r *http.Request) {
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if isAPI(r) {
		h.Set("Cache-Control", "no-store")
	}
}

func isAPI(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/metrics"
}

func isRead(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}

func isUpgrade(r *http.Request) bool { return r.Header.Get("Upgrade") != "" }

// plainHost is the name of a host without its port, as it is compared; empty if it is none.
func plainHost(host string) string {
	if name, port, err := net.SplitHostPort(host); err == nil {
		if strings.Trim(port, "0123456789") != "" {
			return ""
		}
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// knows reports whether a request asks for this server. A page of another site can make its own
// name lead here, but not change what the browser then asks for.
func (g *Guard) knows(r *http.Request) bool {
	host := plainHost(r.Host)
	if g.hosts[host] {
		return true
	}
	ip, err := netip.ParseAddr(host)
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return err == nil && ok && ip.Unmap() == local.AddrPort().Addr().Unmap()
}

// foreign says why a request of a browser was not made by the page of this server. Tokens are
// sent by whoever has them, cookies by browsers on their own.
func (g *Guard) foreign(r *http.Request, c Caller) string {
	if !c.Person {
		return ""
	}
	changes := !isRead(r) || isUpgrade(r)
	site := r.Header.Get("Sec-Fetch-Site")
	if (changes || isAPI(r)) && site != "" && site != "same-origin" && site != "none" {
		return "a page of another site made this request"
	}
	if !changes {
		return ""
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	if err != nil || origin.Host == "" {
		return "requests that change something need the header Origin, or a token"
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	// A proxy before the server may speak TLS in its place.
	if !strings.EqualFold(origin.Host, r.Host) || origin.Scheme != scheme && !(g.named[plainHost(r.Host)] && origin.Scheme == "https") {
		return "a page of another site made this request"
	}
	return ""
}

// authenticate finds out who asks, or answers that nobody knows them.
func (g *Guard) authenticate(w http.ResponseWriter, r *http.Request) (c Caller, secret string, ok bool) {
	if header := authorization(r); header != "" {
		c, err := g.withToken(header)
		switch {
		case err == nil:
			return c, "", true
		case errors.Is(err, errUnknown):
			g.fail(w, r, "this token is wrong, expired or revoked")
		default:
			g.o.Log.Error(fmt.Sprintf("tokens cannot be read: %v", err))
			refuse(w, r, http.StatusServiceUnavailable, "Tokens cannot be read", "the file of tokens cannot be read; the server's log says why")
		}
		return Caller{}, "", false
	}
	cookie, err := r.Cookie(g.cookie)
	if err != nil {
		g.challenge(w, r, "a token, or a session that a link begins, is needed")
		return Caller{}, "", false
	}
	if !g.sessions.use(cookie.Value, g.now()) {
		g.fail(w, r, "this session is over")
		return Caller{}, "", false
	}
	return person(), cookie.Value, true
}

// authorization is the token that a request brings. Clients of the gateway that speak as
// Anthropic's do have a header of their own for it.
func authorization(r *http.Request) string {
	if key := r.Header.Get("X-Api-Key"); key != "" && r.Header.Get("Authorization") == "" {
		return "Bearer " + key
	}
	return r.Header.Get("Authorization")
}

var errUnknown = errors.New("nobody has this secret")

func (g *Guard) withToken(header string) (Caller, error) {
	scheme, secret, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") || g.o.Tokens == nil {
		return Caller{}, errUnknown
	}
	t, ok, err := g.o.Tokens.Find(strings.TrimSpace(secret))
	if err != nil {
		return Caller{}, err
	}
	if !ok {
		return Caller{}, errUnknown
	}
	return t.caller(), nil
}

// login uses up a link. Browsers that only look ahead do not.
func (g *Guard) login(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		refuse(w, r, http.StatusMethodNotAllowed, "Method not allowed", "a link is opened with GET")
		return
	}
	if strings.Contains(r.Header.Get("Sec-Purpose"), "prefetch") || strings.Contains(r.Header.Get("Purpose"), "prefetch") {
		refuse(w, r, http.StatusServiceUnavailable, "Not yet", "a link is used up by whoever opens it, not by looking ahead")
		return
	}
	secret, now := r.URL.Query().Get("link"), g.now()
	if secret == "" {
		g.challenge(w, r, "the link is not whole")
		return
	}
	if !g.links.use(secret, now) && (g.door == nil || !g.door.use(secret, now)) {
		g.fail(w, r, "this link has been used, or is older than five minutes")
		return
	}
	http.SetCookie(w, g.newCookie(g.sessions.begin(now), int(sessionLife.Seconds())))
	// A strict cookie does not go with a redirect from elsewhere, but with what this page opens.
	writePage(w, http.StatusOK, "Welcome", `<meta http-equiv="refresh" content="0; url=/">`, `<p>You are logged in. <a href="/">Go to the page.</a></p>`)
}

func (g *Guard) newCookie(value string, age int) *http.Cookie {
	return &http.Cookie{Name: g.cookie, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: g.o.TLS, SameSite: http.SameSiteStrictMode}
}

// fail answers an attempt with a secret that is wrong, more and more slowly.
func (g *Guard) fail(w http.ResponseWriter, r *http.Request, reason string) {
	n, waited := g.attempts.wait(r.Context(), r.RemoteAddr, g.now())
	if n&(n-1) == 0 { // a flood of them is not a flood of lines
		g.o.Log.Warn(fmt.Sprintf("%s was turned away (attempt %d): %s", r.RemoteAddr, n, reason))
	}
	if !waited {
		w.Header().Set("Retry-After", "10")
		refuse(w, r, http.StatusTooManyRequests, "Too many attempts", reason+"; too many attempts with wrong secrets are waiting")
		return
	}
	g.challenge(w, r, reason)
}

// challenge asks for a secret: a program for a token, a person for a link.
func (g *Guard) challenge(w http.ResponseWriter, r *http.Request, reason string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("WWW-Authenticate", `Bearer realm="maker"`)
	if isAPI(r) || !isRead(r) || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		refuse(w, r, http.StatusUnauthorized, "Who are you?", reason+"; send a token as `Authorization: Bearer ...` (maker token new), or open a link (maker token link)")
		return
	}
	writePage(w, http.StatusUnauthorized, "Who are you?", "", `<p>`+reason+`.</p>
<p>Run this on the machine of the server, as the user who started it, and open what it prints:</p>
<pre>maker token link</pre>`)
}

// refuse answers with a problem. Clients of models are told in their own format.
func refuse(w http.ResponseWriter, r *http.Request, status int, title, detail string) {
	w.Header().Set("Cache-Control", "no-store")
	if class, ok := modelErrors[status]; ok && strings.HasPrefix(r.URL.Path, "/v1/") {
		served.Refuse(w, served.For(r), &served.Failure{Class: class, Message: detail})
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	problem := map[string]any{"title": title, "status": status, "detail": detail}
	_ = json.NewEncoder(w).Encode(problem) // they may be gone
}

// modelErrors are what the formats of models have a word for.
var modelErrors = map[int]served.Class{http.StatusUnauthorized: served.NoKey, http.StatusForbidden: served.Forbidden}

// writePage answers with a page for a person. All of it is text of this package.
func writePage(w http.ResponseWriter, status int, title, head, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s - maker</title>\n%s\n<h1>%[1]s</h1>\n%[3]s\n</html>\n", title, head, body)
}
