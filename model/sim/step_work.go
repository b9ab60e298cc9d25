package sim

import (
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/maker-mdap/maker/model/sim/internal/problem"
)

// byHead does a step without tools: it computes and sorts what the description
// states, counts, adds and sorts what the inputs hold, and otherwise answers with
// something that could be an answer.
func (d *decision) byHead(t *stepTask) mapping {
	if p := taskIn(t.description); p != nil {
		return t.fillWith(p)
	}
	if tool := choose(t.description, everyTool).tool; tool != "" && len(t.tools) == 0 {
		return mapping{{"error", textValue("This needs a tool such as " + tool + ", which I do not have.")}}
	}
	if len(t.inputs) > 0 {
		held := t.held()
		switch {
		case counting.MatchString(t.description) && perFile.MatchString(t.description):
			return t.fill(source{text: strings.Join(countPerFile(held), "\n")})
		case counting.MatchString(t.description):
			return t.fill(source{text: fmt.Sprint(count(t.description, held))})
		case adding.MatchString(t.description):
			if sum, ok := add(held); ok {
				return t.fill(source{text: sum})
			}
		case sorting.MatchString(t.description):
			return t.fill(source{text: strings.Join(sortTexts(held), "\n")})
		}
		return t.fill(source{text: strings.Join(held, "\n")})
	}
	return t.fill(source{text: "Simulated: " + t.description})
}

var (
	adding  = regexp.MustCompile(`(?i)\b(?:sum|add up|total)\b`)
	sorting = regexp.MustCompile(`(?i)\bsort\b`)

	taskForm = regexp.MustCompile(`(?i)\b(?:compute|calculate|sort)\s*:\s*(.*)`)
)

// taskIn is the computation or the sorting that a text asks for; nil if there is
// none.
func taskIn(text string) problem.Problem {
	if p := problem.Read(text); p != nil {
		return p
	}
	if at := taskForm.FindStringIndex(text); at != nil {
		return problem.Read(text[at[0]:at[1]])
	}
	return nil
}

// fillWith answers with the solution of a problem.
func (t *stepTask) fillWith(p problem.Problem) mapping {
	solution, ok := p.Solution(nil)
	if !ok {
		return mapping{{"error", textValue(dividesByZero)}}
	}
	v := plainValue(solution)
	if strings.Contains(solution, "/") {
		v = textValue(solution) // a fraction
	}
	if o, ok := p.(problem.Ordering); ok {
		v = listValue()
		for _, n := range o.Sorted() {
			v.items = append(v.items, plainValue(fmt.Sprint(n)))
		}
	}
	m := mapping{{t.schema[0].name, v}}
	for _, f := range t.schema[1:] {
		switch f.kind {
		case integerKind, numberKind:
			m = append(m, entry{f.name, numberValue(max(len(v.items), 1))})
		case truthKind:
			m = append(m, entry{f.name, plainValue("true")})
		case listKind:
			m = append(m, entry{f.name, listValue(v)})
		default:
			m = append(m, entry{f.name, textValue(solution)})
		}
	}
	return m
}

// count counts what a description wants counted in some lines.
func count(description string, lines []string) int {
	text := strings.Join(lines, "\n")
	switch d := strings.ToLower(description); {
	case strings.Contains(d, "word"):
		return len(strings.Fields(text))
	case strings.Contains(d, "character"), strings.Contains(d, "letter"):
		return len([]rune(text))
	}
	return len(lines)
}

// countPerFile counts the lines of each file, in lines such as Grep shows: each
// begins with the name of its file.
func countPerFile(lines []string) []string {
	counts := map[string]int{}
	for _, line := range lines {
		file, _, _ := strings.Cut(line, ":")
		counts[file]++
	}
	var out []string
	for _, file := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%s: %d", file, counts[file]))
	}
	return out
}

// add adds up lines that are numbers.
func add(lines []string) (string, bool) {
	sum := new(big.Rat)
	for _, line := range lines {
		r, ok := problem.Evaluate(line)
		if !ok || r.Value == nil {
			return "", false
		}
		sum.Add(sum, r.Value)
	}
	return problem.Number{Value: sum, Decimal: true}.Text(), len(lines) > 0
}

// sortTexts sorts lines, by value if they are numbers.
func sortTexts(lines []string) []string {
	values := make(map[string]*big.Rat, len(lines))
	for _, line := range lines {
		if r, ok := problem.Evaluate(line); ok && r.Value != nil {
			values[line] = r.Value
		}
	}
	return slices.SortedFunc(slices.Values(lines), func(a, b string) int {
		if x, y := values[a], values[b]; x != nil && y != nil && x.Cmp(y) != 0 {
			return x.Cmp(y)
		}
		return strings.Compare(a, b)
	})
}

// held is what the inputs hold, line by line.
func (t *stepTask) held() []string {
	var lines []string
	for _, in := range t.inputs {
		if text := strings.TrimRight(in.text(), "\n"); text != "" {
			lines = append(lines, strings.Split(text, "\n")...)
		}
	}
	return lines
}

// text is the main value of an input: its first text or list, or all of it.
func (in *stepInput) text() string {
	n := in.data
	if n == nil {
		return ""
	}
	if n.Kind == yaml.MappingNode && len(n.Content) >= 2 {
		n = n.Content[1]
	}
	return nodeText(n)
}

func nodeText(n *yaml.Node) string {
	switch n.Kind {
	case yaml.ScalarNode:
		if n.ShortTag() == "!!null" {
			return ""
		}
		return n.Value
	case yaml.SequenceNode:
		var lines []string
		for _, item := range n.Content {
			lines = append(lines, nodeText(item))
		}
		return strings.Join(lines, "\n")
	case yaml.MappingNode:
		var lines []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			lines = append(lines, n.Content[i].Value+": "+nodeText(n.Content[i+1]))
		}
		return strings.Join(lines, "\n")
	}
	return ""
}

// lookUp returns the value of an input by its path, such as step_0_output.count.
func (t *stepTask) lookUp(path string) (string, bool) {
	if n := t.node(path); n != nil {
		return nodeText(n), true
	}
	return "", false
}

func (t *stepTask) node(path string) *yaml.Node {
	name, rest, _ := strings.Cut(path, ".")
	for _, in := range t.inputs {
		if in.name != name || in.data == nil {
			continue
		}
		n := in.data
		for part := range strings.SplitSeq(rest, ".") {
			if part == "" {
				break
			}
			if n = child(n, part); n == nil {
				return nil
			}
		}
		return n
	}
	return nil
}

// child is the value of a field of a mapping; nil if there is none.
func child(n *yaml.Node, name string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}
