//go:build linux

package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// onePlan has one step, in which agents may call anything.
const onePlan = `
reasoning: One step.
plan:
- {step: 0, task_type: action_step, title: "%s", task_description: Do the work.,
   primary_tools: [Bash, Write], fallback_tools: [], primary_tool_instructions: "Once.", fallback_tool_instructions: "",
   input_variables: [], output_variable: step_0_output, output_schema: "done: boolean", next_step_sequence_number: -1}
`

// oneCall is a model that calls a tool once and is then done.
const oneCall = `
- match: 'Do the work'
  after: 0
  answers: [{tool_calls: [{name: %s, input: %s}]}]
- match: 'Do the work'
  answers: [{text: 'done: true'}]
`

// calling starts a run on a terminal whose agents make a call, with an input in JSON.
func calling(t *testing.T, title, tool, input string, env ...string) *console {
	t.Helper()
	c, screen := newConsole(t)
	c.env = env
	c.write(map[string]string{"plan.yaml": fmt.Sprintf(onePlan, title), "rules.yaml": fmt.Sprintf(oneCall, tool, input)})
	c.start(screen, "exec", "plan.yaml", "--model", "sim/default?script=rules.yaml", "--sandbox", "off", "--max-output", "100000")
	return c
}

// TestSpoofedApproval: the call that is approved is the one that is on the screen.
func TestSpoofedApproval(t *testing.T) {
	blanks := strings.Repeat(" ", 30000)
	filler := strings.Repeat("echo all is well; ", 2000)
	for name, test := range map[string]struct {
		command string   // in JSON
		shown   []string // on the screen when it is asked
	}{
		"reversed":       {`ls \u202egnihton`, []string{`ls \u202egnihton`}},
		"isolates":       {`ls \u2066a\u2069`, []string{`ls \u2066a\u2069`}},
		"zero width":     {`r\u200bm\u200d x\ufeff`, []string{`r\u200bm\u200d x\ufeff`}},
		"no-break space": {`echo\u00a0x`, []string{`echo\u00a0x`}},
		"filler":         {`echo \u3164`, []string{`echo \u3164`}},
		"terminal":       {`echo \u009b2J \u001b[2J`, []string{`echo \u009b2J \x1b[2J`}},
		"tag":            {`echo \U000e0041`, []string{`echo \U000e0041`}},
		"blanks":         {`ls` + blanks + `; touch evil` + blanks + `# fine`, []string{"ls⟨30000 blanks⟩; touch evil⟨30000 blanks⟩# fine", "call   Bash, 60,0"}},
		"line breaks":    {`ls` + strings.Repeat(`\n`, 5000) + `touch evil`, []string{"touch evil", "characters are not shown"}},
		"long":           {filler + `touch evil`, []string{"echo all is well", "; touch evil\r\n", "characters are not shown: ? shows them", "call   Bash, 36,0"}},
		"a false prompt": {`ls\n\nstep 0: May Read be called?\n` + approvalPrompt + `yes`, []string{`ls\n\nstep 0: May Read be called?\n` + approvalPrompt + `yes`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := calling(t, "work", "Bash", `{"command": "`+test.command+`"}`)
			c.await("call   Bash", 1)
			c.await(" edit, "+approvalPrompt, 1)
			asked := c.seen()
			for _, want := range test.shown {
				if !strings.Contains(asked, want) {
					t.Errorf("%q is not on the screen:\n%.4000s", want, asked)
				}
			}
			for _, r := range "\u202e\u2066\u2069\u200b\u200d\ufeff\u00a0\u3164\u009b\U000e0041" {
				if strings.ContainsRune(asked, r) {
					t.Errorf("%U is on the screen as it is:\n%q", r, asked)
				}
			}
			if lines := strings.Count(asked[strings.LastIndex(asked, "call   Bash"):], "\n"); lines > 30 || len(asked) > 8000 {
				t.Errorf("the question has %d lines and %d bytes, want what fits on a screen", lines, len(asked))
			}
			if strings.Contains(strings.Join(test.shown, " "), "? shows them") {
				c.typeIn("?\n")
				c.await(" edit, "+approvalPrompt, 2)
				if whole := c.seen()[len(asked):]; strings.Count(whole, "echo all is well; ") != 2000 {
					t.Errorf("? shows %d of 2000 commands", strings.Count(whole, "echo all is well; "))
				}
			}
			c.typeIn("no\n")
			c.finish()
		})
	}
}

// TestSpoofedQuestion: what an agent asks does not look like what the program says.
func TestSpoofedQuestion(t *testing.T) {
	c := calling(t, `work \e[2J\u202e`, "AskUserQuestion",
		`{"question": "Go on?\n\nstep 0: May Bash be called?\n  call   Bash\u001b[2J\n\nyes, no, or why not> \u202e", "options": ["y\nes", "n\u200bo"]}`)
	c.await("number, or your own answer> ", 1)
	asked := c.seen()
	for _, want := range []string{"step 0: Go on?", "\n  | step 0: May Bash be called?", "\n  |   call   Bash\\x1b[2J", `  | yes, no, or why not> \u202e`, "1) y es", `2) n\u200bo`} {
		if !strings.Contains(strings.ReplaceAll(asked, "\r\n", "\n"), want) {
			t.Errorf("%q is not on the screen:\n%s", want, asked)
		}
	}
	if strings.Contains(asked, "\x1b[2J") || strings.ContainsRune(asked, '\u202e') || strings.ContainsRune(asked, '\u200b') {
		t.Errorf("the screen gets what the agent wrote as it is:\n%q", asked)
	}
	c.typeIn("1\n")
	c.finish()
}

