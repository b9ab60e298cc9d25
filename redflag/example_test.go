package redflag_test

import (
	"encoding/json"
	"fmt"

	"github.com/maker-mdap/maker/redflag"
)

func Example() {
	config := redflag.Format()
	config.MissingField = redflag.MissingFieldCheck{On: true, Required: []string{"move"}}

	answers := []redflag.Answer{
		{Text: `{"move": [1, 0, 2]}`, Stop: "end", OutputTokens: 12, Value: json.RawMessage(`{"move": [1, 0, 2]}`)},
		{Text: `{"plan": "wait"}`, Stop: "end", OutputTokens: 9, Value: json.RawMessage(`{"plan": "wait"}`)},
		{Text: "Let me think about all the disks ...", Stop: "end", OutputTokens: 1311},
		{Text: "The disks are", Stop: "length", OutputTokens: 512},
		{Text: "\n", Stop: "end", OutputTokens: 1},
	}
	for _, a := range answers {
		if flag := config.Check(&a); flag != nil {
			fmt.Printf("%s: %s\n", flag.Name, flag.Reason)
		} else {
			fmt.Println("a vote:", a.Text)
		}
	}
	// Output:
	// a vote: {"move": [1, 0, 2]}
	// missing_field: field "move" is missing
	// excessive_length: 1311 output tokens, limit 750
	// truncated: the provider cut the answer at its output limit
	// empty: no visible characters, length in bytes 1
}

// A parser raises flags of its own.
func ExampleNew() {
	flag := redflag.New(redflag.SchemaInvalid, "move has %d numbers, want 3", 2)
	fmt.Println(flag.Name, "-", flag.Reason)
	// Output: schema_invalid - move has 2 numbers, want 3
}
