package mcp

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/tool"
)

const (
	maxOutput      = 256 << 10 // of one call
	maxDescription = 16 << 10  // of one tool
)

// resultOf turns the server's answer into what a model reads.
func resultOf(r *sdk.CallToolResult) tool.Result {
	if r.NeedsInput() {
		return tool.Failed("The tool wants further input from a person before it does anything, and cannot have it here.")
	}
	var parts []string
	hasText := false
	for _, c := range r.Content {
		text, isText := describe(c)
		hasText = hasText || isText && strings.TrimSpace(text) != ""
		parts = append(parts, text)
	}
	if !hasText && r.StructuredContent != nil {
		parts = append(parts, structured(r.StructuredContent))
	}
	text := strings.Join(parts, "\n")
	if strings.TrimSpace(text) == "" {
		text = "[the tool returned nothing]"
	}
	return tool.Result{Text: clip.Output(text, maxOutput), IsError: r.IsError}
}

// describe returns the text of a piece of content, or says what it is.
func describe(c sdk.Content) (text string, isText bool) {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text, true
	case *sdk.ImageContent:
		return summary("image, not shown", c.MIMEType, int64(len(c.Data))), false
	case *sdk.AudioContent:
		return summary("audio, not shown", c.MIMEType, int64(len(c.Data))), false
	case *sdk.EmbeddedResource:
		switch r := c.Resource; {
		case r == nil:
			return "[resource without contents]", false
		case r.Blob != nil:
			return summary("resource "+r.URI+", not shown", r.MIMEType, int64(len(r.Blob))), false
		default:
			return summary("resource "+r.URI, r.MIMEType, 0) + "\n" + r.Text, true
		}
	case *sdk.ResourceLink:
		var size int64
		if c.Size != nil {
			size = *c.Size
		}
		return strings.TrimSpace(summary("link to "+c.URI, c.MIMEType, size) + " " + c.Name + " " + c.Description), false
	}
	return "[content of a kind that cannot be shown]", false
}

// summary stands for content that is not shown.
func summary(kind, mime string, size int64) string {
	if mime != "" {
		kind += ", " + mime
	}
	if size > 0 {
		kind += fmt.Sprintf(", %d bytes", size)
	}
	return "[" + kind + "]"
}

// structured writes a structured result as JSON. The SDK has read its numbers as
// floating point; where that may have changed one, the reader is told.
func structured(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("[structured content that cannot be shown: %v]", err)
	}
	text := string(data)
	if mayBeRounded(value) {
		text += "\n[whole numbers from 2^53 on may be rounded]"
	}
	return text
}

func mayBeRounded(value any) bool {
	switch v := value.(type) {
	case float64:
		return v == math.Trunc(v) && math.Abs(v) >= 1<<53
	case []any:
		for _, item := range v {
			if mayBeRounded(item) {
				return true
			}
		}
	case map[string]any:
		for _, item := range v {
			if mayBeRounded(item) {
				return true
			}
		}
	}
	return false
}
