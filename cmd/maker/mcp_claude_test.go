//go:build slow && linux

package main

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/maker-mdap/maker/model/sim"
	"github.com/maker-mdap/maker/model/sim/simserver"
	"github.com/maker-mdap/maker/runs"
)

// claudeScript is what the model of the agent says: it hands the question over and repeats the
// answer.
const claudeScript = `
- match: 'Find out how much'
  after: 0
  right: {tool_calls: [{name: mcp__maker__ask, input: {question: 'What is 6 times 7?', number: true, k: 4}}]}
- match: 'Find out how much'
  match_result: '"answer":(\d+)'
  right: {text: 'They agree on ${result.1}.'}
- match: '(?s).*'
  right: {text: 'something else'}
`

// TestMCPWithClaude has the real claude program as a client. MAKER_TEST_CLAUDE names another
// version.
func TestMCPWithClaude(t *testing.T) {
	program := os.Getenv("MAKER_TEST_CLAUDE")
	if program == "" {
		program = filepath.Join("..", "..", "test", "npm", "node_modules", ".bin", "claude")
	}
	program, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%v; install it with: npm ci --prefix test/npm", err)
	}
	serves := mcpCommand(t, rightSettings) // for its folder: claude starts its own
	folder := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	parsed, err := sim.Parse("sim/default?p=1&script=" + write("script.yaml", claudeScript))
	if err != nil {
		t.Fatal(err)
	}
	handler, err := simserver.Handler(simserver.Options{Default: parsed, RequireKey: true})
	if err != nil {
		t.Fatal(err)
	}
	model := httptest.NewServer(handler)
	defer model.Close()
	maker, err := exec.LookPath("maker")
	if err != nil {
		t.Fatal(err)
	}
	servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"maker": map[string]any{"command": maker, "args": []string{"mcp"}}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-p", "Find out how much six times seven is.", "--output-format", "json", "--model", "claude-sonnet-4-5",
		"--strict-mcp-config", "--mcp-config", write("servers.json", string(servers)), "--allowedTools", "mcp__maker__ask", "--max-turns", "5")
	cmd.Dir = serves.Dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "XDG_CONFIG_HOME=" + folder, "CLAUDE_CONFIG_DIR=" + folder, "TMPDIR=" + folder,
		"ANTHROPIC_BASE_URL=" + model.URL, "ANTHROPIC_API_KEY=none", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_DISABLE_THINKING=1", "ENABLE_TOOL_SEARCH=false", "MCP_CONNECTION_NONBLOCKING=false",
	}
	out, err := cmd.Output()
	var result struct {
		Result string `json:"result"`
	}
	if err != nil || json.Unmarshal(out, &result) != nil || result.Result != "They agree on 42." {
		t.Fatalf("claude: %v\n%s", err, out)
	}
	list, err := runs.List(filepath.Join(serves.Dir, "runs"))
	if err != nil || len(list) != 1 || list[0].State != "completed" || list[0].Kind != "ask" {
		t.Fatalf("List() = %+v, %v, want the question that claude handed over", list, err)
	}
	if kept, err := os.ReadFile(filepath.Join(list[0].Dir, runs.ResultFile)); err != nil || !strings.Contains(string(kept), `"margin": 4`) {
		t.Errorf("the result is %s, %v, want a margin of 4", kept, err)
	}
}