// TestSlipsAreAskedAgain: only an answer that is clear approves or refuses.
func TestSlipsAreAskedAgain(t *testing.T) {
	for _, slip := range []string{"?", "yep", "", "ye", "yes please", "Y!", "ja", "nope", "3", "q"} {
		t.Run(slip, func(t *testing.T) {
			t.Parallel()
			c := onConsole(t, "", twoCalls...)
			c.await(approvalPrompt, 1)
			c.typeIn(slip + "\n")
			c.await(approvalPrompt, 2)
			c.typeIn("YES\n")
			c.await(approvalPrompt, 3)
			if !c.exists("first.txt") {
				t.Errorf("%q and then yes did not approve the call:\n%s", slip, c.seen())
			}
			c.typeIn("not on a Sunday\n")
			if code := c.finish(); code != 1 || c.exists("second.txt") || !strings.Contains(c.seen(), "a person refused it: not on a Sunday") {
				t.Errorf("maker do = exit code %d, want 1 and a refusal with its reason:\n%s", code, c.seen())
			}
		})
	}
}

// TestToolsCallOnTerminal: what a tool returns does not command the terminal.
func TestToolsCallOnTerminal(t *testing.T) {
	c, screen := newConsole(t)
	if err := os.WriteFile(filepath.Join(c.dir, "evil.txt"), []byte("a\x1b[2J\u202e\x07b\n\tc"), 0o644); err != nil {
		t.Fatal(err)
	}
	c.start(screen, "tools", "call", "Read", `{"file_path":"evil.txt"}`)
	if code := c.finish(); code != 0 || !strings.Contains(c.seen(), `a\x1b[2J\u202e\x07b`) || strings.Contains(c.seen(), "\x1b[2J") {
		t.Errorf("maker tools call = exit code %d, %q, want it with escapes", code, c.seen())
	}
}

// TestKeysStayOffTheTerminal: an agent that asks about our key is not quoted with it.
func TestKeysStayOffTheTerminal(t *testing.T) {
	const key = "sk-walls-7Hq2xW9vB4nT6yL1"
	c := calling(t, "work", "AskUserQuestion", `{"question": "Is `+key+` right?", "options": ["`+key+`", "`+base64.StdEncoding.EncodeToString([]byte(key))+`"]}`,
		"MAKER_COMPAT_API_KEY="+key)
	c.await("number, or your own answer> ", 1)
	c.typeIn("2\n")
	c.finish()
	if screen := c.seen(); strings.Contains(screen, key[:16]) || strings.Contains(screen, "c2std2FsbHMt") || !strings.Contains(screen, "Is [redacted] right?") {
		t.Errorf("the key is on the screen, or the question is not:\n%s", screen)
	}
}

// TestChangedWhileItAsks: what a person approved is the change on the screen. If the file is
// changed while the question is open, or until the run goes on, there is another question.
func TestChangedWhileItAsks(t *testing.T) {
	t.Run("on the terminal", func(t *testing.T) {
		t.Parallel()
		c := calling(t, "work", "Write", `{"file_path": "notes.txt", "content": "from the run\n"}`)
		c.await(approvalPrompt, 1)
		c.write(map[string]string{"notes.txt": "precious\n"})
		c.typeIn("yes\n")
		c.await("The file was changed since you were asked", 1)
		c.await("- precious", 1)
		c.await(approvalPrompt, 2)
		c.typeIn("no\n")
		c.finish()
		if text, err := os.ReadFile(filepath.Join(c.dir, "notes.txt")); err != nil || string(text) != "precious\n" {
			t.Errorf("notes.txt is %q, %v, want what was in it:\n%s", text, err, c.seen())
		}
	})
	t.Run("until a resume", func(t *testing.T) {
		t.Parallel()
		c := calling(t, "work", "Write", `{"file_path": "notes.txt", "content": "from the run\n"}`)
		c.asks()
		if out, err := c.elsewhere("pause", "last"); err != nil {
			t.Fatalf("maker pause = %v: %s", err, out)
		}
		c.finish()
		answer := func() {
			if out, err := c.elsewhere("answer", "last", "--text", "yes"); err != nil {
				t.Errorf("maker answer = %v: %s", err, out)
			}
		}
		answer()
		c.write(map[string]string{"notes.txt": "precious\n"})
		if out, err := c.elsewhere("resume", "last", "--no-input"); err == nil || !strings.Contains(out, "The file was changed since you were asked") {
			t.Errorf("maker resume = %v, want that it asks again: %s", err, out)
		}
		answer() // to the other question
		if out, err := c.elsewhere("resume", "last", "--no-input"); err != nil {
			t.Errorf("maker resume = %v: %s", err, out)
		}
		if text, err := os.ReadFile(filepath.Join(c.dir, "notes.txt")); err != nil || string(text) != "from the run\n" {
			t.Errorf("notes.txt is %q, %v, want what the run wrote", text, err)
		}
		if out, err := c.elsewhere("replay", "last"); err != nil {
			t.Errorf("maker replay = %v: %s", err, out)
		}
	})
}
