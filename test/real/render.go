package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/maker-mdap/maker/model"
)

// A task is what a person might ask of the program.
type task struct {
	Kind   string `json:"kind"` // plan, step, solve or do
	ID     string `json:"id"`
	Text   string `json:"text"`
	Schema string `json:"schema,omitempty"` // of the output of a step
}

// promptsCommand writes the prompts that the program sends for the tasks.
func promptsCommand(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("real prompts", flag.ContinueOnError)
	program := f.String("maker", "maker", "the program")
	tasks := f.String("tasks", "test/real/own/tasks.jsonl", "file of the tasks")
	out := f.String("o", "", "file of the prompts")
	if err := f.Parse(args); err != nil {
		return err
	}
	binary, err := filepath.Abs(*program)
	if err != nil {
		return err
	}
	// It answers nothing, because only the questions are wanted.
	refuse := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error":{"message":"only the question was wanted","type":"invalid_request_error"}}`)
	}))
	defer refuse.Close()
	folder, err := os.MkdirTemp("", "maker-prompts-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)

	list, err := readTasks(*tasks)
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, t := range list {
		request, err := t.render(ctx, binary, refuse.URL+"/v1", folder)
		if err != nil {
			return fmt.Errorf("%s: %w", t.ID, err)
		}
		if err := json.NewEncoder(&lines).Encode(ownPrompt{t.Kind, t.ID, request}); err != nil {
			return err
		}
	}
	return os.WriteFile(*out, lines.Bytes(), 0o644)
}

func readTasks(file string) ([]task, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []task
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var t task
		if err := strictly(lines.Bytes(), &t); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, t)
	}
	return all, nil
}

// render has the program ask a server that answers nothing, and returns the first
// request that it made.
func (t *task) render(ctx context.Context, program, url, folder string) (*model.Request, error) {
	record := filepath.Join(folder, t.ID+".jsonl")
	args := []string{t.Kind, t.Text}
	switch t.Kind {
	case "step":
		plan := filepath.Join(folder, t.ID+".yaml")
		if err := os.WriteFile(plan, t.plan(), 0o644); err != nil {
			return nil, err
		}
		args = []string{"exec", plan}
	case "do":
		args = append(args, "--tools", "Read,Write") // the others would only take time to read
	}
	args = append(args, "--model", "compat/none", "--base-url", url, "--record", record,
		"--retry-attempts", "1", "--max-faults", "1", "--no-input", "--quiet", "--log-dir", filepath.Join(folder, "runs"))
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = folder
	said, _ := command.CombinedOutput() // it fails, as it must without an answer
	calls, err := os.ReadFile(record)
	if err != nil {
		return nil, fmt.Errorf("no call was made: %s", said)
	}
	first, _, _ := bytes.Cut(calls, []byte("\n"))
	var call struct{ Request *model.Request }
	if err := json.Unmarshal(first, &call); err != nil || call.Request == nil {
		return nil, fmt.Errorf("no call was made: %s", said)
	}
	call.Request.Temperature = nil // the bank says how it was asked
	return call.Request, nil
}

// plan is a plan of one step that does the task.
func (t *task) plan() []byte {
	plan, _ := json.Marshal(map[string]any{
		"reasoning": "One step is enough.",
		"plan": []map[string]any{{
			"step": 0, "task_type": "action_step", "title": "the_step", "task_description": t.Text,
			"primary_tools": []string{}, "fallback_tools": []string{},
			"primary_tool_instructions": "", "fallback_tool_instructions": "",
			"input_variables": []string{}, "output_variable": "step_0_output", "output_schema": t.Schema,
			"next_step_sequence_number": -1,
		}},
	})
	return plan
}
