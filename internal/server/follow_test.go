package server_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/runtime/runlog"
	"github.com/maker-mdap/maker/internal/server"
	"github.com/maker-mdap/maker/runs"
)

// sent reads server-sent events until there are no more, or enough. It returns their ids, and
// the name of the last one.
func sent(t *testing.T, body io.Reader, enough func(name, data string) bool) (ids []string, last string) {
	t.Helper()
	in := bufio.NewScanner(body)
	in.Buffer(nil, 1<<20)
	var id, name, data string
	for in.Scan() {
		switch field, text, _ := strings.Cut(in.Text(), ": "); {
		case in.Text() == "" && data != "":
			if id != "" {
				ids = append(ids, id)
			}
			last = name
			if enough != nil && enough(name, data) {
				return ids, last
			}
			id, name, data = "", "", ""
		case field == "id":
			id = text
		case field == "event":
			name = text
		case field == "data":
			data = text
		}
	}
	return ids, last
}

// listen gets a stream of events.
func (s *served) listen(path, lastID string) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), "GET", s.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func TestEvents(t *testing.T) {
	s := serve(t, t.TempDir(), func(o *server.Options) { o.Quiet = 20 * time.Millisecond })
	run := s.start("hanoi", "", object{"disks": 5}, object{"model": slow})
	path := "/api/runs/" + run + "/events"
	all, last := sent(t, s.listen(path, "").Body, nil)
	stored, err := runs.Open(filepath.Join(s.logDir, run))
	if err != nil {
		t.Fatal(err)
	}
	next, err := stored.Next()
	if err != nil || len(all) != int(next) || last != "end" || all[0] != "0" {
		t.Errorf("a follower from the beginning got %d of %d events and %q last, %v", len(all), next, last, err)
	}
	if ids, _ := sent(t, s.listen(path+"?from=7", "").Body, nil); len(ids) != int(next)-7 || ids[0] != "7" {
		t.Errorf("a follower from 7 got %q", ids)
	}
	if ids, _ := sent(t, s.listen(path+"?from=1", "9").Body, nil); len(ids) != int(next)-10 || ids[0] != "10" {
		t.Errorf("a follower behind 9 got %q", ids)
	}
	if resp := s.listen(path, fmt.Sprint(next-1)); resp.StatusCode != http.StatusNoContent {
		t.Errorf("a follower who has all = %d, want no content", resp.StatusCode)
	}
	if resp := s.listen(path+"?from=x", ""); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("from=x = %d", resp.StatusCode)
	}
	c, _, err := websocket.Dial(t.Context(), s.URL+path+"?from=3", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	for n := 3; ; n++ {
		_, data, err := c.Read(t.Context())
		if err != nil {
			if websocket.CloseStatus(err) != websocket.StatusNormalClosure || n != int(next) {
				t.Errorf("the socket ended at %d of %d with %v", n, next, err)
			}
			break
		}
		if !bytes.Contains(data, fmt.Appendf(nil, `"seq":%d,`, n)) {
			t.Fatalf("message %d is %s", n, data)
		}
	}
}

// TestOtherSite: a page of another site gets no socket.
func TestOtherSite(t *testing.T) {
	s := serve(t, t.TempDir(), nil)
	run := s.start("hanoi", "", object{"disks": 1}, nil)
	_, resp, err := websocket.Dial(t.Context(), s.URL+"/api/runs/"+run+"/events", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"http://evil.example"}}})
	if err == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("a socket from another site = %v, %v", resp, err)
	}
}

// TestStuckFollower: one that does not read is dropped, and the run does not wait for it.
func TestStuckFollower(t *testing.T) {
	dropped := make(chan struct{}, 1)
	s := serve(t, t.TempDir(), func(o *server.Options) {
		o.Patience = 2 * time.Second
		o.Guard = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(w, r)
				if strings.HasSuffix(r.URL.Path, "/events") {
					dropped <- struct{}{}
				}
			})
		}
	})
	log, err := runlog.Create(filepath.Join(s.logDir, "much"), "much", nil)
	if err != nil {
		t.Fatal(err)
	}
	write := func(n int) {
		t.Helper()
		for range n {
			if err := log.Append(event.Noted{Text: strings.Repeat("x", 10_000)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := log.Append(event.TaskSubmitted{Format: event.Format, Kind: "script", Form: event.FormScript}); err != nil {
		t.Fatal(err)
	}
	write(2000) // more than all buffers hold
	s.listen("/api/runs/much/events", "")
	<-dropped // without one byte being read
	write(1)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if ids, last := sent(t, s.listen("/api/runs/much/events", "").Body, nil); len(ids) != 2002 || last != "end" {
		t.Errorf("another follower got %d events and %q last", len(ids), last)
	}
}

// TestListEvents: whoever follows the list hears of what changes.
func TestListEvents(t *testing.T) {
	s := serve(t, t.TempDir(), nil)
	old := s.start("hanoi", "", object{"disks": 1}, nil)
	s.ended(old)
	states, removed := map[string]bool{}, false
	body := s.listen("/api/events", "").Body
	started := false
	sent(t, &afterFirst{body, func() {
		if !started {
			started = true
			go func() {
				s.start("hanoi", "", object{"disks": 7}, object{"model": slow})
				s.must("DELETE", "/api/runs/"+old, nil, nil)
			}()
		}
	}}, func(name, data string) bool {
		var one runs.Summary
		if err := json.Unmarshal([]byte(data), &one); err != nil {
			t.Errorf("an event is %s: %v", data, err)
		}
		if name == "removed" {
			removed = removed || one.Run == old
		} else {
			states[one.State] = true
		}
		return removed && states["completed"]
	})
	if !removed || !states["running"] || !states["completed"] {
		t.Errorf("heard of states %v, removed %t", states, removed)
	}
}

// afterFirst calls a function once something was read.
type afterFirst struct {
	io.Reader
	then func()
}

func (a *afterFirst) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	a.then()
	return n, err
}
