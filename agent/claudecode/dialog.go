package claudecode

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
)

// A dialog is the conversation with the program of one attempt: what it prints
// goes in, what it is to read comes out. It waits for nothing.
type dialog struct {
	task      *agent.Task
	tools     map[string]tool.Tool
	structure bool // the answer is asked for as data
	maxTokens int64

	write func(v any)          // gives the program a line
	call  func(c *pendingCall) // has a tool called and the program told

	turn   turn
	closed usage.Tokens // used by the turns before
	asking bool         // a request is with the model, which has not begun to answer
	lost   bool         // a message was begun and not finished: nobody knows its cost

	held        []string // permission requests that are not answered yet
	intent      *tool.Intent
	over        bool // the result is decided; what is missing is the cost
	interrupted bool

	spoken  string // what the program said in place of the model
	trouble string // and its word for why

	told *model.Error // the fault after which no further attempt was wanted

	result agent.Result
}

func newDialog(t *agent.Task) *dialog {
	d := &dialog{task: t, tools: make(map[string]tool.Tool, len(t.Tools)), structure: schemaOf(t.Output) != nil, maxTokens: t.MaxTokens}
	if d.maxTokens == 0 {
		d.maxTokens = agent.DefaultMaxTokens
	}
	for _, t := range t.Tools {
		d.tools[t.Name] = t
	}
	return d
}

// begin introduces us and puts the question.
func (d *dialog) begin(write func(v any), call func(c *pendingCall)) {
	d.write, d.call = write, call
	d.ask(initializeID, map[string]any{"subtype": "initialize", "sdkMcpServers": []string{server}})
	d.write(map[string]any{
		"type":    "user",
		"message": map[string]any{"role": "user", "content": []any{map[string]string{"type": "text", "text": prompts.Continued(d.task.Prompt, d.task.Done)}}},
		// Some versions want these fields.
		"parent_tool_use_id": nil,
		"session_id":         "",
	})
}

const (
	initializeID = "maker-initialize"
	interruptID  = "maker-interrupt"
)

func (d *dialog) ask(id string, request any) {
	d.write(map[string]any{"type": "control_request", "request_id": id, "request": request})
}

func (d *dialog) answer(id string, response any) {
	d.write(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": id, "response": response,
	}})
}

func (d *dialog) refuse(id, why string) {
	d.write(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "error", "request_id": id, "error": why,
	}})
}

// take reads one line. It reports whether that was the end. A kind of line that is not
// known is none of our business.
func (d *dialog) take(data []byte) (done bool, err *model.Error) {
	var head struct {
		Type    string  `json:"type"`
		Subtype string  `json:"subtype"`
		Parent  *string `json:"parent_tool_use_id"` // of what a helper of the agent says
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return false, broken("it printed a line that cannot be read: %s is not a JSON object: %v", excerpt(data), err)
	}
	kind := head.Type
	if kind == "system" {
		kind += " " + head.Subtype
	}
	switch {
	case head.Parent != nil:
	case kind == "system init":
		err = read(data, d.ready)
	case kind == "system status":
		err = read(data, d.status)
	case kind == "system api_retry":
		err = read(data, d.retry)
	case kind == "control_request":
		err = read(data, d.serve)
	case kind == "control_response":
		err = read(data, d.replied)
	case kind == "control_cancel_request":
		err = read(data, d.withdraw)
	case kind == "stream_event":
		err = read(data, d.event)
	case kind == "assistant":
		err = read(data, d.message)
	case kind == "result":
		return true, read(data, d.conclude)
	}
	return false, err
}

func (d *dialog) status(l *statusLine) *model.Error {
	d.asking = d.asking || l.Status == "requesting"
	return nil
}

func (d *dialog) withdraw(l *withdrawnLine) *model.Error {
	d.held = slices.DeleteFunc(d.held, func(id string) bool { return id == l.ID })
	return nil
}

// replied takes the answer to something that we asked for.
func (d *dialog) replied(l *replyLine) *model.Error {
	if r := l.Response; r.ID == initializeID && r.Subtype != "success" {
		return invalid("the program does not start as it should: %s; install version 2.1.197 or later", r.Error)
	}
	return nil
}

// ready checks that the program offers the tools of the task and no others. It
// is the word of a program that we did not write, but better than none.
func (d *dialog) ready(r *readyLine) *model.Error {
	given, offered := d.expected(), slices.Sorted(slices.Values(r.Tools))
	if slices.Equal(given, offered) {
		return nil
	}
	return invalid("the program (version %s) offers the tools %s, but was given %s; install version 2.1.197 or later", r.Version, list(offered), list(given))
}

// structuredOutput is the tool with which the program has answers given as data.
const structuredOutput = "StructuredOutput"

