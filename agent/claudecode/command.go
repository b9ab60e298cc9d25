package claudecode

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/internal/process/scratch"
	"github.com/maker-mdap/maker/internal/process/supervise"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/tool"
)

// server is the name of our tool server. The program would put it before the names of
// tools, as mcp__maker__Read, but for a variable that stops it.
const server = "maker"

// A folder is what one attempt has of a disk.
type folder struct{ *scratch.Dir }

func (f folder) file(name string) string { return filepath.Join(f.Path, name) }

// newFolder makes the folder, with what is too long for a command line.
func newFolder(t *agent.Task) (folder, error) {
	dir, err := scratch.New("claude")
	if err != nil {
		return folder{}, err
	}
	f := folder{dir}
	servers := map[string]any{"mcpServers": map[string]any{server: map[string]string{"type": "sdk", "name": server}}}
	for _, err := range []error{
		os.WriteFile(f.file("system.txt"), []byte(t.System), 0o600),
		writeJSON(f.file("settings.json"), settingsFor(t.Tools)),
		writeJSON(f.file("servers.json"), servers),
		os.Mkdir(f.file("work"), 0o700),
		os.Mkdir(f.file("tmp"), 0o700),
	} {
		if err != nil {
			f.Remove()
			return folder{}, err
		}
	}
	return f, nil
}

func writeJSON(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o600)
}

// settingsFor makes the program ask before each call that is not a sample's to
// make. Rules that ask are stronger than any that allow.
func settingsFor(tools []tool.Tool) any {
	rules := map[string][]string{"allow": {}, "ask": {}}
	for _, t := range tools {
		rule := "ask"
		if t.Class.BySample() {
			rule = "allow"
		}
		rules[rule] = append(rules[rule], t.Name, tool.ServerTool(server, t.Name))
	}
	return map[string]any{"permissions": rules}
}

// command is the program with its arguments, ready to be started.
func (c *claude) command(t *agent.Task, f folder) (supervise.Orders, error) {
	moves := t.MaxMoves
	if moves == 0 {
		moves = agent.DefaultMaxMoves
	}
	// --bare is the stronger isolation, but knows no tokens of subscriptions.
	isolation := "--bare"
	if c.options.Env("ANTHROPIC_API_KEY") == "" && c.options.Env("CLAUDE_CODE_OAUTH_TOKEN") != "" {
		isolation = "--safe-mode"
	}
	args := []string{
		"-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json", "--include-partial-messages",
		"--tools", "",
		isolation, "--setting-sources", "", "--settings", f.file("settings.json"),
		"--strict-mcp-config", "--mcp-config", f.file("servers.json"),
		"--permission-mode", "default", "--permission-prompt-tool", "stdio",
		"--model", c.options.Model,
		"--system-prompt-file", f.file("system.txt"),
		"--max-turns", strconv.Itoa(moves),
		"--no-session-persistence",
	}
	if c.options.MaxUSD > 0 {
		args = append(args, "--max-budget-usd", strconv.FormatFloat(c.options.MaxUSD, 'f', -1, 64))
	}
	if schema := schemaOf(t.Output); schema != nil {
		args = append(args, "--json-schema", string(schema))
	}
	path, err := exec.LookPath(c.options.Program)
	if err == nil {
		path, err = filepath.Abs(path) // it is not run from here
	}
	return supervise.Orders{Path: path, Args: slices.Concat([]string{c.options.Program}, args), Dir: f.file("work"), Env: c.environment(t, f)}, err
}

// schemaOf is the schema of the answer, or nil if there is none that the program
// can ask for: it has the answer given as the input of a tool, which is always an
// object.
func schemaOf(o *model.OutputFormat) json.RawMessage {
	if o == nil {
		return nil
	}
	if o.Mode == model.JSONObject {
		return json.RawMessage(`{"type":"object"}`)
	}
	var root struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(o.Schema, &root) != nil || root.Type != "object" {
		return nil
	}
	return o.Schema
}

// passedOn are the variables that the program gets as they are.
var passedOn = []string{
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"PATH", "LANG", "LC_ALL", "TZ",
}

// passedOnWindows are those without which no program runs there.
var passedOnWindows = []string{"SystemRoot", "ComSpec", "PATHEXT"}

// retries is how often the program tries a failed request again, as often as the
// agent that is a loop of ours does.
const retries = 4

// environment is all that the program knows of the machine.
func (c *claude) environment(t *agent.Task, f folder) []string {
	var env []string
	set := func(name, value string) { env = append(env, name+"="+value) }
	names := passedOn
	if runtime.GOOS == "windows" {
		names = slices.Concat(names, passedOnWindows)
	}
	for _, name := range names {
		if value := c.options.Env(name); value != "" {
			set(name, value)
		}
	}
	for _, name := range []string{"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "CLAUDE_CONFIG_DIR"} {
		set(name, f.Path)
	}
	for _, name := range []string{"TMPDIR", "TMP", "TEMP", "CLAUDE_CODE_TMPDIR"} {
		set(name, f.file("tmp"))
	}
	for _, name := range []string{
		"DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
		"CLAUDE_CODE_DISABLE_ATTACHMENTS", // a name after an @ in a prompt is not a file to be read
		"CLAUDE_CODE_DISABLE_CLAUDE_MDS", "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
		"CLAUDE_CODE_DISABLE_THINKING",
		"CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK", // to another model
		"CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK",
		"DISABLE_AUTO_COMPACT",
		"CLAUDE_AGENT_SDK_MCP_NO_PREFIX",
	} {
		set(name, "1")
	}
	set("ENABLE_TOOL_SEARCH", "false")         // tools are shown, not searched for
	set("MCP_CONNECTION_NONBLOCKING", "false") // and there from the start
	set("MAX_MCP_OUTPUT_TOKENS", "1000000")    // tools bound their results themselves
	set("CLAUDE_CODE_MAX_RETRIES", strconv.Itoa(retries))
	if t.MaxOutput > 0 {
		set("CLAUDE_CODE_MAX_OUTPUT_TOKENS", strconv.Itoa(t.MaxOutput))
	}
	if t.Temperature != nil && !c.fixed.Load() {
		set("CLAUDE_CODE_EXTRA_BODY", fmt.Sprintf(`{"temperature":%s}`, strconv.FormatFloat(*t.Temperature, 'f', -1, 64)))
	}
	return env
}
