package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/model"
)

// framings is how many ways there are to ask for each of the problems below.
const framings = 5

// framedSeed is the seed of those who answer them: it chooses the phrases around answers,
// too, which are compared as they are.
const framedSeed = "&seed=3"

// sumScript reads sums as they are asked for by examples alone.
const sumScript = capitalScript + `
- match: '(?m)^(\d+)\+(\d+)=$'
  right: {text: 'that of ${1} and ${2}'}
  wrong: [{text: '${1}${2}'}, {text: 'that of ${2} and 9'}, {text: '${2}'}]
`

// framedProblems are prompts for many problems, for a model with sumScript. All framings
// of a problem have the same content in other words, in another order, with other labels
// or behind other examples.
var framedProblems = []struct {
	name string
	ask  func(t *testing.T, problem, framing int) string
}{
	{"towers", func(t *testing.T, problem, framing int) string {
		return fmt.Sprintf([framings]string{
			"Previous move: none\nCurrent state: %s",
			"Play on.\nCurrent state:\n %s\nWhat now?",
			"Current state: %s\nPrevious move: None\nAnswer with two lines.",
			"Previous move: [1, 0, 2]\nCurrent state: [[2], [], [1]]\nmove = [2, 0, 1]\n\nPrevious move: none\nCurrent state: %s",
			"Previous move: [3, 1, 2]\nCurrent state: [[1, 2], [], [3]]\nmove = [1, 0, 1]\n\nPrevious move: none.\nCurrent state: %s\n",
		}[framing], towersText(t, problem))
	}},
	{"expression", func(_ *testing.T, problem, framing int) string {
		return fmt.Sprintf([framings]string{
			"Compute: %d * (2 + 1)",
			"I wonder.\nWhat is %d*(2+1)?",
			"Compute: 2 + 3\nanswer = 5\n\nCompute: 4 * 4\nanswer = 16\n\nCompute: %d * (2 + 1)\n",
			"What is 7 × 8? Answer: 56\nWhat is 9 - 12? Answer: -3\nWhat is (%d * (2 + 1))? Answer:",
			"Compute: %d*(2 + 1).\n\nAn example:\nCompute: 6 * 7\n\nanswer = 42\n",
		}[framing], problem)
	}},
	{"list", func(_ *testing.T, problem, framing int) string {
		return fmt.Sprintf([framings]string{
			"Sort: [%d, 3, 2]",
			"Please.\nSort: [%d,3,2].\nThank you.",
			"Sort: [2, 1]\nanswer = [1, 2]\n\nSort: [%d, 3, 2] in ascending order",
			"Sort: [9, 8, 7]\nanswer = [7, 8, 9]\nSort: [5, 6]\nanswer = [5, 6]\n  Sort: [ %d , 3, 2 ]",
			"Sort: [%d, 3, 2]\nIt goes like this:\nSort: [4, 1]\nanswer = [1, 4]",
		}[framing], problem)
	}},
	{"solve", func(t *testing.T, problem, framing int) string {
		return framed(t, framing, prompts.SolveAtom{Problem: fmt.Sprintf("Compute: %d * 7", problem)})
	}},
	{"pick", func(t *testing.T, problem, framing int) string {
		options := []prompts.SolveOption{
			{Label: "GOOD", PartA: fmt.Sprintf("Compute: %d * 60", problem), PartB: fmt.Sprintf("Compute: %d * 7", problem), Compose: "a + b"},
			{Label: "ATOM", IsAtomic: true},
			{Label: "OFF", PartA: fmt.Sprintf("Compute: %d * 60", problem), PartB: fmt.Sprintf("Compute: %d * 8", problem), Compose: "a + b"},
		}
		options = slices.Concat(options[framing%3:], options[:framing%3])
		return framed(t, framing, prompts.SolvePick{Problem: fmt.Sprintf("Compute: %d * 67", problem), Options: options})
	}},
	{"compose", func(t *testing.T, problem, framing int) string {
		facts := []string{"It is exact.", "There is no calculator."}
		if framing%2 == 1 {
			slices.Reverse(facts)
		}
		return framed(t, framing, prompts.SolveCompose{
			Problem: fmt.Sprintf([]string{"Compute: %d + 4", "What is %d+4?", "%d + 4"}[framing%3], problem), Compose: "a + b", Facts: facts,
			A: prompts.SolvePart{Problem: "a", Solution: fmt.Sprint(problem)}, B: prompts.SolvePart{Problem: "b", Solution: "4"},
		})
	}},
	{"script", func(_ *testing.T, problem, framing int) string {
		return fmt.Sprintf([framings]string{
			"Tell me the capital of Country%d.",
			"Where is the seat of government of Country%d?",
			"capital of Country%d",
			"The longest river is not asked for.\nWhat is the capital of Country%d?\nAnswer on one line.",
			"You know your way about. Name the seat of government of Country%d, and nothing else.",
		}[framing], problem)
	}},
	{"examples alone", func(_ *testing.T, problem, framing int) string {
		return fmt.Sprintf([framings]string{
			"2+3=5\n4+4=8\n%d+9=",
			"1+1=2\n7+5=12\n6+0=6\n%d+9=",
			"9+9=18\n%d+9=\n",
			"%d+9=",
			"Go on.\n8+7=15\n3+9=12\n%d+9=\n",
		}[framing], problem)
	}},
}

