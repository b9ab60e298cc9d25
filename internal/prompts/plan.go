package prompts

// YAMLFixer asks for the repair of a text that should have been YAML.
type YAMLFixer struct {
	Text    string
	Problem string // what the parser says
}

// Prompt implements [Data].
func (YAMLFixer) Prompt() string { return "yaml_fixer" }

var planSamples = []Data{
	YAMLFixer{Text: "a: [1", Problem: "line 1: a bracket is not closed"},
}
