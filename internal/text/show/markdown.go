package show

import "strings"

// Markdown is a text on one line of a Markdown document that stays text there: it is
// no link, no HTML, no code and no column of a table.
func Markdown(s string) string {
	return markdown.Replace(strings.Join(strings.Fields(Line(s)), " "))
}

var markdown = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "[", `\[`, "]", `\]`, "<", `\<`, "|", `\|`, "&", `\&`, "~", `\~`,
)

// Fenced puts a text into a fence of Markdown that it cannot end.
func Fenced(s string) string {
	s = strings.TrimRight(Text(s), "\n")
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "\n" + s + "\n" + fence
}

// Code puts a text into a span of code of Markdown that it cannot end.
func Code(s string) string {
	s = strings.Join(strings.Fields(Line(s)), " ")
	mark := "`"
	for strings.Contains(s, mark) {
		mark += "`"
	}
	return mark + " " + s + " " + mark
}
