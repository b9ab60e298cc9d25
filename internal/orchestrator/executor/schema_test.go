package executor

import (
	"testing"

	"github.com/maker-mdap/maker/plan"
)

func TestAnswerSchema(t *testing.T) {
	p := &plan.Plan{Steps: []plan.Step{{Number: 0}, {Number: 4}, {Number: 2}}}
	fields, err := plan.FieldReaders("size: one_of(small, large)\ncount: number\nnote: text")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		format MappingFormat
		want   string
	}{
		{MappingFormat{}, `{"additionalProperties":true,"properties":{},"type":"object"}`},
		{MappingFormat{Fields: fields}, `{"additionalProperties":true,"properties":{"count":{"type":"number"},"size":{"enum":["small","large"],"type":"string"}},"type":"object"}`},
		{MappingFormat{Decision: true}, `{"additionalProperties":true,"properties":{"next_step":{"type":"integer","minimum":-1,"maximum":4},"reason":{"type":"string","maxLength":600}},"type":"object"}`},
	} {
		if got := string(answerSchema(&test.format, p)); got != test.want {
			t.Errorf("answerSchema(%+v) = %s, want %s", test.format, got, test.want)
		}
	}
}
