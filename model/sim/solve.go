package sim

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/maker-mdap/maker/model/sim/internal/problem"
)

// An inquiry is what a voter of maker solve is asked: the last line of the prompt
// that begins like one. The words around it say how to answer.
type inquiry struct {
	Ask       string     `json:"ask"`
	Problem   string     `json:"problem"`
	MustSplit bool       `json:"must_split"`
	Options   []option   `json:"options"`
	Compose   string     `json:"compose_fn"`
	A         solvedPart `json:"a"`
	B         solvedPart `json:"b"`
	Answer    string     `json:"answer"`
}

type solvedPart struct {
	Problem  string `json:"problem"`
	Solution string `json:"solution"`
}

const inquiryLine = "\n{\"ask\":\""

// readInquiry returns what a prompt asks of a voter, or nil if that is nothing.
func readInquiry(prompt string) *inquiry {
	if !strings.Contains(prompt, inquiryLine) { // which is much faster than LastIndex
		return nil
	}
	line, _, _ := strings.Cut(prompt[strings.LastIndex(prompt, inquiryLine)+1:], "\n")
	i := new(inquiry)
	if json.Unmarshal([]byte(line), i) != nil {
		return nil
	}
	return i
}

// hash stands for what is asked. The options of a choice count whatever their order,
// which is another for each voter.
func (i *inquiry) hash() uint64 {
	h := hash(i.Ask)
	for _, text := range [...]string{i.Problem, i.Compose, i.A.Problem, i.A.Solution, i.B.Problem, i.B.Solution, i.Answer, strconv.FormatBool(i.MustSplit)} {
		h = mix(h ^ hash(text))
	}
	for o := range i.Options {
		h += hash(i.Options[o].content())
	}
	return mix(h)
}

// takePartInSolving answers an inquiry; nil if it is about a problem of which the
// simulator knows nothing.
func (d *decision) takePartInSolving(i *inquiry) *answer {
	switch i.Ask {
	case "decompose":
		return d.decompose(i)
	case "pick":
		return d.pick(i)
	case "solve":
		return d.solve(i)
	case "compose", "answer":
		return d.compose(i)
	case "check":
		return d.check(i)
	}
	return nil
}

// How confident answers are. That does not tell right from wrong.
const (
	sure   = 0.9
	unsure = 0.1 // what does not deserve to be counted
)

// solve answers a problem as it is. The more operations that takes, the less
// likely it is to go well.
func (d *decision) solve(i *inquiry) *answer {
	p := problem.Read(i.Problem)
	if p == nil {
		return nil
	}
	solution, ok := p.Solution(d.slips(p.Operations()))
	if !ok {
		return d.solution(i, dividesByZero, unsure, "")
	}
	work := "It is one operation."
	if n := p.Operations(); n > 1 {
		work = "It took " + strconv.Itoa(n) + " operations, one after another."
	}
	return d.solution(i, solution, sure, work)
}

// compose makes a solution from those of two parts, which it takes as they are.
func (d *decision) compose(i *inquiry) *answer {
	switch {
	case strings.TrimSpace(i.B.Solution) == "": // only an answer that was wrong
		return d.solve(i)
	case i.A.Problem == i.Problem: // an answer, and what was missing from it
		return d.keep(i)
	}
	p := problem.Together(i.Compose, i.A.Solution, i.B.Solution)
	if p == nil {
		return d.join(i)
	}
	solution, ok := p.Solution(d.slips(p.Operations()))
	if !ok {
		return d.solution(i, dividesByZero, unsure, "")
	}
	return d.solution(i, solution, sure, "I put both results together.")
}

// keep keeps an answer to which something was added that nobody asked for.
func (d *decision) keep(i *inquiry) *answer {
	text := i.A.Solution
	if d.quality == wrong {
		if p := problem.Together("add", i.A.Solution, i.B.Solution); p != nil {
			text, _ = p.Solution(nil)
		} else {
			text = i.B.Solution
		}
	}
	return d.solution(i, text, sure, "The answer has what is asked for.")
}

// join puts two texts together, or loses one of them.
func (d *decision) join(i *inquiry) *answer {
	text := i.A.Solution + "; " + i.B.Solution
	if d.quality == wrong {
		text = i.A.Solution
	}
	return d.solution(i, text, sure, "I put both results together.")
}

// solution is the answer to a question for a solution, or for the final answer.
func (d *decision) solution(i *inquiry, text string, confidence float64, work string) *answer {
	if i.Ask != "answer" {
		return d.object(object{{"solution", text}, {"confidence", confidence}, {"work_shown", d.rambling(work)}}, text)
	}
	support := object{{"summary", d.rambling(work)}, {"equations", []string{}}, {"points", []string{}}}
	return d.object(object{{"answer", text}, {"confidence", confidence}, {"support", support}}, text)
}

var wholeNumbers = regexp.MustCompile(`\d+`)

// check says whether an answer is complete: whether it is one at all.
func (d *decision) check(i *inquiry) *answer {
	complete := strings.TrimSpace(i.Answer) != ""
	missing := "Compute: 1 + 1" // which nobody asked for
	if n := wholeNumbers.FindAllString(i.Problem, -1); n != nil {
		missing = "Compute: " + n[0] + " + " + n[len(n)-1]
	}
	if i.Problem == missing {
		missing = strings.ReplaceAll(missing, "+", "-")
	}
	if d.quality == wrong {
		complete = !complete
	}
	status, reason, work := "ADDRESSED", "The answer gives it.", []string{}
	if !complete {
		status, reason, work = "MISSING", "The answer does not have it.", []string{missing}
	}
	requirement := object{
		{"requirement", "The result that the problem asks for."}, {"status", status}, {"reason", d.rambling(reason)},
	}
	return d.object(object{
		{"requirements", []object{requirement}}, {"complete", complete}, {"missing_work", work},
	}, status)
}

// An object is an answer that is a JSON object, with its fields in their order.
type object []member

type member struct {
	name  string
	value any
}

func (o object) String() string {
	var fields []string
	for _, m := range o {
		text := ""
		switch v := m.value.(type) {
		case object:
			text = v.String()
		case []object: // of which there is one
			text = "[" + v[0].String() + "]"
		default:
			text = jsonText(v)
		}
		fields = append(fields, jsonText(m.name)+": "+text)
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// object is an answer that is a JSON object, or that should have been one. gist is
// what it says in a word.
func (d *decision) object(o object, gist string) *answer {
	if d.quality != malformed {
		return say(o.String())
	}
	switch d.form % 3 {
	case 0:
		return say(string(d.chat(nil, "I would say "+strings.Trim(jsonText(gist), `"`)+", but judge for yourself.")))
	case 1: // a bracket that does not close
		text := o.String()
		return say(text[:len(text)-1])
	default: // a field by another name
		o[0].name = "result"
		return say(o.String())
	}
}

// rambling is a remark, and more of it if the answer is to be too long.
func (d *decision) rambling(remark string) string {
	if d.ramble == 0 {
		return remark
	}
	return strings.TrimSpace(remark + " " + strings.Repeat(waste, d.ramble*bytesPerToken/len(waste)+1))
}
