package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/internal/prompts"
)

// problemsInWords are prompts for many problems, each in two wordings, for a model with
// the script capitalScript.
var problemsInWords = []struct {
	name string
	ask  func(t *testing.T, problem, wording int) string
}{
	{"towers", func(t *testing.T, problem, wording int) string {
		state := [][]int{{}, {}, {}}
		for disk := 6; disk > 0; disk-- {
			state[problem%3] = append(state[problem%3], disk)
			problem /= 3
		}
		text, err := json.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		if wording == 0 {
			return fmt.Sprintf("Previous move: none\nCurrent state: %s", text)
		}
		return fmt.Sprintf("Play on.\nCurrent state:\n%s\nWhat now?", strings.ReplaceAll(string(text), ",", ", "))
	}},
	{"expression", func(_ *testing.T, problem, wording int) string {
		return fmt.Sprintf([]string{"Compute: %d * (2 + 1)", "I wonder.\nWhat is %d*(2+1)?"}[wording], problem)
	}},
	{"list", func(_ *testing.T, problem, wording int) string {
		return fmt.Sprintf([]string{"Sort: [%d, 3, 2]", "Please.\nSort: [%d,3,2].\nThank you."}[wording], problem)
	}},
	{"solve", func(t *testing.T, problem, wording int) string {
		return render(t, prompts.SolveAtom{Problem: fmt.Sprintf("Compute: %d * 7", problem), Wording: wording})
	}},
	{"pick", func(t *testing.T, problem, wording int) string {
		options := []prompts.SolveOption{
			{Label: "GOOD", PartA: fmt.Sprintf("Compute: %d * 60", problem), PartB: fmt.Sprintf("Compute: %d * 7", problem), Compose: "a + b"},
			{Label: "ATOM", IsAtomic: true},
			{Label: "OFF", PartA: fmt.Sprintf("Compute: %d * 60", problem), PartB: fmt.Sprintf("Compute: %d * 8", problem), Compose: "a + b"},
		}
		if wording == 1 {
			slices.Reverse(options)
		}
		return render(t, prompts.SolvePick{Problem: fmt.Sprintf("Compute: %d * 67", problem), Options: options, Wording: wording})
	}},
	{"script", func(_ *testing.T, problem, wording int) string {
		return fmt.Sprintf([]string{"Tell me the capital of Country%d.", "Where is the seat of government of Country%d?"}[wording], problem)
	}},
}

// TestOtherWords checks what the wordings of a problem have in common: how hard it is,
// which answers compete with the right one, and the common draw; and that samples of
// two wordings are independent otherwise.
func TestOtherWords(t *testing.T) {
	const problems = 150
	for _, test := range problemsInWords {
		for _, settings := range []struct {
			name  string
			right float64 // share of right answers
			same  float64 // share of problems to which both wordings get the same answer
		}{
			{"p=1&hard=0.5:0", 0.5, 1}, {"p=0&rivals=1", 0, 1}, {"p=0.5&rho=1&rivals=2", 0.5, 1}, {"p=0.5", 0.5, 0.5},
		} {
			sure, m := scripted(t, capitalScript, "&seed=3&p=1"), scripted(t, capitalScript, "&seed=3&"+settings.name)
			right, same := 0, 0
			for i := range problems {
				a, b := m.Answer(ask(test.ask(t, i+5, 0))).Text, m.Answer(ask(test.ask(t, i+5, 1))).Text
				if a == sure.Answer(ask(test.ask(t, i+5, 0))).Text {
					right++
				}
				if a == b {
					same++
				}
			}
			if !within(right, problems, settings.right) || !within(same, problems, settings.same) {
				t.Errorf("%s, %s: %d of %d answers are right and %d the same in other words, want shares of %v and %v",
					test.name, settings.name, right, problems, same, settings.right, settings.same)
			}
		}
	}
}