// expected are the names of the tools that the model sees.
func (d *dialog) expected() []string {
	names := slices.Collect(maps.Keys(d.tools))
	if d.structure {
		names = append(names, structuredOutput)
	}
	slices.Sort(names)
	return names
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// retry notes a request that failed. It is an error if it makes no sense, or is
// not wanted, that it is tried again.
func (d *dialog) retry(r *retryLine) *model.Error {
	d.asking = false
	e := &model.Error{Provider: provider, Status: r.Status, Kind: kindOf(r.Status, string(r.Error))}
	e.Message = fmt.Sprintf("the program reports %q", r.Error)
	if !e.Kind.Retryable() {
		return e
	}
	if d.task.OnFault != nil && !d.task.OnFault(e) {
		d.told = e
		return e
	}
	d.result.Faults = append(d.result.Faults, e)
	return nil
}

// fail completes an error that ends the attempt with the faults before it, and
// tells of it if that was not done yet.
func (d *dialog) fail(e *model.Error) *model.Error {
	if e != d.told && e.Kind.Retryable() && d.task.OnFault != nil {
		d.task.OnFault(e)
	}
	e.Faults = d.result.Faults
	return e
}

// end settles how the attempt ended. What the program does from here on does not
// count.
func (d *dialog) end(flag *redflag.Flag, text string, stop model.StopReason) {
	d.over = true
	d.result.Flag, d.result.Text, d.result.Stop = flag, text, stop
}

// interrupt stops what the program is doing. It then reports what it cost.
func (d *dialog) interrupt() {
	if !d.interrupted {
		d.interrupted = true
		d.ask(interruptID, map[string]any{"subtype": "interrupt"})
	}
}

// event follows a message that is being written.
func (d *dialog) event(l *streamLine) *model.Error {
	switch e := &l.Event; e.Type {
	case "message_start":
		if d.over {
			d.interrupt() // it would go on by itself
		}
		d.asking, d.lost = false, d.lost || d.turn.open
		d.closed = d.closed.Add(d.turn.used)
		d.turn = turn{open: true, used: e.Message.Usage.over(usage.Tokens{})}
		d.result.Model = e.Message.Model
	case "content_block_start":
		d.turn.blocks = append(d.turn.blocks, &block{index: e.Index, kind: e.Block.Type, id: e.Block.ID, name: e.Block.Name})
	case "content_block_delta":
		if b := d.turn.at(e.Index); b != nil {
			b.text.WriteString(e.Delta.Text)
			b.text.WriteString(e.Delta.JSON)
		}
	case "message_delta":
		d.turn.stop = e.Delta.StopReason
		d.turn.used = e.Usage.over(d.turn.used)
	case "message_stop":
		if d.turn.open {
			d.turn.open = false
			d.judge()
		}
	}
	return nil
}

// judge decides what a finished message means.
func (d *dialog) judge() {
	if d.over {
		return
	}
	t := &d.turn
	stop, text := stopOf(t.stop), t.lastText()
	switch {
	case stop == model.StopRefusal:
		d.end(nil, text, stop)
		d.interrupt()
	case stop == model.StopLength && t.calls() > 0:
		d.end(redflag.New(redflag.Truncated, "the answer was cut off in the middle of a tool call"), text, stop)
		d.interrupt()
	case d.intent != nil:
		d.propose(text)
	case d.structure && t.structured() != nil:
		d.end(nil, string(t.structured()), model.StopEnd)
	case t.calls() > 0:
		if used := d.used().Total(); used > d.maxTokens {
			d.end(redflag.New(agent.FlagTooManyMoves, "the attempt used %d tokens and came to no end; it may use %d", used, d.maxTokens), text, stop)
			d.interrupt()
		}
	default:
		d.end(nil, text, stop)
		if d.structure || stop != model.StopEnd || strings.TrimSpace(text) == "" {
			d.interrupt() // the program would ask for something better
		}
	}
}

// propose ends the attempt with the intent. The refusal of the permission is
// what stops the program; it had to wait for the end of the message, because a
// message that is broken off is not counted.
func (d *dialog) propose(text string) {
	d.end(nil, text, model.StopToolUse)
	d.result.Intent = d.intent
	for _, id := range d.held {
		d.deny(id, "This call has been proposed. Stop here.", true)
	}
	if len(d.held) == 0 {
		d.interrupt()
	}
	d.held = nil
}

func (d *dialog) deny(id, why string, stop bool) {
	d.answer(id, map[string]any{"behavior": "deny", "message": why, "interrupt": stop})
}

// used is what all turns have used so far.
func (d *dialog) used() usage.Tokens { return d.closed.Add(d.turn.used) }

// message takes what the program says in place of the model. What the model says was
// streamed.
func (d *dialog) message(m *messageLine) *model.Error {
	if m.Message.Model != synthetic && m.Error == "" {
		return nil
	}
	d.trouble = string(m.Error)
	for _, b := range m.Message.Content {
		if b.Type == "text" {
			d.spoken = b.Text
		}
	}
	return nil
}

// conclude makes the result, with the last line that the program printed. That is
// nil if it did not come in time.
func (d *dialog) conclude(r *resultLine) *model.Error {
	if r != nil && !d.over {
		if err := d.settle(r); err != nil {
			return err
		}
	}
	d.result.Usage = d.used()
	if r == nil {
		return nil
	}
	var counted usage.Tokens
	known := r.CostUSD != nil && !d.lost && !d.turn.open && !d.asking
	for _, m := range r.Models {
		counted = counted.Add(m.tokens())
		known = known && m.Basis != "unknown"
	}
	if counted.Total() > d.result.Usage.Total() {
		d.result.Usage = counted
	}
	if known {
		d.result.CostUSD = r.CostUSD
	}
	return nil
}

// settle finds out how an attempt ended that the program ended.
func (d *dialog) settle(r *resultLine) *model.Error {
	switch r.Subtype {
	case "error_max_turns":
		d.end(redflag.New(agent.FlagTooManyMoves, "the attempt came to no end within its moves: %s", strings.Join(r.Errors, "; ")), "", stopOf(r.StopReason))
		return nil
	case "error_max_budget_usd":
		d.end(redflag.New(agent.FlagTooManyMoves, "the attempt used up its money and came to no end: %s", strings.Join(r.Errors, "; ")), "", stopOf(r.StopReason))
		return nil
	case "error_max_structured_output_retries":
		d.end(redflag.New(redflag.SchemaInvalid, "the attempt found no answer that fits the schema"), "", stopOf(r.StopReason))
		return nil
	}
	if r.IsError || r.Subtype != "success" {
		return d.failure(r)
	}
	return broken("it ended without an answer of the model: %s", clip.Text(r.Result, maxWords))
}
