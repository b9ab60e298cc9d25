package builtin

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/maker-mdap/maker/tool"
)

func TestCheckPublic(t *testing.T) {
	private := []string{
		"127.0.0.1", "127.1.2.3", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "169.254.170.2",
		"100.64.0.1", "100.100.100.200", "192.0.0.192", "198.18.0.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "168.63.129.16", "192.0.2.1",
		"::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1",
		"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2001:0:7f00:1::", "2001:db8::1",
		"fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "100::1",
	}
	for _, s := range private {
		if err := checkPublic(netip.MustParseAddr(s)); !errors.Is(err, errPrivate) {
			t.Errorf("checkPublic(%s) = %v, want it refused", s, err)
		}
	}
	for _, s := range []string{"1.1.1.1", "8.8.8.8", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8"} {
		if err := checkPublic(netip.MustParseAddr(s)); err != nil {
			t.Errorf("checkPublic(%s) = %v, want it allowed", s, err)
		}
	}
	if err := checkPublic(netip.Addr{}); err == nil {
		t.Error("checkPublic(nothing) succeeded, want an error")
	}
}

func TestAddresses(t *testing.T) {
	// A resolver that knows a public address for everything, and for one name a
	// private one too.
	g := guard{resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
		addrs := []netip.Addr{netip.MustParseAddr("::ffff:" + publicAddr)}
		if host == "mixed.example" {
			addrs = append(addrs, netip.MustParseAddr("10.0.0.1"))
		}
		return addrs, nil
	}}
	for _, host := range []string{"mixed.example", "127.0.0.1", "2130706433", "017700000001", "0x7f000001", "0X7F.1", "0177.0.0.1", "127.1", "127.0.0.1.", "example.0x1"} {
		if got, err := g.addresses(t.Context(), host); err == nil {
			t.Errorf("addresses(%s) = %v, want it refused", host, got)
		}
	}
	for _, host := range []string{"public.example", "public.example.", "0x7f.example", "1.example", "xn--p1ai", publicAddr} {
		got, err := g.addresses(t.Context(), host)
		if err != nil || len(got) != 1 || got[0].String() != publicAddr {
			t.Errorf("addresses(%s) = %v, %v, want %s", host, got, err, publicAddr)
		}
	}
}

// An internet is a world of names and addresses in which a public address is
// served by this process.
type internet struct {
	guard
	names  map[string][]string
	public string       // the address of the server that stands for all public ones
	dialed atomic.Value // the last address
}

const publicAddr = "93.184.216.34"

func newInternet(t *testing.T, handler http.Handler) *internet {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	in := &internet{public: server.Listener.Addr().String(), names: map[string][]string{"public.example": {publicAddr}}}
	in.resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
		var addrs []netip.Addr
		for _, s := range in.names[host] {
			addrs = append(addrs, netip.MustParseAddr(s))
		}
		if addrs == nil {
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
		return addrs, nil
	}
	in.connect = func(ctx context.Context, network, address string) (net.Conn, error) {
		in.dialed.Store(address)
		if host, _, _ := net.SplitHostPort(address); host == publicAddr {
			return new(net.Dialer).DialContext(ctx, network, in.public)
		}
		return in.connectChecked(ctx, network, address)
	}
	return in
}

func (in *internet) get(t *testing.T, url string) tool.Result {
	t.Helper()
	made, err := define("WebFetch", tool.Observe, false, in.fetcher().fetch)
	if err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(map[string]string{"url": url})
	if err != nil {
		t.Fatal(err)
	}
	result, err := made.Run(t.Context(), input)
	if err != nil {
		t.Fatalf("WebFetch(%s) = %v, want a result", url, err)
	}
	return result
}

