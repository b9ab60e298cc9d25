package ballot

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/reader"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/tool"
)

// prepareChat has all samples go on with a conversation.
func (r *race) prepareChat() {
	c := r.q.Chat
	messages := make([]model.Message, len(c.Messages))
	for i, m := range c.Messages {
		said := model.Message{Role: model.Role(m.Role), Text: m.Text}
		for _, image := range m.Images {
			said.Images = append(said.Images, model.Image(image))
		}
		for _, call := range m.Calls {
			said.ToolCalls = append(said.ToolCalls, model.ToolCall(call))
		}
		for _, result := range m.Results {
			said.ToolResults = append(said.ToolResults, model.ToolResult(result))
		}
		messages[i] = said
	}
	r.others.Messages = messages
	if c.Call == flow.CallNone {
		return
	}
	for _, t := range c.Tools {
		r.others.Tools = append(r.others.Tools, model.Tool(t))
	}
	if len(c.Tools) > 0 {
		r.others.Output = nil // a server that keeps to a schema cannot write a call
	}
}

// readTurn turns what a model said into a vote for a turn of the conversation, or says why
// it is none.
func (r *race) readTurn(resp *model.Response) (domain.Answer, *redflag.Flag) {
	if len(resp.ToolCalls) > 0 {
		return r.readCalls(resp)
	}
	switch c := r.q.Chat; c.Call {
	case "", flow.CallNone:
	case flow.CallAny:
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "it calls no tool, and has to call one")
	default:
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "it does not call %s, as it has to", c.Call)
	}
	text, stopped := cutAt(resp.Text, r.q.Chat.Stop)
	a := redflag.Answer{Text: text, Stop: string(resp.Stop), OutputTokens: resp.Usage.Output, Asked: r.q.Chat.LastSaid()}
	if flag := r.q.Flags.CheckText(&a); flag != nil {
		return domain.Answer{}, flag
	}
	read, flag := r.reader.Read(text)
	if flag != nil {
		return read, flag
	}
	a.Value = read.Value
	if flag = r.q.Flags.CheckValue(&a); flag == nil && r.ballot.opts.Flag != nil {
		flag = r.ballot.opts.Flag(r.q, &a)
	}
	if len(r.q.Schema) > 0 {
		text = string(read.Value) // without what was written around it
	}
	return turn(read.Key, flow.ChatTurn{Text: text, Stopped: stopped}), flag
}

// readCalls reads a turn that calls tools. Those of one turn do not depend on each other, so
// that their order does not matter. What is said beside them is not voted on.
func (r *race) readCalls(resp *model.Response) (domain.Answer, *redflag.Flag) {
	if resp.Stop == model.StopLength {
		return domain.Answer{}, redflag.New(redflag.Truncated, "it was cut at the limit of its length")
	}
	if n := len(resp.ToolCalls); n > 1 && r.q.Chat.OneCall {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "it makes %d calls, and was to make one", n)
	}
	said := flow.ChatTurn{Text: resp.Text}
	var keys []string
	for _, call := range resp.ToolCalls {
		if flag := r.checkCall(call); flag != nil {
			return domain.Answer{}, flag
		}
		intent, err := tool.NewIntent(call.Name, call.Input)
		if err != nil {
			return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "the input of %s cannot be read: %v", call.Name, err)
		}
		keys = append(keys, intent.Key())
		said.Calls = append(said.Calls, flow.ChatCall(call))
	}
	slices.Sort(keys)
	return turn(callKey+strings.Join(keys, "\n"), said), nil
}

// callKey is what the keys of turns that call tools begin with.
const callKey = "call "

// checkCall says what is wrong with a call.
func (r *race) checkCall(call model.ToolCall) *redflag.Flag {
	c := r.q.Chat
	i := slices.IndexFunc(c.Tools, func(t flow.ChatTool) bool { return t.Name == call.Name })
	switch {
	case c.Call == flow.CallNone:
		return redflag.New(redflag.SchemaInvalid, "it calls %s, and was to call nothing", call.Name)
	case i < 0:
		return redflag.New(redflag.SchemaInvalid, "it calls %s, which is no tool that it was offered", call.Name)
	case c.Call != "" && c.Call != flow.CallAny && c.Call != call.Name:
		return redflag.New(redflag.SchemaInvalid, "it calls %s, and was to call %s", call.Name, c.Call)
	}
	fits, err := r.ballot.reader(reader.JSON{Schema: c.Tools[i].Schema}.Format())
	if err != nil {
		return nil // nobody here understands the schema: whoever asks looks at the call
	}
	_, flag := fits.Read(string(call.Input))
	return flag
}

// turn is a vote for a turn.
func turn(key string, t flow.ChatTurn) domain.Answer {
	value, err := flow.Encode(t)
	if err != nil { // its calls are JSON
		value = json.RawMessage("null")
	}
	return domain.Answer{Key: key, Value: value, IsJSON: true}
}

// cutAt is a text up to the first of those before which it ends, and which one that is.
func cutAt(text string, stops []string) (cut, at string) {
	for _, stop := range stops {
		if before, _, found := strings.Cut(text, stop); found && stop != "" {
			text, at = before, stop
		}
	}
	return text, at
}

// Said is what a model said, its calls included.
func Said(resp *model.Response) string {
	if len(resp.ToolCalls) == 0 {
		return resp.Text
	}
	calls, _ := json.Marshal(resp.ToolCalls) // their inputs are JSON
	return strings.TrimSpace(resp.Text + "\n" + string(calls))
}
