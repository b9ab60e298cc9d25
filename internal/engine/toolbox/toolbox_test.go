package toolbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/config"
)

// TestServersAreProtected: what an agent wrote into the program of an MCP server would
// run without a sandbox the next time.
func TestServersAreProtected(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mcp.json")
	for name, text := range map[string]string{
		"mcp.json":      `{"mcpServers":{"a":{"command":"./run.sh","disabled":true},"b":{"command":"sh","args":["server.sh","-x","sub"],"cwd":"bin","disabled":true}}}`,
		"run.sh":        "",
		"bin/server.sh": "",
		"bin/sub/data":  "",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	box, err := Open(t.Context(), config.Tools{Workspace: dir, MCPConfig: file, Builtin: []string{"Write"}}, Options{Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	write, err := box.Registry.Get("Write")
	if err != nil {
		t.Fatal(err)
	}
	for name, refused := range map[string]bool{"mcp.json": true, "run.sh": true, "bin/server.sh": true, "bin/sub/data": false, "bin/other.sh": false} {
		result, err := write.Run(t.Context(), json.RawMessage(`{"file_path":"`+name+`","content":"evil"}`))
		if err != nil || result.IsError != refused || refused && !strings.Contains(result.Text, "protected") {
			t.Errorf("Write(%s) = %+v, %v, want refused: %t", name, result, err, refused)
		}
	}
}
