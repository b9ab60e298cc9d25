//go:build slow && linux

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestABrokenServerIsNamed has an MCP server hang, or die, in the middle of a call. The
// run says which server it was and what happened; nobody interrupted it.
func TestABrokenServerIsNamed(t *testing.T) {
	for name, want := range map[string]string{"hang": "no answer within 1s", "die": "tools/call"} {
		t.Run(name, func(t *testing.T) {
			over := make(chan struct{})
			var web *httptest.Server
			server := sdk.NewServer(&sdk.Implementation{Name: "ledger", Version: "1"}, nil)
			sdk.AddTool(server, &sdk.Tool{Name: "book", Description: "Books an item."}, func(ctx context.Context, _ *sdk.CallToolRequest, _ entry) (*sdk.CallToolResult, any, error) {
				if name == "die" {
					web.Listener.Close()
					web.CloseClientConnections()
				}
				<-over
				return &sdk.CallToolResult{}, nil, nil
			})
			web = httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
			defer web.Close()
			defer close(over)
			config := writeFile(t, "mcp.json", fmt.Sprintf(`{"mcpServers":{"ledger":{"type":"http","url":%q,"required":true,"call_timeout":"1s"}}}`, web.URL))
			logDir := t.TempDir()
			o := maker(t, "exec", effectPlan(t, 1, "ledger"), "--model", "sim/default?script="+effectScript(t, ""),
				"--approve", "none", "--no-input", "--mcp-config", config, "--workspace", t.TempDir(), "--log-dir", logDir, "--quiet")
			said := o.stdout + o.stderr
			if o.code != 1 || !strings.Contains(said, `server "ledger"`) || !strings.Contains(said, want) || strings.Contains(said, "interrupted") {
				t.Errorf("maker exec with a server that should %s = %v, want exit code 1, the server and %q, and no interruption", name, o, want)
			}
			if r := readResult(t, runDir(t, logDir)); r.Status != "failed" || r.Stop != "" || !strings.Contains(r.Reason, `server "ledger"`) {
				t.Errorf("the result = %+v, want a failure that names the server", r)
			}
		})
	}
}
