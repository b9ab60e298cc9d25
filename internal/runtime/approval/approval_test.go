package approval_test

import (
	"encoding/json"
	"testing"

	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/tool"
)

func intent(t *testing.T, name, input string) tool.Intent {
	t.Helper()
	i, err := tool.NewIntent(name, json.RawMessage(input))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestRules(t *testing.T) {
	for _, test := range []struct {
		rule, tool, input string
		allows, denies    bool
	}{
		{"Write", "Write", `{"file_path":"a"}`, true, true},
		{"Write", "Edit", `{"file_path":"a"}`, false, false},
		{"Write(docs/)", "Write", `{"file_path":"docs/a.md"}`, true, true},
		{"Write(docs/)", "Write", `{"file_path":"./docs/a.md"}`, true, true},
		{"Write(docs/)", "Write", `{"file_path":"src/a.go"}`, false, false},
		{"Write(docs/)", "Write", `{"file_path":"docs/../src/a.go"}`, false, true},
		{"Write(docs/*)", "Write", `{"file_path":"docs/a.md"}`, true, true},
		{"Bash(git status)", "Bash", `{"command":"git status --short"}`, true, true},
		{"Bash(git status:*)", "Bash", `{"command":"git   status"}`, true, true},
		{"Bash(git status)", "Bash", `{"command":"git statusx"}`, false, false},
		{"Bash(git)", "Bash", `{"command":"gitk"}`, false, false},
		{"Bash(git status)", "Bash", `{"command":"git status; rm -rf /"}`, false, true},
		{"Bash(git status)", "Bash", `{"command":"git status $(rm x)"}`, false, true},
		{"Bash(git status)", "Bash", `{"command":"git status\nrm x"}`, false, true},
		{"Bash(git status)", "Bash", `{"command":"git status > x"}`, false, true},
		{"Bash(rm)", "Bash", `{"command":"ls && rm -rf x"}`, false, true},
		{"Bash(rm)", "Bash", `{"command":"ls; (rm x)"}`, false, true},
		{"Bash(rm)", "Bash", `{"command":"echo rm"}`, false, false},
		{"Bash(A=1 make)", "Bash", `{"command":"A=1 make test"}`, true, true},
		{"mcp__shop__*", "mcp__shop__order", `{"item":"A1"}`, true, true},
		{"mcp__shop__*", "mcp__bank__pay", `{}`, false, false},
		{"mcp__shop__order(item=A)", "mcp__shop__order", `{"item":"A1"}`, true, true},
		{"mcp__shop__order(item=A)", "mcp__shop__order", `{"item":"B1"}`, false, false},
		{"mcp__shop__order(item=A)", "mcp__shop__order", `{}`, false, false},
		{"mcp__shop__order(count=1)", "mcp__shop__order", `{"count":12}`, true, true},
		{"WebFetch(https://example.com/)", "WebFetch", `{"url":"https://example.com/x"}`, true, true},
		{"WebFetch(https://example.com)", "WebFetch", `{"url":"https://example.com/x"}`, true, true},
		{"WebFetch(https://example.com/docs/)", "WebFetch", `{"url":"https://example.com/docs/x"}`, true, true},
		{"WebFetch(https://example.com/docs/)", "WebFetch", `{"url":"https://example.com/admin"}`, false, false},
		{"WebFetch(https://example.com/docs/)", "WebFetch", `{"url":"https://example.org/docs/x"}`, false, false},
		// A rule without brackets is about calls without arguments too, and one that
		// names an argument is not.
		{"Write", "Write", `{}`, true, true},
		{"mcp__shop__*", "mcp__shop__list", `{}`, true, true},
		{"mcp__shop__order(item=)", "mcp__shop__order", `{"item":"A1"}`, true, true},
		{"mcp__shop__order(item=)", "mcp__shop__order", `{"count":1}`, false, false},
	} {
		r, err := approval.ParseRule(test.rule)
		if err != nil {
			t.Fatalf("ParseRule(%s) = %v", test.rule, err)
		}
		i := intent(t, test.tool, test.input)
		allow := approval.Policy{Mode: approval.Mutate, Allow: []approval.Rule{r}}
		if got := !allow.Decide(i, tool.Mutate).Ask; got != test.allows {
			t.Errorf("allow %s lets %s %s pass: %t, want %t", test.rule, test.tool, test.input, got, test.allows)
		}
		deny := approval.Policy{Mode: approval.None, Deny: []approval.Rule{r}}
		if got := deny.Decide(i, tool.Mutate).Denied; got != test.denies {
			t.Errorf("deny %s stops %s %s: %t, want %t", test.rule, test.tool, test.input, got, test.denies)
		}
	}
}

func TestParseRuleRefuses(t *testing.T) {
	for _, text := range []string{"", "Write()", "(x)", "Write(x", "a b", "*"} {
		if r, err := approval.ParseRule(text); err == nil {
			t.Errorf("ParseRule(%q) = %+v, want an error", text, r)
		}
	}
	if _, err := approval.ParseRules([]string{"Write", "!"}); err == nil {
		t.Error("ParseRules(a bad one) succeeded")
	}
}

func TestModes(t *testing.T) {
	rules, err := approval.ParseRules([]string{"Write"})
	if err != nil {
		t.Fatal(err)
	}
	write := intent(t, "Write", `{"file_path":"a"}`)
	bash := intent(t, "Bash", `{"command":"ls"}`)
	for _, test := range []struct {
		mode   approval.Mode
		intent tool.Intent
		ask    bool
	}{
		{approval.None, write, false}, {approval.None, bash, false}, {"", bash, false},
		{approval.Mutate, write, false}, {approval.Mutate, bash, true},
		{approval.All, write, true}, {approval.All, bash, true},
	} {
		p := approval.Policy{Mode: test.mode, Allow: rules}
		if d := p.Decide(test.intent, tool.Mutate); d.Ask != test.ask || d.Denied || (d.Reason == "") != test.ask {
			t.Errorf("approve %s: Decide(%s) = %+v, want ask %t", test.mode, test.intent.Tool, d, test.ask)
		}
	}
	// A rule that denies is stronger than all others.
	p := approval.Policy{Mode: approval.All, Allow: rules, Deny: rules}
	if d := p.Decide(write, tool.Mutate); !d.Denied || d.Ask {
		t.Errorf("Decide(allowed and denied) = %+v, want denied", d)
	}
}

func FuzzParseRule(f *testing.F) {
	for _, s := range []string{"Write", "Bash(git status:*)", "mcp__a__*(x=y)", "A(", "A(B=)", "A((((", "Write(docs/)", "mcp__a__b(docs/)", "mcp__a__b(https://a.b/)", "Write(./)", "Write(/)"} {
		f.Add(s, `{"command":"x","file_path":"y"}`)
		f.Add(s, `{"path":"docs/../x"}`)
	}
	f.Fuzz(func(t *testing.T, text, input string) {
		r, err := approval.ParseRule(text)
		if err != nil {
			return
		}
		for _, name := range []string{"Bash", "Write", "mcp__a__b"} {
			i, err := tool.NewIntent(name, json.RawMessage(input))
			if err != nil {
				return
			}
			judge(t, text, r, i)
		}
	})
}

// judge checks that a rule denies all that it allows.
func judge(t *testing.T, text string, r approval.Rule, i tool.Intent) {
	t.Helper()
	for _, workspace := range []string{"", "."} {
		allow := approval.Policy{Mode: approval.Mutate, Allow: []approval.Rule{r}, Workspace: workspace}
		deny := approval.Policy{Deny: []approval.Rule{r}, Workspace: workspace}
		if !allow.Decide(i, tool.Mutate).Ask && !deny.Decide(i, tool.Mutate).Denied {
			t.Fatalf("%q allows %s %s but does not deny it", text, i.Tool, i.Input)
		}
	}
}
