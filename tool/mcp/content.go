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
		return summary("image", c.MIMEType, len(c.Data)), false
	case *sdk.AudioContent:
		return summary("audio", c.MIMEType, len(c.Data)), false
	case *sdk.EmbeddedResource:
		return describeResource(c.Resource)
	case *sdk.ResourceLink:
		return describeLink(c), false
	}
	return "[content of a kind that cannot be shown]", false
}

func describeResource(r *sdk.ResourceContents) (text string, isText bool) {
	switch {
	case r == nil:
		return "[resource without contents]", false
	case r.Blob != nil:
		return summary("resource "+r.URI, r.MIMEType, len(r.Blob)), false
	}
	head := "[resource " + r.URI
	if r.MIMEType != "" {
		head += ", " + r.MIMEType
	}
	return head + "]\n" + r.Text, true
}

func describeLink(l *sdk.ResourceLink) string {
	parts := []string{"link to " + l.URI}
	for _, part := range []string{l.Name, l.MIMEType} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if l.Size != nil {
		parts = append(parts, fmt.Sprintf("%d bytes", *l.Size))
	}
	text := "[" + strings.Join(parts, ", ") + "]"
	if l.Description != "" {
		text += " " + l.Description
	}
	return text
}

func summary(kind, mime string, size int) string {
	if mime == "" {
		mime = "of unknown type"
	}
	return fmt.Sprintf("[%s, %s, %d bytes: not shown]", kind, mime, size)
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
