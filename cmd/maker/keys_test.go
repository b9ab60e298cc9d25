package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// ourKey is what must not be found in anything that a run writes. It ends in what
// JSON, addresses and base64 write in more than one way.
const ourKey = `sk-walls-7Hq2xW9vB4nT6yL1/+<"%`

// forms are the ways in which a key can be written.
func forms(key string) map[string]string {
	percent, escaped := "", ""
	for _, b := range []byte(key) {
		percent += fmt.Sprintf("%%%02X", b)
		escaped += fmt.Sprintf(`\u%04x`, b)
	}
	quoted, _ := json.Marshal(key) // a string can be encoded
	mixed := strings.NewReplacer("-", "%2d", "q", "%71", "/", "%2F", "+", "%2B", "<", "%3C", `"`, "%22", "%", "%25").Replace(key)
	return map[string]string{
		"as it is":              key,
		"in JSON":               string(quoted[1 : len(quoted)-1]),
		"in escapes":            escaped,
		"percent-encoded":       percent,
		"percent-encoded parts": mixed,
		"in hex":                hex.EncodeToString([]byte(key)),
		"in capital hex":        strings.ToUpper(hex.EncodeToString([]byte(key))),
		"in base64":             base64.StdEncoding.EncodeToString([]byte(key)),
		"in base64 after one":   base64.StdEncoding.EncodeToString([]byte("x" + key + " and more")),
		"in base64 after two":   base64.RawStdEncoding.EncodeToString([]byte("xy" + key)),
		"in base64 of URLs":     base64.URLEncoding.EncodeToString([]byte("Bearer " + key)),
		"in base64 unpadded":    base64.RawURLEncoding.EncodeToString([]byte(key)),
		"in base64 with breaks": breakLines(base64.StdEncoding.EncodeToString([]byte("Authorization: Bearer "+key)), 64),
	}
}

func breakLines(s string, n int) string {
	var b strings.Builder
	for len(s) > n {
		b.WriteString(s[:n] + "\n")
		s = s[n:]
	}
	return b.String() + s
}

// traces are what shows that a key is in a text, in whatever form: parts of it that
// are long enough to tell.
func traces(key string) []string {
	list := []string{key[:16], hex.EncodeToString([]byte(key[:16]))}
	for offset := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte("xyz"[:offset] + key[:21]))
		list = append(list, text[4:24])
	}
	return list
}

