package simserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/model"
)

// content is the text of a message, which comes as a string or as a list of
// typed parts. Parts other than text (images, tool results) are not read.
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case 'n':
		return nil
	case '"':
		return json.Unmarshal(data, (*string)(c))
	case '[':
	default:
		return errors.New("content must be a string or a list of parts")
	}
	var parts []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return fmt.Errorf("content must be a string or a list of parts: %w", err)
	}
	var texts []string
	for i, p := range parts {
		if p.Type == "" {
			return fmt.Errorf("content[%d] has no type", i)
		}
		if p.Type != "text" {
			continue
		}
		if p.Text == nil {
			return fmt.Errorf("content[%d] has no text", i)
		}
		texts = append(texts, *p.Text)
	}
	// Each part starts a line of its own, as the tasks in a prompt have to.
	*c = content(strings.Join(texts, "\n"))
	return nil
}

// A message is one turn in either format.
type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// decodeJSON reads the body of a request.
func decodeJSON(body []byte, into any) *failure {
	err := json.Unmarshal(body, into)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		what := e.Field
		if what == "" {
			what = "the body"
		}
		return &failure{message: what + " has the wrong type: " + e.Value, param: e.Field}
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return &failure{message: "the body is not JSON: " + err.Error()}
	}
	return &failure{message: err.Error(), param: "messages"}
}

// converse turns messages into a request. System messages can stand anywhere in
// both formats. Whatever is not said by the user counts, but is not asked.
func converse(req *model.Request, messages []message, roles ...string) *failure {
	if len(messages) == 0 {
		return &failure{message: "messages must have at least one message", param: "messages"}
	}
	system := []string{}
	if req.System != "" {
		system = append(system, req.System)
	}
next:
	for i, m := range messages {
		switch m.Role {
		case "user":
			req.Messages = append(req.Messages, model.Message{Role: model.User, Text: string(m.Content)})
			continue
		case "system", "developer":
			system = append(system, string(m.Content))
			continue
		}
		for _, role := range roles {
			if m.Role == role {
				req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: string(m.Content)})
				continue next
			}
		}
		field := fmt.Sprintf("messages[%d].role", i)
		return &failure{message: fmt.Sprintf("%s: %q is not a role", field, m.Role), param: field}
	}
	req.System = strings.Join(system, "\n")
	return nil
}

// checkTemperature applies the provider's range.
func checkTemperature(t *float64, most float64) *failure {
	if t != nil && !(*t >= 0 && *t <= most) {
		return &failure{message: fmt.Sprintf("temperature must be from 0 to %v", most), param: "temperature"}
	}
	return nil
}

// pieces splits a text into what the events of a stream carry.
func pieces(text string) []string {
	const size = 24
	var out []string
	for len(text) > size {
		n := size
		for n > 1 && !utf8.RuneStart(text[n]) {
			n--
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	if text != "" {
		out = append(out, text)
	}
	return out
}

// marshal encodes what this package has made itself, which cannot fail.
func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