// towersText is one of many states with six disks.
func towersText(t *testing.T, problem int) string {
	state := [][]int{{}, {}, {}}
	for disk := 6; disk > 0; disk-- {
		state[problem%3] = append(state[problem%3], disk)
		problem /= 3
	}
	text, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// framed is a prompt of maker solve in one of its own framings.
func framed(t *testing.T, framing int, data prompts.Data) string {
	t.Helper()
	f, err := prompts.Default().Framings(data)
	if err != nil {
		t.Fatal(err)
	}
	return f.Texts[framing]
}

// A framedProblem is one problem, asked in all of its framings.
type framedProblem struct {
	asked [framings]*model.Request
	right string // the answer to each of them
}

// frame asks for problems in all framings, and checks that a model which makes no
// mistakes gives the same answer to all of them.
func frame(t *testing.T, problems int, prompt func(t *testing.T, problem, framing int) string) []framedProblem {
	t.Helper()
	sure := scripted(t, sumScript, framedSeed+"&p=1")
	all := make([]framedProblem, problems)
	for i := range all {
		for framing := range framings {
			req := ask(prompt(t, i+5, framing))
			got := sure.Answer(req)
			if all[i].asked[framing] = req; framing == 0 {
				all[i].right = got.Text
			}
			if got.Text != all[i].right || got.Stop != model.StopEnd {
				t.Fatalf("framing %d of problem %d is answered with %q, stop %s, want %q", framing, i+5, got.Text, got.Stop, all[i].right)
			}
		}
	}
	return all
}

// TestOtherWords checks what the framings of a problem have in common: how hard it is,
// which answers compete with the right one, and the common draw; and that samples of
// two framings are independent otherwise.
func TestOtherWords(t *testing.T) {
	problems := trials(100)
	for _, kind := range framedProblems {
		all := frame(t, problems, kind.ask)
		for _, test := range []struct {
			settings string
			right    float64 // share of right answers
			same     float64 // share of problems to which two framings get the same answer
		}{
			{"p=1&hard=0.5:0", 0.5, 1}, {"p=0&rivals=1", 0, 1}, {"p=0.5&rho=1&rivals=2", 0.5, 1}, {"p=0.5", 0.5, 0.5},
			{"p=1&hard=0.5:0&rho=1&own=1", 0.5, 1}, {"p=0.5&rho=1&own=1", 0.5, 0.5},
		} {
			m := scripted(t, sumScript, framedSeed+"&"+test.settings)
			right, same := 0, 0
			for i := range all {
				a, b := m.Answer(all[i].asked[0]).Text, m.Answer(all[i].asked[1+i%(framings-1)]).Text
				if a == all[i].right {
					right++
				}
				if a == b {
					same++
				}
			}
			if !within(right, problems, test.right) || !within(same, problems, test.same) {
				t.Errorf("%s, %s: %d of %d answers are right and %d the same in other words, want shares of %v and %v",
					kind.name, test.settings, right, problems, same, test.right, test.same)
			}
		}
	}
}

// TestOtherProblems checks that what differs in more than its words is another problem,
// where the simulator can tell.
func TestOtherProblems(t *testing.T) {
	const script = `
- {match: 'Repeat \w+', right: {text: '${0}'}}
- {match: 'Report', match_result: '.+', right: {text: '${result.0}'}}
- {match: 'Greet', right: {text: 'Hello.'}}
`
	m := scripted(t, script, "")
	input := func(fields string) string { return `{"ask":"answer","problem":"Compute: 1 + 2"` + fields + "}" }
	seen := func(text string) string { return "Report\x00" + text }
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"Greet Ann.", "Now greet. Greet Bob!", true}, // it says the same to both
		{"Repeat this.", "Now: Repeat this!", true},
		{"Repeat this.", "Repeat that.", false},
		{seen("one"), seen("one"), true},
		{seen("one"), seen("two"), false},
		{"Compute: 1 + 2", "What is (1 + 2)?", true},
		{"Compute: 1 + 2", "Compute: 2 + 1", false},
		{"Compute: 1 + 2", "Compute: 5 + 6\nanswer = 11\n\nCompute: 1 + 2", true},
		{"Sort: [1, 2]", "Sort: [2, 1]", false},
		{"Current state: [[2, 1], [], []]", "Previous move: none\nCurrent state: [[2,1],[],[]]", true},
		{"Previous move: [1, 0, 1]\nCurrent state: [[2], [1], []]", "Previous move: [2, 2, 0]\nCurrent state: [[2], [1], []]", false},
		{"Current state: [[2, 1], [], []]", "Current state: [[2], [1], []]", false},
		{input(""), "The input:\n" + input(`,"facts":[]`), true},
		{input(""), strings.Replace(input(""), "Compute: 1 + 2", "What is 1+2? Show your work.", 1), true},
		{input(""), strings.Replace(input(""), "1 + 2", "1 + 3", 1), false},
		{input(""), strings.Replace(input(""), "answer", "compose", 1), false},
		{input(""), input(`,"facts":["x"]`), false},
		{input(`,"facts":["x","y"]`), input(`,"facts":["y","x"]`), true},
		{input(`,"facts":["x"]`), input(`,"notes":["x"]`), false},
		{input(""), input(`,"work":"x"`), false},
		{input(`,"work":"x"`), input(`,"known_problem":"x"`), false},
	} {
		of := func(prompt string) uint64 {
			prompt, result, has := strings.Cut(prompt, "\x00")
			req := ask(prompt)
			if has {
				called := &model.Response{ToolCalls: []model.ToolCall{{ID: "1", Name: "Read"}}}
				req.Messages = append(req.Messages, turn(called, result)...)
			}
			var task task
			m.recognise(&task, req)
			return task.problem
		}
		if got := of(test.a) == of(test.b); got != test.same {
			t.Errorf("%q and %q are the same problem: %t, want %t", test.a, test.b, got, test.same)
		}
	}
}
