package ballot

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/model/sim"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/vote"
)

// TestFramingsAreNoVoters: a vote over five framings of a question is worth what the
// independence of its voters is: nothing if they err together, whatever their words, and
// what theory says if each errs for itself.
func TestFramingsAreNoVoters(t *testing.T) {
	const problems, p = 300, 0.7
	lastLines := domain.Readers{"plain": func(json.RawMessage) (domain.Reader, error) { return lastLine{}, nil }}
	for _, test := range []struct {
		settings  string
		right     float64 // share of votes
		unanimous float64 // of those without dissent: the first three decide then
	}{
		{"rho=1", p, 1},
		{"rho=1&own=1", math.Pow(p, 3) * (1 + 3*(1-p) + 6*(1-p)*(1-p)), math.Pow(p, 3) + math.Pow(1-p, 3)},
	} {
		s, err := sim.Parse(fmt.Sprintf("sim/default?p=%v&seed=4&%s", p, test.settings))
		if err != nil {
			t.Fatal(err)
		}
		m, err := sim.New(s)
		if err != nil {
			t.Fatal(err)
		}
		b := New(only(m), lastLines, nil)
		right, unanimous := 0, 0
		for i := range problems {
			q := question(vote.Rule{Strategy: vote.Majority, N: 5, MaxSamples: 5})
			list := fmt.Sprintf("[3, %d, 1]", i+5)
			q.Variants = []string{
				"Sort: " + list, "Please help.\nSort: " + list + ".", "Sort: [2, 1]\nanswer = [1, 2]\n\nSort: " + list,
				"Sort: [7, 6]\nanswer = [6, 7]\n\nSort: " + list, "Sort: " + list + "\n\nAn example.\nSort: [8, 5]\nanswer = [5, 8]",
			}
			v, err := b.Decide(t.Context(), q, Watch{})
			if err != nil || v.Status != flow.Decided {
				t.Fatalf("%s: Decide(%s) = %+v, %v", test.settings, list, v, err)
			}
			if string(v.Answer) == fmt.Sprintf("%q", fmt.Sprintf("answer = [1, 3, %d]", i+5)) {
				right++
			}
			if !v.Voting.Contested() {
				unanimous++
			}
		}
		b.Close()
		for _, share := range []struct {
			of   string
			got  int
			want float64
		}{{"right", right, test.right}, {"unanimous", unanimous, test.unanimous}} {
			if off := math.Abs(float64(share.got) - problems*share.want); off > 5*math.Sqrt(problems*share.want*(1-share.want)) {
				t.Errorf("%s: %d of %d votes are %s, want a share of %.3f", test.settings, share.got, problems, share.of, share.want)
			}
		}
	}
}

// lastLine reads the last line of an answer.
type lastLine struct{}

func (lastLine) Read(text string) (domain.Answer, *redflag.Flag) {
	return plain{}.Read(text[strings.LastIndexByte(text, '\n')+1:])
}

// TestOtherFramingsFirst: whoever is asked once more is asked first in the framings in which
// it has not answered, whatever the number of its samples was.
func TestOtherFramingsFirst(t *testing.T) {
	for _, test := range []struct {
		name   string
		voters []string
		asked  map[string][]int
		want   []int
	}{
		{"never asked", []string{"a"}, nil, []int{1, 2, 3, 4, 5, 1, 2}},
		{"one was cancelled", []string{"a"}, map[string][]int{"a": {1, 2, 4}}, []int{3, 5, 1, 2, 4, 3, 5}},
		{"all were asked", []string{"a"}, map[string][]int{"a": {1, 2, 3, 4, 5}}, []int{1, 2, 3, 4, 5, 1, 2}},
		{"each for itself", []string{"a", "b"}, map[string][]int{"a": {1, 2}, "b": {2, 3}}, []int{3, 4, 4, 5, 5, 1}},
	} {
		r := &race{ballot: new(Ballot), q: &flow.Question{Variants: make([]string, 5), Asked: test.asked}}
		for _, name := range test.voters {
			r.voters = append(r.voters, Voter{Name: name})
		}
		r.active = activeFramings(r.q, r.voters, nil)
		var got []int
		for n := range test.want {
			got = append(got, r.framing(n, n%len(r.voters)))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: framings: -want +got\n%s", test.name, diff)
		}
	}
}