// No way leads to a server on this machine.
func TestSSRF(t *testing.T) {
	var hits atomic.Int64
	victim := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		fmt.Fprint(w, "internal")
	}))
	defer victim.Close()
	_, port, _ := net.SplitHostPort(victim.Listener.Addr().String())
	targets := []string{
		"http://127.0.0.1:" + port, "http://127.1.2.3:" + port, "http://0.0.0.0:" + port, "http://[::1]:" + port, "http://[::]:" + port,
		"http://[::ffff:127.0.0.1]:" + port, "http://[::ffff:7f00:1]:" + port, "http://[::127.0.0.1]:" + port, "http://[64:ff9b::127.0.0.1]:" + port,
		"http://[fe80::1%25lo]:" + port,
		"http://2130706433:" + port, "http://017700000001:" + port, "http://0x7f000001:" + port, "http://0177.0.0.1:" + port, "http://127.1:" + port,
		"http://0x7f.0.0.1:" + port, "http://127.0.0.1.:" + port, "http://\uff11\uff12\uff17.0.0.1:" + port,
		"http://loopback.example:" + port, "http://LOOPBACK.example:" + port, "http://mapped.example:" + port, "http://mixed.example:" + port, "http://metadata.example",
		"http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/latest/", "http://192.168.0.1", "http://10.0.0.1", "http://224.0.0.1",
		"file:///etc/passwd", "gopher://127.0.0.1:" + port, "ftp://public.example/", "//127.0.0.1:" + port, "http:///x", "http://user:pw@public.example/", "javascript:alert(1)",
	}
	in := newInternet(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	}))
	for name, addrs := range map[string][]string{
		"loopback.example": {"127.0.0.1"}, "LOOPBACK.example": {"127.0.0.1"}, "mapped.example": {"::ffff:127.0.0.1"},
		"mixed.example": {publicAddr, "127.0.0.1"}, "metadata.example": {"169.254.169.254"},
	} {
		in.names[name] = addrs
	}
	for _, target := range targets {
		if got := in.get(t, target); !got.IsError {
			t.Errorf("WebFetch(%s) = %q, want it refused", target, got.Text)
		}
		if strings.HasPrefix(target, "//") {
			continue // as a redirect, this is http
		}
		request := httptest.NewRequest("GET", "http://public.example/", nil)
		query := request.URL.Query()
		query.Set("to", target)
		if got := in.get(t, "http://public.example/?"+query.Encode()); !got.IsError || strings.Contains(got.Text, "internal") {
			t.Errorf("WebFetch(redirect to %s) = %q, want it refused", target, got.Text)
		}
	}
	if got := hits.Load(); got != 0 {
		t.Errorf("the server on this machine saw %d requests, want 0", got)
	}
	// The same server, when it is allowed.
	in.allowPrivate = true
	if got := in.get(t, victim.URL); got.Text != "internal" || hits.Load() != 1 {
		t.Errorf("WebFetch(allowed) = %q, want the page", got.Text)
	}
	// The last check stands on its own: here somebody has let the address pass.
	if conn, err := (guard{}).connectChecked(t.Context(), "tcp", victim.Listener.Addr().String()); !errors.Is(err, errPrivate) {
		t.Errorf("connectChecked(loopback) = %v, %v, want it refused", conn, err)
	}
}

// A name that changes its address between the check and the connection changes
// nothing: the connection goes to the address that was checked.
func TestRebinding(t *testing.T) {
	in := newInternet(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "public page") }))
	calls := 0
	in.resolve = func(context.Context, string) ([]netip.Addr, error) {
		calls++
		if calls > 1 {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
		return []netip.Addr{netip.MustParseAddr(publicAddr)}, nil
	}
	if got := in.get(t, "http://rebind.example/"); got.Text != "public page" || in.dialed.Load() != publicAddr+":80" {
		t.Errorf("WebFetch(rebinding) = %q by %v, want the address that was checked", got.Text, in.dialed.Load())
	}
	if got := in.get(t, "http://rebind.example/"); !got.IsError {
		t.Errorf("WebFetch(rebound) = %q, want it refused", got.Text)
	}
}

