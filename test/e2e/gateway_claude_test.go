//go:build slow && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sumScript adds numbers, two of them in each turn, by commands whose output is what the next
// turn goes on from: one wrong turn spoils the sum.
const sumScript = `
- match: 'Write the sum'
  after: 0
  right: {text: 'I look first.', tool_calls: [{name: Bash, input: {command: 'cat numbers.txt', description: Look}}]}
  wrong:
    - {tool_calls: [{name: Bash, input: {command: 'sed s/7/1/ numbers.txt', description: Look}}]}
    - {tool_calls: [{name: Bash, input: {command: 'sed s/7/2/ numbers.txt', description: Look}}]}
    - {tool_calls: [{name: Bash, input: {command: 'sed s/7/3/ numbers.txt', description: Look}}]}
    - {text: 'I cannot.'}
- match_result: '^(\d+) (\d+)((?: \d+)*)\s*$'
  right: {tool_calls: [{name: Bash, input: {command: 'echo $((${result.1} + ${result.2}))${result.3}', description: Add}}]}
  wrong:
    - {tool_calls: [{name: Bash, input: {command: 'echo $((${result.1} + ${result.2} + 1))${result.3}', description: Add}}]}
    - {tool_calls: [{name: Bash, input: {command: 'echo $((${result.1} + ${result.2} - 1))${result.3}', description: Add}}]}
    - {tool_calls: [{name: Bash, input: {command: 'echo $((${result.1} * ${result.2}))${result.3}', description: Add}}]}
    - {tool_calls: [{name: Bash, input: {command: 'echo ${result.1}${result.3}', description: Add}}]}
- match_result: '^(\d+)\s*$'
  right: {tool_calls: [{name: Bash, input: {command: 'echo ${result.1} > sum.txt', description: Write}}]}
  wrong:
    - {tool_calls: [{name: Bash, input: {command: 'echo 1${result.1} > sum.txt', description: Write}}]}
    - {tool_calls: [{name: Bash, input: {command: 'echo ${result.1}0 > sum.txt', description: Write}}]}
    - {tool_calls: [{name: Bash, input: {command: 'echo ${result.1} > sun.txt', description: Write}}]}
    - {text: 'That was it.'}
- match_result: '(?s)^(.*)$'
  answers: [{text: 'It is done.'}]
`

// TestGatewayClaude: the real claude program does a task with its tools, through the gateway, on
// a model that takes the right turn four times in five. With votes on every turn it is done
// right each time; without votes it is not.
func TestGatewayClaude(t *testing.T) {
	const numbers, sum, turns, seeds = "7 20 300 41 5 66 700", "1139\n", 9, 4
	program, err := filepath.Abs(filepath.Join("..", "npm", "node_modules", ".bin", "claude"))
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		t.Fatalf("%v; install it with: npm ci --prefix test/npm", err)
	}
	script := filepath.Join(t.TempDir(), "sum.yaml")
	if err := os.WriteFile(script, []byte(sumScript), 0o600); err != nil {
		t.Fatal(err)
	}
	right := map[string]int{}
	for seed := range seeds {
		for _, rule := range []string{"k=4", "voting=none"} {
			// A file is read that the name of the model names: that takes the scope answer.
			g := startGateway(t, "answer")
			model := fmt.Sprintf("maker/sim/default?p=0.8&rivals=4&seed=%d&script=%s&%s", seed, url.QueryEscape(script), rule)
			got, o := claudeSums(t, program, g, model, numbers)
			if got == sum {
				right[rule]++
			}
			if rule != "k=4" {
				continue
			}
			if got != sum {
				t.Errorf("seed %d: with votes the sum is %q, want %q: %v", seed, got, sum, o)
			}
			g.interrupt(t)
			var certificate struct {
				Votes struct{ Races, Undecided int }
			}
			if err := json.Unmarshal([]byte(mustMaker(t, 0, "certify", runDir(t, g.runs), "--json").stdout), &certificate); err != nil {
				t.Fatal(err)
			}
			if v := certificate.Votes; v.Races != turns || v.Undecided != 0 {
				t.Errorf("seed %d: %d turns were voted on, %d of them undecided, want %d and none", seed, v.Races, v.Undecided, turns)
			}
		}
	}
	t.Logf("right: %d of %d with votes, %d without", right["k=4"], seeds, right["voting=none"])
	if right["voting=none"] == seeds { // one in a thousand runs of this test, if all is well
		t.Error("without votes all came out right too: the model is not wrong")
	}
}

// claudeSums has the program write the sum of numbers, and returns what it wrote.
func claudeSums(t *testing.T, program string, g *gatewayServer, model, numbers string) (string, outcome) {
	t.Helper()
	home, work := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(work, "numbers.txt"), []byte(numbers+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := start(t, "env", "--ignore-environment", "--chdir", work,
		"PATH="+os.Getenv("PATH"), "HOME="+home, "TMPDIR="+home, "CLAUDE_CONFIG_DIR="+home, "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"ANTHROPIC_BASE_URL="+g.base, "ANTHROPIC_API_KEY="+g.token, "ANTHROPIC_MODEL="+model,
		program, "-p", "Write the sum of the numbers in numbers.txt into sum.txt.", "--allowedTools", "Bash").wait(t)
	data, err := os.ReadFile(filepath.Join(work, "sum.txt"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if strings.Contains(o.stdout, "API Error") {
		t.Errorf("claude = %v, want no error of the gateway", o)
	}
	return string(data), o
}
