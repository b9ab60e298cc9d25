package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// startServe runs `maker serve ARGS...` in the background as the process NAME, on a port that
// the system chooses, goes where a person would, and puts its host and port into $SERVE.
func startServe(ts *testscript.TestScript, args []string) {
	name := args[0]
	start(ts, slices.Concat([]string{name, "maker", "serve", "--listen", "127.0.0.1:0"}, args[1:]))
	var address string
	eventually(ts, "maker serve prints its address", func() bool {
		line, _, ok := strings.Cut(ts.ReadFile(name+".out"), "\n")
		address = line
		return ok
	})
	at, err := url.Parse(address)
	ts.Check(err)
	jar, err := cookiejar.New(nil)
	ts.Check(err)
	s := sessionOf(ts)
	s.client = &http.Client{Jar: jar}
	resp, err := s.client.Get(address)
	ts.Check(err)
	ts.Check(resp.Body.Close())
	ts.Setenv("SERVE", at.Host)
}

// request sends a request to $SERVE, checks the status of the answer, and puts it into the file
// answer. PATH may be @FILE, for an address that was printed. It is the person's who opened the
// link; of what follows the status, @FILE.json is the body, @FILE is a token that asks in their place, nobody has nothing
// to show, `Name: value` is a header, and everything else is the body, in JSON.
func request(ts *testscript.TestScript, args []string) {
	method, path, want, body := args[0], args[1], number(ts, args[2]), ""
	base, client := "http://"+ts.Getenv("SERVE"), sessionOf(ts).client
	address := base + path
	if file, ok := strings.CutPrefix(path, "@"); ok {
		address = strings.TrimSpace(ts.ReadFile(file))
	}
	header := http.Header{"Origin": {base}}
	for _, arg := range args[3:] {
		name, value, isHeader := strings.Cut(arg, ": ")
		switch {
		case strings.HasPrefix(arg, "@") && strings.HasSuffix(arg, ".json"):
			body = ts.ReadFile(arg[1:])
		case strings.HasPrefix(arg, "@"):
			header.Set("Authorization", "Bearer "+strings.TrimSpace(ts.ReadFile(arg[1:])))
			client = http.DefaultClient
		case arg == "nobody":
			client = http.DefaultClient
		case isHeader && !strings.HasPrefix(arg, "{"):
			header.Set(name, value)
		default:
			body = arg
			header.Set("Content-Type", "application/json")
		}
	}
	req, err := http.NewRequest(method, address, strings.NewReader(body))
	ts.Check(err)
	req.Header, req.Host = header, header.Get("Host") // which is that of the address if it is empty
	resp, err := client.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("answer"), data, 0o644))
	if resp.StatusCode != want {
		ts.Fatalf("%s %s = %s %s, want %s", method, path, strconv.Itoa(resp.StatusCode), data, args[2])
	}
}
