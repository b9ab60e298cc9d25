package sim

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/maker-mdap/maker/model/sim/internal/problem"
)

// branch decides which step is next, from a description that names each branch:
// "If step_0_output.count is greater than 0, the next step is 2. Otherwise it is
// 4."
func (d *decision) branch(prompt string) *answer {
	t := readStep(prompt, branchHeading)
	next, reason := t.decide()
	if d.quality == wrong {
		next = t.otherStep(next, slipOf(d))
	}
	m := mapping{{"next_step", numberValue(next)}, {"reason", textValue(d.rambling(reason))}}
	if d.quality == malformed {
		return d.garble(m)
	}
	return say(m.write(d.structured))
}

var (
	// A clause ends where the next condition begins.
	clauses   = regexp.MustCompile(`(?i)\b(?:if|when|otherwise|else)\b`)
	stepNames = regexp.MustCompile(`(?i)\b(?:steps?|it is|next is|to|with|at)\s+(\d{1,6})\b|\bnext step (?:is|should be|must be)\s+(?:step\s+)?(\d{1,6})\b`)
	goTo      = regexp.MustCompile(`(?i)[,;:]?\s*(?:then\s+)?(?:the next step|next step|next is|go (?:on )?(?:to|with)|continue|proceed|jump|choose|take|do|use|it is|step)\b`)
)

// A way is one of the branches of a decision.
type way struct {
	condition string // "" for the one that is left
	step      int
}

// ways reads the branches, in the order of the text.
func (t *stepTask) ways() []way {
	var list []way
	starts := clauses.FindAllStringIndex(t.description, -1)
	for i, at := range starts {
		end := len(t.description)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		clause := t.description[at[1]:end]
		word := strings.ToLower(t.description[at[0]:at[1]])
		var w way
		if word == "if" || word == "when" {
			cut := goTo.FindStringIndex(clause)
			if cut == nil {
				continue
			}
			w.condition, clause = strings.TrimSpace(clause[:cut[0]]), clause[cut[0]:]
		}
		step, ok := stepIn(clause)
		if !ok {
			continue
		}
		w.step = step
		list = append(list, w)
	}
	return list
}

// stepIn is the number of the first step that a text names.
func stepIn(text string) (int, bool) {
	m := stepNames.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1] + m[2])
	return n, err == nil
}

// decide takes the first branch whose condition holds, and the first step that is
// named if no condition can be understood.
func (t *stepTask) decide() (step int, reason string) {
	ways := t.ways()
	for _, w := range ways {
		if w.condition == "" {
			return w.step, "No other condition holds."
		}
		if holds, known := t.holds(w.condition); known && holds {
			return w.step, "It is the case that " + strings.TrimRight(w.condition, ". ") + "."
		}
	}
	if len(ways) > 0 {
		return ways[0].step, "It is the first branch."
	}
	step, _ = stepIn(t.description)
	return step, "It is the step that is named."
}

// otherStep is a step that should not be next.
func (t *stepTask) otherStep(right int, s problem.Slip) int {
	var others []int
	for _, w := range t.ways() {
		if w.step != right && !slices.Contains(others, w.step) {
			others = append(others, w.step)
		}
	}
	if len(others) == 0 {
		return right + 1 + s.Rival
	}
	return others[s.Among(len(others))]
}

var comparison = regexp.MustCompile(`(?is)^(?:the\s+)?(.+?)\s+(?:(?:is|are|was|were)\s+)?(not\s+)?` +
	`(greater than or equal to|less than or equal to|at least|at most|no more than|no less than|greater than|more than|larger than|above|over|` +
	`less than|fewer than|smaller than|below|under|equal to|equals|different from|not equal to|>=|<=|==|!=|>|<|=|empty|zero|positive|negative|true|false|contains|is)\s*(.*)$`)

// holds evaluates a condition on the inputs, if it understands it.
func (t *stepTask) holds(condition string) (holds, known bool) {
	condition = strings.TrimRight(strings.TrimSpace(condition), ".,;")
	if m := comparison.FindStringSubmatch(condition); m != nil {
		if n := t.find(m[1]); n != nil {
			holds, known := compare(n, strings.ToLower(m[3]), strings.Trim(strings.TrimSpace(m[4]), "\"'`"))
			return holds != (m[2] != ""), known
		}
	}
	// "there are words"
	if thing, ok := strings.CutPrefix(strings.ToLower(condition), "there "); ok {
		words := strings.Fields(thing)
		for _, w := range words {
			if n := t.find(w); n != nil {
				return truth(n) != slices.Contains(words, "no"), true
			}
		}
		return false, false
	}
	if n := t.find(condition); n != nil {
		return truth(n), true
	}
	return false, false
}

// find is the value that some words mean: a path, or the name of a field.
func (t *stepTask) find(words string) *yaml.Node {
	words = strings.Trim(words, "\"'` ")
	if m := pathInWords.FindString(words); m != "" {
		if n := t.node(m); n != nil {
			return n
		}
	}
	fields := strings.Fields(words)
	slices.Reverse(fields)
	for _, word := range fields {
		for _, in := range t.inputs {
			if in.data == nil {
				continue
			}
			if n := child(in.data, word); n != nil {
				return n
			}
		}
	}
	return nil
}

var pathInWords = regexp.MustCompile(`\b\w+_output(?:\.[\w-]+)*`)

// truth is whether a value is something: not 0, false or empty.
func truth(n *yaml.Node) bool {
	switch n.Kind {
	case yaml.ScalarNode:
		switch strings.ToLower(n.Value) {
		case "", "0", "false", "no", "null", "~":
			return false
		}
		return true
	default:
		return len(n.Content) > 0
	}
}

func compare(n *yaml.Node, relation, other string) (holds, known bool) {
	switch relation {
	case "empty":
		return strings.TrimSpace(nodeText(n)) == "", true
	case "true":
		return truth(n), true
	case "false":
		return !truth(n), true
	case "contains":
		return strings.Contains(nodeText(n), other), true
	case "zero", "positive", "negative":
		other = "0"
	}
	text := nodeText(n)
	if n.Kind == yaml.SequenceNode {
		text = strconv.Itoa(len(n.Content)) // how many there are
	}
	a, okA := new(big.Rat).SetString(strings.TrimSpace(text))
	number, _, _ := strings.Cut(other, " ") // of 3 files, 3
	b, okB := new(big.Rat).SetString(number)
	if !okA || !okB {
		switch relation {
		case "equal to", "equals", "==", "=", "is":
			if other == "not" || other == "" {
				return false, false
			}
			return strings.EqualFold(text, other), true
		case "different from", "not equal to", "!=":
			return !strings.EqualFold(text, other), true
		}
		return false, false
	}
	c := a.Cmp(b)
	switch relation {
	case "greater than", "more than", "larger than", "above", "over", ">", "positive":
		return c > 0, true
	case "less than", "fewer than", "smaller than", "below", "under", "<", "negative":
		return c < 0, true
	case "greater than or equal to", "at least", "no less than", ">=":
		return c >= 0, true
	case "less than or equal to", "at most", "no more than", "<=":
		return c <= 0, true
	case "different from", "not equal to", "!=":
		return c != 0, true
	}
	return c == 0, true
}
