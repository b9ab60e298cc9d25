package domain_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
)

func TestVary(t *testing.T) {
	for _, test := range []struct {
		name string
		v    domain.Variation
		want []string
	}{
		{"nothing", domain.Variation{Last: "q"}, []string{"q"}},
		{"one part", domain.Variation{Parts: []string{"a"}, Last: "q"}, []string{"a\n\nq"}},
		{"two parts", domain.Variation{Parts: []string{"a", "b"}, Last: "q"}, []string{"a\n\nb\n\nq", "b\n\na\n\nq"}},
		{"three parts", domain.Variation{Parts: []string{"a", "b", "c"}}, []string{"a\n\nb\n\nc", "b\n\nc\n\na", "c\n\na\n\nb", "c\n\nb\n\na", "a\n\nc\n\nb"}},
		{"examples", domain.Variation{Examples: []string{"1", "2", "3"}, Last: "q"}, []string{"1\n\nq", "2\n\nq", "3\n\nq"}},
		{"both", domain.Variation{Examples: []string{"1", "2", "3"}, Parts: []string{"a", "b"}, Last: "q"}, []string{"1\n\na\n\nb\n\nq", "2\n\nb\n\na\n\nq", "3\n\na\n\nb\n\nq"}},
		{"the same twice", domain.Variation{Examples: []string{"1", "1"}, Parts: []string{"a", "a"}}, []string{"1\n\na\n\na"}},
	} {
		q := &flow.Question{Variants: []string{"old"}}
		domain.Vary(q, test.v)
		got := q.Variants
		if got == nil {
			got = []string{q.Prompt}
		}
		if diff := cmp.Diff(test.want, got); diff != "" || q.Prompt != test.want[0] {
			t.Errorf("%s: the prompt is %q; variants -want +got\n%s", test.name, q.Prompt, diff)
		}
	}
}