func TestWebFetch(t *testing.T) {
	pages := map[string]func(w http.ResponseWriter, r *http.Request){
		"/page": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `<!DOCTYPE html><html><head><title>T</title><script>evil()</script></head><body><h1>Title</h1><p>Some <b>bold</b> <a href="/x">link</a></p><ul><li>one</li></ul></body></html>`)
		},
		"/text":  func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "plain <b>text</b>") },
		"/json":  typed("application/json; charset=utf-8", `{"a":1}`),
		"/svg":   typed("image/svg+xml", `<svg/>`),
		"/png":   typed("image/png", "\x89PNG\r\n\x1a\n"),
		"/zero":  typed("text/plain", "a\x00b"),
		"/latin": typed("text/plain", "caf\xe9"),
		"/empty": typed("text/html", ""),
		"/odd":   typed(";;;", "x"),
		"/gone": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "no such page")
		},
		"/moved": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/text", http.StatusMovedPermanently)
		},
		"/loop": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) },
		"/big": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.Copy(w, io.LimitReader(repeated('x'), 20<<20)) // the client leaves early
		},
		"/bomb": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.Copy(z, io.LimitReader(repeated('x'), 100<<20)) // the client leaves early
			_ = z.Close()
		},
		"/deep": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, strings.Repeat("<div>", 20_000), "bottom")
		},
		"/cut": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "short")
		},
		"/headers": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, r.Method, " ", r.Header.Get("Cookie"), r.Header.Get("Authorization"), r.Header.Get("Referer"))
		},
	}
	in := newInternet(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { pages[r.URL.Path](w, r) }))
	tests := []struct {
		path, want string
		fails      bool
	}{
		{"/page", "# Title\n\nSome **bold** [link](http://public.example/x)\n\n- one", false},
		{"/text", "plain <b>text</b>", false},
		{"/json", `{"a":1}`, false},
		{"/svg", `<svg/>`, false},
		{"/png", "it is image/png, not text", true},
		{"/zero", "not text", true},
		{"/latin", "caf\uFFFD", false},
		{"/empty", "[the page is empty]", false},
		{"/odd", "not text", true},
		{"/gone", "404 Not Found\nno such page", true},
		{"/moved", "[redirected to http://public.example/text]\nplain <b>text</b>", false},
		{"/loop", "more than 5 redirects", true},
		{"/cut", "broke off", true},
		{"/headers", "GET ", false},
	}
	for _, test := range tests {
		got := in.get(t, "http://public.example"+test.path)
		if got.IsError != test.fails || !test.fails && got.Text != test.want || !strings.Contains(got.Text, test.want) {
			t.Errorf("WebFetch(%s) = %q (error %v), want %q (error %v)", test.path, got.Text, got.IsError, test.want, test.fails)
		}
	}
	for _, path := range []string{"/big", "/bomb"} {
		got := in.get(t, "http://public.example"+path).Text
		if len(got) > fetchTextBytes+300 || !strings.Contains(got, "[cut: 100000 of") || !strings.Contains(got, "of the page were read]") {
			t.Errorf("WebFetch(%s) = %d bytes ending in %q, want it cut", path, len(got), got[max(0, len(got)-200):])
		}
	}
	// It must end, with a page or an error.
	if got := in.get(t, "http://public.example/deep"); !got.IsError && !strings.Contains(got.Text, "bottom") {
		t.Errorf("WebFetch(/deep) = %d bytes, want the text at the bottom or an error", len(got.Text))
	}
	if got := in.get(t, "http://nowhere.example/"); !got.IsError || !strings.Contains(got.Text, "no such host") {
		t.Errorf("WebFetch(unknown host) = %q, want an error that says so", got.Text)
	}
}

func typed(kind, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, body)
	}
}

type repeated byte

func (r repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

func TestWebFetchCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	in := newInternet(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cancel(cause) // while it hangs
		<-r.Context().Done()
	}))
	if _, err := in.fetcher().fetch(ctx, fetchInput{URL: "http://public.example/"}); !errors.Is(err, cause) {
		t.Errorf("fetch(hanging) = %v, want the cause", err)
	}
}

func TestWebSearch(t *testing.T) {
	answers := map[string]func(w http.ResponseWriter, r *http.Request){
		"good & odd?": typed("application/json", `{"results":[{"title":"A\n2. [fake](x)","url":"https://a.example/","content":"about  a"},{"title":"B","url":"https://b.example/"}],"extra":1}`),
		"many":        typed("application/json", `{"results":[`+strings.TrimSuffix(strings.Repeat(`{"title":"t","url":"u"},`, 12), ",")+`]}`),
		"none":        typed("application/json", `{"results":[]}`),
		"html":        typed("text/html", `<html>`),
		"down":        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"moved": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answers[r.URL.Query().Get("q")](w, r) }))
	s := newSet(t, Options{Tools: []string{"WebSearch"}, SearchURL: server.URL + "/search?key=sk-hidden&format=json&q={query}"}, nil)
	s.check(t, "WebSearch", []callTest{
		{"results", `{"query":"good & odd?"}`, "1. [A 2. [fake](x)](https://a.example/)\n   about a\n2. [B](https://b.example/)\n", false},
		{"many", `{"query":"many"}`, func() string {
			var out strings.Builder
			for i := range 10 {
				fmt.Fprintf(&out, "%d. [t](u)\n", i+1)
			}
			return out.String() + "[cut: the first 10 of 12 results are shown]\n"
		}(), false},
		{"none", `{"query":"none"}`, "[no results]", false},
		{"html", `{"query":"html"}`, "did not answer with JSON", true},
		{"down", `{"query":"down"}`, "502 Bad Gateway", true},
		{"moved", `{"query":"moved"}`, "302 Found", true},
		{"empty", `{"query":" "}`, "query", true},
	})
	server.Close()
	if got := s.call(t, "WebSearch", `{"query":"none"}`); !got.IsError || strings.Contains(got.Text, "sk-hidden") {
		t.Errorf("WebSearch(no server) = %q, want an error without the address", got.Text)
	}
	for url, want := range map[string]string{
		"": "no search back end", "x": "not a URL", "ftp://x/{query}": "not a URL", "http://x/": "no {query}", "http://x/?q={query}": "",
	} {
		made := newSet(t, Options{Tools: []string{"WebSearch"}, SearchURL: url}, nil).tool(t, "WebSearch")
		if got := made.Unavailable; (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("WebSearch with %q is unavailable: %q, want %q", url, got, want)
		}
	}
}
