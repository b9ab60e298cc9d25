package outline

import (
	"encoding/json"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/internal/text/summary"
	"github.com/maker-mdap/maker/internal/text/yamlclean"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// ResultReader is the reader of what agents say at the end of a task.
const ResultReader = "outline_result"

// flagError is the red flag of an answer that says that the task cannot be done, as it is
// in the steps of plans.
const flagError = "error"

// Readers are the readers that the questions of a run name.
func Readers() domain.Readers {
	readers := summary.Readers()
	readers[ResultReader] = func(params json.RawMessage) (domain.Reader, error) {
		var f resultFormat
		err := json.Unmarshal(params, &f)
		return resultReader(f), err
	}
	return readers
}

// answer is what an agent says at the end of a task: a result, or what it would have
// to know.
type answer struct {
	Result  string `json:"result,omitempty"`
	Details string `json:"details,omitempty"`
	Needs   string `json:"needs_clarification,omitempty"`
}

// decodeAnswer reads what the reader wrote.
func decodeAnswer(raw json.RawMessage) (a answer, err error) {
	err = json.Unmarshal(raw, &a)
	return a, err
}

// resultSchema is that of an answer in JSON. It is open and requires nothing, because there
// are two kinds of answers; the reader wants one of them. A result is of any kind that people write
// alike, so that voters who are not held to a schema can agree with it.
var resultSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"result":{"type":["string","number","boolean"]},"details":{"type":"string"},"needs_clarification":{"type":"string","minLength":1}},` +
	`"additionalProperties":true}`)

// resultFormat says how those who need to know something may ask otherwise.
type resultFormat struct {
	Ask string `json:"ask,omitempty"` // the tool that asks the person
}

type resultReader resultFormat

// Read implements [domain.Reader]. Results agree if they are the same value, whatever
// the details are: no two agents use the same words. Those who need to know something
// agree whatever it is, also with those who call the tool for that: somebody has to be
// asked.
func (r resultReader) Read(text string) (domain.Answer, *redflag.Flag) {
	data, err := yamlclean.JSON(text)
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "the answer is not YAML: %v", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "the answer is not a mapping with result or needs_clarification")
	}
	var needs string
	if raw, ok := fields["needs_clarification"]; ok && json.Unmarshal(raw, &needs) != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "needs_clarification is not a text")
	}
	if needs = strings.TrimSpace(needs); needs != "" {
		return made(answer{Needs: needs}, askKey(r.Ask))
	}
	raw, ok := fields["result"]
	if !ok || string(raw) == "null" {
		switch why := string(fields["error"]); why {
		case "", "null", "false", `""`, "[]", "{}":
		default:
			return domain.Answer{}, redflag.New(flagError, "the answer is an error: %s", why)
		}
		return domain.Answer{}, redflag.New(redflag.MissingField, "there is no result")
	}
	key, err := vote.Canonical(raw, vote.KeyOptions{})
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "%v", err)
	}
	a := answer{}
	for _, field := range []struct {
		raw  json.RawMessage
		text *string
	}{{raw, &a.Result}, {fields["details"], &a.Details}} {
		if *field.text, err = plainText(field.raw); err != nil {
			return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "%v", err)
		}
	}
	return made(a, "result "+key)
}

// askKey is what those vote for who have to ask the person: with a tool for that,
// what a call of it is a vote for.
func askKey(tool string) string {
	if tool == "" {
		return "needs_clarification"
	}
	return "call " + tool
}

// plainText is a value as text: itself if it is one, otherwise as YAML.
func plainText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return strings.TrimSpace(text), nil
	}
	text, err := yamlclean.Encode(raw)
	return strings.TrimSpace(text), err
}

func made(a answer, key string) (domain.Answer, *redflag.Flag) {
	value, err := json.Marshal(a)
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "%v", err)
	}
	return domain.Answer{Value: value, Key: key}, nil
}
