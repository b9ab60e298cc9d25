package builtin

import "errors"

// askInput is what a person is asked. Nothing runs here: a human question is
// asked once per step, by whoever can reach the person.
type askInput struct {
	Question string   `json:"question" jsonschema:"The question, complete in itself."`
	Options  []string `json:"options,omitempty" jsonschema:"Answers to choose from, if there are some. The person may always answer something else."`
}

// Check refuses a question that nobody could answer.
func (in askInput) Check() error {
	if in.Question == "" {
		return errors.New("question: it is empty")
	}
	return nil
}
