package claudecode

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/tool"
)

// serve answers a request of the program.
func (d *dialog) serve(r *requestLine) *model.Error {
	switch r.Request.Subtype {
	case "can_use_tool":
		d.permit(r)
	case "mcp_message":
		d.speak(r.ID, r.Request.Message)
	default:
		d.refuse(r.ID, "not supported")
	}
	return nil
}

// permit answers the question whether a tool may be called.
func (d *dialog) permit(r *requestLine) {
	t, ok := d.tools[r.Request.Tool]
	switch {
	case d.over:
		d.deny(r.ID, afterTheEnd, true)
	case !ok:
		d.deny(r.ID, d.unknown(r.Request.Tool), false)
	case t.Class.BySample():
		d.answer(r.ID, map[string]any{"behavior": "allow", "updatedInput": orObject(r.Request.Input)})
	default:
		intent, err := t.Intent(d.turn.inputOf(r.Request.Call, r.Request.Input))
		if err != nil {
			d.deny(r.ID, err.Error(), false)
			return
		}
		d.held = append(d.held, r.ID)
		d.intend(intent)
	}
}

// intend notes the first call that is not a sample's to make. The attempt ends
// with it as soon as the message does.
func (d *dialog) intend(i tool.Intent) {
	if d.intent == nil {
		d.intent = &i
	}
	if !d.turn.open {
		d.propose(d.turn.lastText())
	}
}

const afterTheEnd = "The attempt is over."

func (d *dialog) unknown(name string) string {
	if len(d.task.Tools) == 0 {
		return fmt.Sprintf("There is no tool called %q here, nor any other.", name)
	}
	return fmt.Sprintf("There is no tool called %q here. There are %s.", name, list(d.expected()))
}

// An rpcCall is a message of the protocol that tool servers speak.
type rpcCall struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string          `json:"protocolVersion"`
		Name            string          `json:"name"`
		Arguments       json.RawMessage `json:"arguments"`
		Meta            struct {
			Call string `json:"claudecode/toolUseId"`
		} `json:"_meta"`
	} `json:"params"`
}

// speak is our tool server.
func (d *dialog) speak(request string, message json.RawMessage) {
	var c rpcCall
	if err := json.Unmarshal(message, &c); err != nil {
		d.refuse(request, "the message cannot be read: "+err.Error())
		return
	}
	if len(c.ID) == 0 { // a notification; the envelope wants something all the same
		d.rpc(request, json.RawMessage("0"), map[string]any{})
		return
	}
	switch c.Method {
	case "initialize":
		d.rpc(request, c.ID, map[string]any{
			"protocolVersion": c.Params.ProtocolVersion,
			"capabilities":    map[string]any{"tools": map[string]any{}},
			"serverInfo":      map[string]string{"name": server, "version": "1"},
		})
	case "tools/list":
		d.rpc(request, c.ID, map[string]any{"tools": d.offered()})
	case "tools/call":
		d.run(request, &c)
	case "ping":
		d.rpc(request, c.ID, map[string]any{})
	default:
		d.rpcError(request, c.ID, "there is no method "+c.Method)
	}
}

func (d *dialog) rpc(request string, id json.RawMessage, result any) {
	d.answer(request, map[string]any{"mcp_response": map[string]any{"jsonrpc": "2.0", "id": id, "result": result}})
}

func (d *dialog) rpcError(request string, id json.RawMessage, why string) {
	const noMethod = -32601
	d.answer(request, map[string]any{"mcp_response": map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": noMethod, "message": why},
	}})
}

type offeredTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations struct {
		ReadOnly bool `json:"readOnlyHint"` // may be called together with others
	} `json:"annotations"`
	Meta struct {
		MaxResult int `json:"anthropic/maxResultSizeChars"`
	} `json:"_meta"`
}

// maxResult is the most that the program lets a tool say about the length of its
// results. Longer ones it would put into a file that the model cannot read.
const maxResult = 500_000

func (d *dialog) offered() []offeredTool {
	out := make([]offeredTool, len(d.task.Tools))
	for i, t := range d.task.Tools {
		o := &out[i]
		o.Name, o.Description, o.InputSchema = t.Name, t.Description, t.Schema
		if !json.Valid(o.InputSchema) {
			o.InputSchema = json.RawMessage(`{"type":"object"}`)
		}
		o.Annotations.ReadOnly, o.Meta.MaxResult = t.Class.BySample(), maxResult
	}
	return out
}

// run has a tool called, if that is a sample's to do. If not, the program should
// have asked, and the call becomes the intent here; it is never answered.
func (d *dialog) run(request string, c *rpcCall) {
	reply := func(r tool.Result) {
		d.rpc(request, c.ID, map[string]any{
			"content": []any{map[string]string{"type": "text", "text": r.Text}}, "isError": r.IsError,
		})
	}
	t, ok := d.tools[c.Params.Name]
	switch {
	case d.over:
		reply(tool.Failed(afterTheEnd))
		return
	case !ok:
		reply(tool.Failed("%s", d.unknown(c.Params.Name)))
		return
	}
	input := d.turn.inputOf(c.Params.Meta.Call, c.Params.Arguments)
	if t.Class.BySample() {
		d.result.Calls++
		d.call(&pendingCall{t, input, reply})
		return
	}
	intent, err := t.Intent(input)
	if err != nil {
		reply(tool.Failed("%v", err))
		return
	}
	d.intend(intent)
}

func orObject(input json.RawMessage) json.RawMessage {
	if len(input) == 0 {
		return json.RawMessage("{}")
	}
	return input
}

// A pendingCall is a call of a tool for the program.
type pendingCall struct {
	tool  tool.Tool
	input json.RawMessage
	reply func(tool.Result) // safe for concurrent use
}

// make makes the call.
func (c *pendingCall) make(ctx context.Context) {
	got, err := c.tool.Run(ctx, c.input)
	switch {
	case ctx.Err() != nil:
		return // nobody is left to be told
	case err != nil:
		got = tool.Failed("%v", err)
	}
	c.reply(got)
}
