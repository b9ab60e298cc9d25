package server_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/maker-mdap/maker/internal/server"
)

// TestSlowBody: whoever begins a body and does not end it is told so and let go of, though they
// may ask.
func TestSlowBody(t *testing.T) {
	defer server.SetBodyTime(server.SetBodyTime(50 * time.Millisecond))
	s := serve(t, t.TempDir(), nil)
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /api/runs HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{\"kind\":", s.Listener.Addr())
	answer, err := io.ReadAll(conn) // until the server closes it
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400") || !strings.Contains(string(answer), "cannot be read") {
		t.Errorf("%s, %v", answer, err)
	}
}
