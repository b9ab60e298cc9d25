package served

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/maker-mdap/maker/model"
)

// content is what a message holds, which comes as a string or as a list of typed
// parts. Parts of other kinds than these (thinking) are passed over.
type content struct {
	given   bool // neither absent nor null
	text    string
	calls   []model.ToolCall
	results []result
	images  []model.Image

	left   []string // parts that were passed over
	blank  bool     // there is a text part without text
	cached int      // parts with a cache_control
	shared int      // bytes of the text up to the last of them
	parts  int      // of any kind; a string is one unless it is empty
}

// A result is a tool's, with its place among the parts of the message.
type result struct {
	model.ToolResult
	part int
}

type part struct {
	Type         string          `json:"type"`
	Text         *string         `json:"text"`
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Input        json.RawMessage `json:"input"`
	ToolUseID    string          `json:"tool_use_id"`
	Content      plain           `json:"content"`
	IsError      bool            `json:"is_error"`
	CacheControl *cacheControl   `json:"cache_control"`

	Source *struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      []byte `json:"data"`
	} `json:"source"`
	ImageURL *imageURL `json:"image_url"`
}

// An imageURL is an object, or in Responses a text.
type imageURL struct{ URL string }

// UnmarshalJSON reads either form.
func (u *imageURL) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &u.URL)
	}
	var object struct {
		URL string `json:"url"`
	}
	err := json.Unmarshal(data, &object)
	u.URL = object.URL
	return err
}

// image reads an image in either provider's form. One that is elsewhere is passed
// over: nothing is fetched.
func (p *part) image() (model.Image, error) {
	switch {
	case p.Source != nil && p.Source.Type == "url", p.ImageURL != nil && strings.HasPrefix(p.ImageURL.URL, "http"):
		return model.Image{}, nil
	case p.Type == "image" && p.Source != nil && p.Source.Type == "base64":
		return checkImage(p.Source.MediaType, p.Source.Data)
	case p.ImageURL != nil:
		head, body, ok := strings.Cut(strings.TrimPrefix(p.ImageURL.URL, "data:"), ";base64,")
		data, err := base64.StdEncoding.DecodeString(body)
		if !ok || err != nil {
			return model.Image{}, errors.New("image_url.url must be a data URL with base64")
		}
		return checkImage(head, data)
	}
	return model.Image{}, errors.New("the image has no base64 source")
}

func checkImage(mediaType string, data []byte) (model.Image, error) {
	switch mediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return model.Image{}, fmt.Errorf("media type %q is not supported for images", mediaType)
	}
	if len(data) == 0 {
		return model.Image{}, errors.New("the image is empty")
	}
	return model.Image{MediaType: mediaType, Data: data}, nil
}

// UnmarshalJSON reads either form.
func (c *content) UnmarshalJSON(data []byte) error {
	text, list, err := textOrList(data)
	if err != nil || text == nil && list == nil {
		return err
	}
	c.given = true
	if text != nil {
		if c.text = *text; c.text != "" {
			c.parts = 1
		}
		return nil
	}
	var parts []part
	if err := json.Unmarshal(list, &parts); err != nil {
		return fmt.Errorf("content must be a string or a list of parts: %w", err)
	}
	c.parts = len(parts)
	for i := range parts {
		p := &parts[i]
		if p.CacheControl != nil {
			c.cached++
		}
		switch p.Type {
		case "":
			return fmt.Errorf("content[%d] has no type", i)
		case "text", "input_text", "output_text":
			if p.Text == nil {
				return fmt.Errorf("content[%d] has no text", i)
			}
			c.blank = c.blank || *p.Text == ""
			// Each part starts a line of its own, as the tasks in a prompt have to.
			if c.text != "" && !strings.HasSuffix(c.text, "\n") {
				c.text += "\n"
			}
			if c.text += *p.Text; p.CacheControl != nil {
				c.shared = len(c.text)
			}
		case "image", "image_url", "input_image":
			image, err := p.image()
			if err != nil {
				return fmt.Errorf("content[%d]: %w", i, err)
			}
			if image.Data != nil {
				c.images = append(c.images, image)
			} else {
				c.left = append(c.left, "an image that is elsewhere")
			}
		case "tool_use":
			if p.ID == "" || p.Name == "" || !isObject(p.Input) {
				return fmt.Errorf("content[%d] needs an id, a name and an input that is an object", i)
			}
			c.calls = append(c.calls, model.ToolCall{ID: p.ID, Name: p.Name, Input: p.Input})
		case "tool_result":
			if p.ToolUseID == "" {
				return fmt.Errorf("content[%d] has no tool_use_id", i)
			}
			c.results = append(c.results, result{model.ToolResult{ID: p.ToolUseID, Text: p.Content.text, IsError: p.IsError}, i})
			c.left = append(c.left, p.Content.left...)
		case "thinking", "redacted_thinking", "reasoning", "refusal":
		default:
			c.left = append(c.left, p.Type)
		}
	}
	return nil
}

