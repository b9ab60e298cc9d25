package claudecode

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/usage"
)

// A turn is one message of the model.
type turn struct {
	open   bool // it is still being written
	blocks []*block
	stop   string
	used   usage.Tokens
}

// A block is a part of a message: a text, or a call with its input as the model
// wrote it. The program has read the input and written it again by the time that
// it asks for the call, and rounds numbers on the way.
type block struct {
	index    int
	kind     string
	id, name string
	text     strings.Builder
}

// at returns the block with an index, or nil.
func (t *turn) at(index int) *block {
	for _, b := range t.blocks {
		if b.index == index {
			return b
		}
	}
	return nil
}

const callBlock = "tool_use"

// calls is how many tools the message asks for.
func (t *turn) calls() int {
	n := 0
	for _, b := range t.blocks {
		if b.kind == callBlock {
			n++
		}
	}
	return n
}

// lastText is the last text of the message.
func (t *turn) lastText() string {
	for _, b := range slices.Backward(t.blocks) {
		if b.kind == "text" {
			return b.text.String()
		}
	}
	return ""
}

// structured is the answer that was given as data, or nil.
func (t *turn) structured() json.RawMessage {
	for _, b := range slices.Backward(t.blocks) {
		if b.kind == callBlock && b.name == structuredOutput {
			return b.input()
		}
	}
	return nil
}

// input returns what a call was given, or nil if it is not complete.
func (b *block) input() json.RawMessage {
	text := b.text.String()
	switch {
	case text == "":
		return json.RawMessage("{}") // models write nothing for a tool without arguments
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return nil
}

// inputOf returns the input of a call as the model wrote it, or else as the
// program passes it on.
func (t *turn) inputOf(id string, passed json.RawMessage) json.RawMessage {
	for _, b := range t.blocks {
		if b.kind == callBlock && b.id == id && id != "" {
			if input := b.input(); input != nil {
				return input
			}
		}
	}
	if len(passed) == 0 || string(passed) == "null" {
		return json.RawMessage("{}")
	}
	return passed
}

func stopOf(reason string) model.StopReason {
	switch reason {
	case "end_turn", "stop_sequence":
		return model.StopEnd
	case "max_tokens", "model_context_window_exceeded", "pause_turn":
		return model.StopLength
	case "tool_use":
		return model.StopToolUse
	case "refusal":
		return model.StopRefusal
	}
	return model.StopUnknown
}
