package outline

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/internal/yamlclean"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// The readers of this package's questions.
const (
	ResultReader  = "outline_result"
	SummaryReader = "outline_summary"
)

// Readers are the readers that the questions of this package name.
func Readers() domain.Readers {
	return domain.Readers{
		ResultReader: func(json.RawMessage) (domain.Reader, error) { return resultReader{}, nil },
		SummaryReader: func(params json.RawMessage) (domain.Reader, error) {
			var f summaryFormat
			err := json.Unmarshal(params, &f)
			return summaryReader(f), err
		},
	}
}

// answer is what an agent says at the end of a task: a result, or what it would have
// to know.
type answer struct {
	Result string `json:"result,omitempty"`
	Needs  string `json:"needs_clarification,omitempty"`
}

type resultReader struct{}

// Read implements [domain.Reader]. Results agree if they are the same value; those
// who need to know something agree whatever it is: somebody has to be asked.
func (resultReader) Read(text string) (domain.Answer, *redflag.Flag) {
	root, err := yamlclean.Load(text)
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "the answer is not YAML: %v", err)
	}
	data, err := yamlclean.Decode(root)
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "%v", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "the answer is not a mapping with result or needs_clarification")
	}
	var needs string
	if raw, ok := fields["needs_clarification"]; ok {
		if json.Unmarshal(raw, &needs) != nil {
			return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "needs_clarification is not a text")
		}
	}
	if needs = strings.TrimSpace(needs); needs != "" {
		return made(answer{Needs: needs}, "needs_clarification")
	}
	raw, ok := fields["result"]
	if !ok || string(raw) == "null" {
		return domain.Answer{}, redflag.New(redflag.MissingField, "there is no result")
	}
	var result string
	if json.Unmarshal(raw, &result) != nil {
		encoded, err := yamlclean.Encode(raw)
		if err != nil {
			return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "%v", err)
		}
		result = encoded
	}
	key, err := vote.Canonical(raw, vote.KeyOptions{})
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "%v", err)
	}
	return made(answer{Result: result}, "result "+key)
}

func made(a answer, key string) (domain.Answer, *redflag.Flag) {
	value, err := json.Marshal(a)
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "%v", err)
	}
	return domain.Answer{Value: value, Key: key}, nil
}

// summaryFormat is what a summary has to keep to.
type summaryFormat struct {
	Text      string   `json:"text"` // that is summarised
	Must      []string `json:"must,omitempty"`
	MaxTokens int      `json:"max_tokens"`
}

type summaryReader summaryFormat

// Read implements [domain.Reader]. A summary that drops what later tasks mention is
// discarded. Summaries agree if they carry the same of what they were told to and
// the same identifiers: no two are the same words.
func (r summaryReader) Read(text string) (domain.Answer, *redflag.Flag) {
	text = strings.TrimSpace(text)
	if text == "" {
		return domain.Answer{}, redflag.New(redflag.Empty, "the summary is empty")
	}
	if n := EstimateTokens(text); n > r.MaxTokens {
		return domain.Answer{}, redflag.New(redflag.ExcessiveLength, "the summary has %d tokens, want at most %d", n, r.MaxTokens)
	}
	for _, m := range r.Must {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(m)) {
			return domain.Answer{}, redflag.New(redflag.MissingField, "the summary drops %q, which a later task mentions", m)
		}
	}
	var carried []string
	for _, id := range Identifiers(text) {
		if !strings.Contains(r.Text, id.Text) && (id.Kind == Address || id.Kind == Path) {
			return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "the summary has %q, which is not in the text", id.Text)
		}
		carried = append(carried, id.Text)
	}
	slices.Sort(carried)
	value, err := json.Marshal(text)
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "%v", err)
	}
	return domain.Answer{Value: value, Key: strings.Join(slices.Compact(carried), "\n")}, nil
}
