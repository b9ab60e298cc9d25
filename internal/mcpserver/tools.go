package mcpserver

import (
	"embed"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//go:embed texts/*.md
var texts embed.FS

// text is what a tool is described with.
func text(name string) string {
	data, err := texts.ReadFile("texts/" + name + ".md")
	if err != nil {
		panic(err) // it is built in
	}
	return strings.TrimSpace(string(data))
}

// addTools adds the tools. None of them answers what a run asks.
func (s *Server) addTools() {
	yes, no := true, false
	// Ask and map ask models, which costs money, and leave a run; nothing else changes.
	asks := mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &yes}
	// The steps of a run or script may call tools that change something, if the person agrees.
	acts := mcp.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &yes}
	reads := mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no}
	ends := mcp.ToolAnnotations{DestructiveHint: &yes, IdempotentHint: true, OpenWorldHint: &no}

	add(s, &mcp.Tool{Name: "ask", Title: "Ask one question, by a vote", Annotations: &asks}, s.ask)
	add(s, &mcp.Tool{Name: "map", Title: "Answer a question for each record, by a vote for each", Annotations: &asks}, s.mapRecords)
	add(s, &mcp.Tool{Name: "run", Title: "Plan a task and carry it out step by step", Annotations: &acts}, s.run)
	add(s, &mcp.Tool{Name: "script", Title: "Run a procedure whose decisions are voted on", Annotations: &acts}, s.script)
	add(s, &mcp.Tool{Name: "follow", Title: "See how a run stands, or wait for its end", Annotations: &reads}, s.follow)
	add(s, &mcp.Tool{Name: "certify", Title: "Say what the votes of a run prove", Annotations: &reads}, s.certify)
	add(s, &mcp.Tool{Name: "cancel", Title: "End a run", Annotations: &ends}, s.cancel)
}
