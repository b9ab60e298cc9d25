package sim

import (
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/model"
)

// A question is all that the simulator looks at in a conversation.
type question struct {
	prompt  string             // text of the last turn of the user that has text
	results []model.ToolResult // of the last turn of the user
	after   int                // how many tool results there are in all turns
}

func asked(req *model.Request) question {
	var q question
	last, worded := true, false
	for i := len(req.Messages) - 1; i >= 0; i-- {
		m := &req.Messages[i]
		if m.Role != model.User {
			continue
		}
		if last {
			last, q.results = false, m.ToolResults
		}
		if !worded && m.Text != "" {
			worded, q.prompt = true, m.Text
			for _, image := range m.Images { // which it cannot see
				q.prompt += fmt.Sprintf("\n[%s of %d bytes]", image.MediaType, len(image.Data))
			}
		}
		q.after += len(m.ToolResults)
	}
	return q
}

// result is the text of the last turn's tool results.
func (q *question) result() string {
	texts := make([]string, len(q.results))
	for i := range q.results {
		texts[i] = q.results[i].Text
	}
	return strings.Join(texts, "\n")
}

// hash stands for the question. Ids of tool calls do not count, so that samples
// which did the same and saw the same are samples of one question.
func (q *question) hash() uint64 {
	h := hash(q.prompt)
	if q.after == 0 {
		return h
	}
	h = mix(h + uint64(q.after)*golden)
	for i := range q.results {
		h = mix(h ^ hash(q.results[i].Text))
	}
	return h
}