// plain is content of which only the text is read, and what else there was.
type plain struct {
	text string
	left []string
}

// UnmarshalJSON reads either form.
func (p *plain) UnmarshalJSON(data []byte) error {
	text, list, err := textOrList(data)
	if err != nil || text == nil && list == nil {
		return err
	}
	if text != nil {
		p.text = *text
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(list, &parts); err != nil {
		return fmt.Errorf("content must be a string or a list of parts: %w", err)
	}
	var texts []string
	for _, part := range parts {
		switch part.Type {
		case "text", "input_text", "output_text":
			texts = append(texts, part.Text)
		default:
			p.left = append(p.left, part.Type+" in the result of a call")
		}
	}
	p.text = strings.Join(texts, "\n")
	return nil
}

// textOrList tells the two forms apart. Both are nil for null.
func textOrList(data []byte) (text *string, list []byte, err error) {
	switch data[0] {
	case 'n':
		return nil, nil, nil
	case '"':
		text = new(string)
		return text, nil, json.Unmarshal(data, text)
	case '[':
		return nil, data, nil
	}
	return nil, nil, errors.New("content must be a string or a list of parts")
}

func isFalse(b *bool) bool { return b != nil && !*b }

func isObject(data json.RawMessage) bool { return len(data) > 0 && data[0] == '{' }

// decodeJSON reads the body of a request.
func decodeJSON(body []byte, into any) *Failure {
	err := json.Unmarshal(body, into)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		what := e.Field
		if what == "" {
			what = "the body"
		}
		return &Failure{Message: what + " has the wrong type: " + e.Value, Param: e.Field}
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return &Failure{Message: "the body is not JSON: " + err.Error()}
	}
	return &Failure{Message: err.Error(), Param: "messages"}
}

// system collects what is said by the system, which in both formats can stand
// anywhere among the messages. Whatever the user did not say is not asked.
type system []string

func (s *system) add(text string) {
	if text != "" {
		*s = append(*s, text)
	}
}

func (s system) String() string { return strings.Join(s, "\n") }

// unknownRole is what both formats say to a role that they do not have.
func unknownRole(i int, role string) *Failure {
	field := fmt.Sprintf("messages[%d].role", i)
	return &Failure{Message: fmt.Sprintf("%s: %q is not a role", field, role), Param: field}
}

// isName reports whether a tool can be called so.
func isName(name string, most int) bool {
	for i := range len(name) {
		c := name[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return name != "" && len(name) <= most
}

// A schema is as much of a JSON schema as is checked.
type schema struct {
	Type                 string                     `json:"type"` // "None" if it gives none
	AdditionalProperties json.RawMessage            `json:"additionalProperties"`
	Properties           map[string]json.RawMessage `json:"properties"`
	Required             []string                   `json:"required"`
}

func readSchema(data json.RawMessage) *schema {
	var s schema
	if len(data) == 0 || json.Unmarshal(data, &s) != nil || s.Type == "" {
		s.Type = "None"
	}
	return &s
}

// closed reports whether an object has no properties but those named.
func (s *schema) closed() bool { return string(s.AdditionalProperties) == "false" }

// checkTemperature applies the provider's range.
func checkTemperature(t *float64, most float64) *Failure {
	if t != nil && !(*t >= 0 && *t <= most) {
		return &Failure{Message: fmt.Sprintf("temperature must be from 0 to %v", most), Param: "temperature"}
	}
	return nil
}

// stops are texts before which an answer ends: one, or a list.
type stops []string

// UnmarshalJSON reads either form.
func (s *stops) UnmarshalJSON(data []byte) error {
	var one *string
	if json.Unmarshal(data, &one) == nil {
		if *s = nil; one != nil {
			*s = stops{*one}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(s))
}

// cutSpace splits what a header says into its scheme, in small letters, and the rest.
func cutSpace(text string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(text, " ")
	return strings.ToLower(scheme), strings.TrimSpace(rest), ok
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