// plainly is data without escapes, percent signs, line breaks and differences of
// case in hex, as far as they hide a trace.
func plainly(data []byte) []string {
	text := string(data)
	all := []string{text, strings.ToLower(text)}
	for range 3 {
		for code := range 128 {
			for _, form := range []string{`\u%04x`, `\u%04X`, "%%%02x", "%%%02X"} {
				text = strings.ReplaceAll(text, fmt.Sprintf(form, code), string(rune(code)))
			}
		}
		text = strings.NewReplacer(`\n`, "", "\n", "", `\\`, `\`, `\/`, `/`).Replace(text)
		all = append(all, text)
	}
	return all
}

// findKey reports the first trace of the key.
func findKey(data []byte) string {
	for _, text := range plainly(data) {
		for _, trace := range traces(ourKey) {
			if at := strings.Index(text, trace); at >= 0 {
				return text[max(0, at-80):min(len(text), at+80)]
			}
		}
	}
	return ""
}

// parrot is a server that repeats a text in every way that an answer has.
type parrot struct {
	text     string
	requests atomic.Int64
}

func (p *parrot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	quoted, _ := json.Marshal(p.text)
	answer := map[string]any{"content": "the_text: " + string(quoted)}
	switch asked := string(body); {
	case p.requests.Add(1) == 1:
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, `{"error":{"message":%s}}`, quoted)
		return
	case strings.Contains(asked, "Give names"):
		answer["content"] = fmt.Sprintf(`{%s: {"b": 2}}`, quoted)
	case strings.Contains(asked, "Give much"):
		answer["content"] = fmt.Sprintf("%s: %s\n", quoted, strings.Repeat("much ", 8000))
	case strings.Contains(asked, "Give rubbish"):
		answer["content"] = p.text
		if p.requests.Load()%2 == 0 {
			answer["content"] = "ok: true"
		}
	case strings.Contains(asked, "Write it down") && !strings.Contains(asked, "not made"):
		input, _ := json.Marshal(map[string]string{"file_path": "out.txt", "content": p.text})
		answer["tool_calls"] = []any{map[string]any{"id": "1", "type": "function", "function": map[string]any{"name": "Write", "arguments": string(input)}}}
	}
	message := map[string]any{"index": 0, "message": answer, "finish_reason": "stop"}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"model": "parrot " + p.text, "choices": []any{message}, "usage": map[string]int{"prompt_tokens": 1, "completion_tokens": 1},
	})
}

const parrotPlan = `
reasoning: Everything that an answer can repeat.
plan:
- {step: 0, task_type: action_step, title: value, task_description: Give a value.,
   primary_tools: [], fallback_tools: [], primary_tool_instructions: "", fallback_tool_instructions: "",
   input_variables: [], output_variable: step_0_output, output_schema: "the_text: string", next_step_sequence_number: 1}
- {step: 1, task_type: action_step, title: names, task_description: Give names.,
   primary_tools: [], fallback_tools: [], primary_tool_instructions: "", fallback_tool_instructions: "",
   input_variables: [step_0_output], output_variable: step_1_output, output_schema: "any", next_step_sequence_number: 2}
- {step: 2, task_type: action_step, title: much, task_description: Give much.,
   primary_tools: [], fallback_tools: [], primary_tool_instructions: "", fallback_tool_instructions: "",
   input_variables: [step_1_output], output_variable: step_2_output, output_schema: "any", next_step_sequence_number: 3}
- {step: 3, task_type: action_step, title: rubbish, task_description: Give rubbish.,
   primary_tools: [], fallback_tools: [], primary_tool_instructions: "", fallback_tool_instructions: "",
   input_variables: [], output_variable: step_3_output, output_schema: "ok: boolean", next_step_sequence_number: 4}
- {step: 4, task_type: action_step, title: write, task_description: Write it down.,
   primary_tools: [Write], fallback_tools: [], primary_tool_instructions: "Once.", fallback_tool_instructions: "",
   input_variables: [], output_variable: step_4_output, output_schema: "ok: boolean", next_step_sequence_number: -1}
`

// TestKeysStayOut has a server repeat our key in every place of an answer and in
// every form, and searches all that the program writes.
func TestKeysStayOut(t *testing.T) {
	for name, form := range forms(ourKey) {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(&parrot{text: form})
			defer server.Close()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(parrotPlan), 0o644); err != nil {
				t.Fatal(err)
			}
			maker := func(args ...string) string {
				cmd := exec.Command("maker", args...)
				cmd.Dir = dir
				cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "MAKER_COMPAT_API_KEY=" + ourKey, "GORACE=atexit_sleep_ms=0"}
				var out, errs bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &errs
				_ = cmd.Run() // how it ends is in what it says
				for stream, text := range map[string][]byte{"stdout": out.Bytes(), "stderr": errs.Bytes()} {
					if found := findKey(text); found != "" {
						t.Errorf("maker %s: %s has %q", args[0], stream, found)
					}
				}
				return out.String() + errs.String()
			}
			common := []string{"exec", "plan.yaml", "--model", "compat/parrot", "--base-url", server.URL, "--approve", "none", "--workspace", dir, "--step-max-retries", "5", "--deadline", "2m"}
			said := maker(append(common, "--record", "tape.jsonl", "--log-dir", "runs")...)
			if !strings.Contains(said, ": completed") {
				t.Errorf("the run did not complete:\n%s", said)
			}
			maker(append(common, "--json", "--log-dir", "runs-json", "--voting", "first_to_k", "--voting-k", "2")...)
			runs, err := filepath.Glob(filepath.Join(dir, "runs*", "exec-*"))
			if err != nil || len(runs) != 2 {
				t.Fatalf("there are the runs %q, want two", runs)
			}
			for _, run := range runs {
				maker("show", run)
				maker("show", run, "--json")
				maker("show", run, "--step", "1")
				if said := maker("replay", run); !strings.Contains(said, "agrees with the stored result") {
					t.Errorf("maker replay: %s", said)
				}
			}
			searchFiles(t, dir)
		})
	}
}

// searchFiles looks for the key in all files below a folder, and in their names.
func searchFiles(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if found := findKey(append(data, path...)); found != "" {
			t.Errorf("%s has %q", strings.TrimPrefix(path, dir), found)
		}
		return nil
	})
	if err != nil || files < 8 {
		t.Errorf("searched %d files, %v, want the log, blobs, index, results and the recording", files, err)
	}
}

// TestKeysStayOffStderr: a server that says something when it was not asked anything
// is not quoted.
func TestKeysStayOffStderr(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	answer := `{"model":"m","choices":[{"index":0,"message":{"content":"the_text: a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprintf(buffered, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer)
		_ = buffered.Flush()
		fmt.Fprintf(buffered, "HTTP/1.1 200 OK\r\nX-Key: %s\r\n\r\n", ourKey)
		_ = buffered.Flush()
		_, _ = io.Copy(io.Discard, conn) // until the other side has seen it and hangs up
	})}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	dir := t.TempDir()
	plan, _, _ := strings.Cut(parrotPlan, "- {step: 1")
	if err := os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(strings.Replace(plan, "next_step_sequence_number: 1", "next_step_sequence_number: -1", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("maker", "exec", "plan.yaml", "--model", "compat/m", "--base-url", "http://"+listener.Addr().String(), "--voting", "first_to_k", "--voting-k", "20", "--max-voting-samples", "30")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "MAKER_COMPAT_API_KEY=" + ourKey, "GORACE=atexit_sleep_ms=0"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("maker exec = %v:\n%s", err, out)
	}
	if found := findKey(out); found != "" || bytes.Contains(out, []byte("Unsolicited")) {
		t.Errorf("maker exec prints %q", found)
	}
}
