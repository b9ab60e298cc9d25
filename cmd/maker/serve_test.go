package main

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// startServe runs `maker serve ARGS...` in the background as the process NAME, on a port that is
// free unless the arguments say otherwise, and puts the link that it prints into $LINK and its
// address into $SERVER.
func startServe(ts *testscript.TestScript, args []string) {
	if !slices.Contains(args, "--listen") {
		args = append(args, "--listen", "127.0.0.1:0")
	}
	start(ts, slices.Concat(args[:1], []string{"maker", "serve"}, args[1:]))
	var link string
	eventually(ts, "maker serve prints a link", func() bool {
		line, _, ok := strings.Cut(ts.ReadFile(args[0]+".out"), "\n")
		link = line
		return ok
	})
	server, _, ok := strings.Cut(link, "/login?link=")
	if !ok {
		ts.Fatalf("maker serve prints %q, want a link", link)
	}
	ts.Setenv("LINK", link)
	ts.Setenv("SERVER", server)
}

// request makes a request, writes what is answered into the file answer and checks its status.
// Of what follows the address, @FILE is a file with a token, person keeps cookies and sends them,
// `Name: value` is a header, and everything else is the body.
func request(ts *testscript.TestScript, args []string) {
	status, method, address := number(ts, args[0]), args[1], args[2]
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	header, body := http.Header{}, ""
	for _, arg := range args[3:] {
		name, value, isHeader := strings.Cut(arg, ": ")
		switch {
		case strings.HasPrefix(arg, "@"):
			header.Set("Authorization", "Bearer "+strings.TrimSpace(ts.ReadFile(arg[1:])))
		case arg == "person":
			s := sessionOf(ts)
			if s.cookies == nil {
				jar, err := cookiejar.New(nil)
				ts.Check(err)
				s.cookies = jar
			}
			client.Jar = s.cookies
		case isHeader && !strings.HasPrefix(arg, "{"):
			header.Set(name, value)
		default:
			body = arg
		}
	}
	req, err := http.NewRequest(method, address, strings.NewReader(body))
	ts.Check(err)
	req.Header = header
	res, err := client.Do(req)
	ts.Check(err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("answer"), answer, 0o644))
	if res.StatusCode != status {
		ts.Fatalf("%s %s = %s %s, want %s", method, address, res.Status, answer, strconv.Itoa(status))
	}
}
