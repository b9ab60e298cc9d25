package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
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
	Facts     []string   `json:"facts"`
	Notes     []string   `json:"notes"`
	Work      string     `json:"work"`
	Mistake   string     `json:"known_problem"`

	known problem.Problem // what the problem comes to; nil if it is of an unknown kind
}

type solvedPart struct {
	Problem  string `json:"problem"`
	Solution string `json:"solution"`
}

const inquiryLine = "{\"ask\":\""

// readInquiry returns what a prompt asks of a voter, or nil if that is nothing.
func readInquiry(prompt string) *inquiry {
	at := 0
	if strings.Contains(prompt, "\n"+inquiryLine) { // which is much faster than LastIndex
		at = strings.LastIndex(prompt, "\n"+inquiryLine) + 1
	} else if !strings.HasPrefix(prompt, inquiryLine) {
		return nil
	}
	line, _, _ := strings.Cut(prompt[at:], "\n")
	i := new(inquiry)
	if json.Unmarshal([]byte(line), i) != nil {
		return nil
	}
	i.known = problem.Read(i.Problem)
	return i
}

// hash stands for what is asked: all of the input, but for the words of a problem that
// it could read, and for the order of options and facts and the names of options, which
// are others for each voter.
func (i *inquiry) hash() uint64 {
	h, text := hash(i.Ask), i.Problem
	if i.known != nil {
		text = i.known.String()
	}
	for _, text := range [...]string{text, i.Compose, i.A.Problem, i.A.Solution, i.B.Problem, i.B.Solution, i.Answer, strconv.FormatBool(i.MustSplit)} {
		h = mix(h ^ hash(text))
	}
	for n, text := range [...]string{i.Work, i.Mistake} {
		if text != "" {
			h = mix(h + uint64(n+1)*golden ^ hash(text))
		}
	}
	for o := range i.Options {
		h += hash(i.Options[o].content())
	}
	for n, list := range [...][]string{i.Facts, i.Notes} {
		for _, text := range list {
			h += mix(hash(text) + uint64(n)*golden)
		}
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

// decompose says how to split a problem, or that it is small enough.
func (d *decision) decompose(i *inquiry) *answer {
	p := i.known
	if p == nil {
		return nil
	}
	s, ok := p.Split(i.MustSplit)
	if d.quality == wrong {
		if !ok {
			if s, ok = p.Split(true); !ok {
				s = problem.Split{A: p.String(), B: "Compute: 0", How: "a + b"} // which is no split
			}
		}
		s, ok = problem.Spoil(p, s, slipOf(d)), true
	}
	gist, rationale := "to split it in two", "Both parts are simpler."
	if !ok {
		gist, rationale = "it is small enough", "It is one operation."
	}
	return d.object(gist, `{"subproblem_a": %v, "subproblem_b": %v, "compose_fn": %v, "is_atomic": %v, "rationale": %v}`,
		s.A, s.B, s.How, !ok, d.rambling(rationale))
}

// An option is a split that others proposed.
type option struct {
	Label    string `json:"label"`
	IsAtomic bool   `json:"is_atomic"`
	PartA    string `json:"subproblem_a"`
	PartB    string `json:"subproblem_b"`
	Compose  string `json:"compose_fn"`
}

// pick chooses among options by what they say, never by where they stand or what
// they are called.
func (d *decision) pick(i *inquiry) *answer {
	if len(i.Options) == 0 {
		return d.object("none", `{"pick": %v, "reason": %v}`, "", "There is nothing to choose from.")
	}
	p := i.known
	options := slices.Clone(i.Options)
	slices.SortStableFunc(options, func(a, b option) int {
		return cmp.Or(cmp.Compare(a.rate(p), b.rate(p)), strings.Compare(a.content(), b.content()))
	})
	chosen := options[0]
	if others := options[1:]; d.quality == wrong && len(others) > 0 {
		chosen = others[slipOf(d).Among(len(others))]
	}
	return d.object(chosen.Label, `{"pick": %v, "reason": %v}`, chosen.Label, d.rambling("Its parts give the whole."))
}

// content is an option without its label.
func (o *option) content() string {
	return strings.Join([]string{strconv.FormatBool(o.IsAtomic), o.PartA, o.PartB, o.Compose}, "\n")
}

// rate says how much work an option leaves to be done in its larger part, the less
// the better; of one that is not sound, more than there is.
func (o *option) rate(p problem.Problem) int {
	const unsound = 1 << 40
	if p == nil {
		return 0 // all the same
	}
	if o.IsAtomic {
		if p.Operations() > 1 {
			return unsound
		}
		return 0
	}
	want, ok := p.Solution(nil)
	a, b := problem.Read(o.PartA), problem.Read(o.PartB)
	if !ok || a == nil || b == nil || a.String() == p.String() || b.String() == p.String() {
		return unsound
	}
	x, _ := a.Solution(nil)
	y, _ := b.Solution(nil)
	if together := problem.Together(o.Compose, x, y); together != nil {
		if got, _ := together.Solution(nil); got == want {
			return max(a.Operations(), b.Operations())
		}
	}
	return unsound
}

// solve answers a problem as it is. The more operations that takes, the less
// likely it is to go well.
func (d *decision) solve(i *inquiry) *answer {
	p := i.known
	if p == nil {
		return nil
	}
	work := "It is one operation."
	if n := p.Operations(); n > 1 {
		work = "It took " + strconv.Itoa(n) + " operations, one after another."
	}
	return d.workOut(i, p, work)
}

// workOut is the answer with the solution of a problem.
func (d *decision) workOut(i *inquiry, p problem.Problem, work string) *answer {
	solution, ok := p.Solution(d.slips(p.Operations()))
	if !ok {
		return d.solution(i, dividesByZero, 0.1, "") // which does not deserve to be counted
	}
	return d.solution(i, solution, sure, work)
}

// sure is how confident answers are. That does not tell right from wrong.
const sure = 0.9

// compose makes a solution from those of two parts, which it takes as they are.
func (d *decision) compose(i *inquiry) *answer {
	a, b := i.A.Solution, i.B.Solution
	switch p := problem.Together(i.Compose, a, b); {
	case strings.TrimSpace(b) == "": // only an answer that was wrong
		return d.solve(i)
	case i.A.Problem == i.Problem: // an answer, and what nobody asked for
		if d.quality != wrong {
			return d.solution(i, a, sure, "The answer has what is asked for.")
		}
		if p := problem.Together("add", a, b); p != nil {
			b, _ = p.Solution(nil)
		}
		return d.solution(i, b, sure, "The answer has what is asked for.")
	case p != nil:
		return d.workOut(i, p, "I put both results together.")
	case d.quality == wrong: // one of two texts is lost
		return d.solution(i, a, sure, "I put both results together.")
	}
	return d.solution(i, a+"; "+b, sure, "I put both results together.")
}

// solution is the answer to a question for a solution, or for the final answer.
func (d *decision) solution(i *inquiry, text string, confidence float64, work string) *answer {
	if i.Ask == "answer" {
		return d.object(text, `{"answer": %v, "confidence": %v, "support": {"summary": %v, "equations": [], "points": []}}`, text, confidence, d.rambling(work))
	}
	return d.object(text, `{"solution": %v, "confidence": %v, "work_shown": %v}`, text, confidence, d.rambling(work))
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
	return d.object(status, `{"requirements": [{"requirement": "The result that the problem asks for.", "status": %v, "reason": %v}], "complete": %v, "missing_work": %v}`,
		status, d.rambling(reason), complete, work)
}

// object is an answer that is a JSON object with some values, or that should have been
// one. gist is what it says in a word.
func (d *decision) object(gist, format string, values ...any) *answer {
	for i, v := range values {
		values[i] = jsonText(v)
	}
	text := fmt.Sprintf(format, values...)
	switch {
	case d.quality != malformed:
		return say(text)
	case d.form%3 == 0:
		return say(string(d.chat(nil, "I would say "+strings.Trim(jsonText(gist), `"`)+", but judge for yourself.")))
	case d.form%3 == 1: // a bracket that does not close
		return say(text[:len(text)-1])
	}
	_, rest, _ := strings.Cut(text, `": `)
	return say(`{"result": ` + rest) // a field by another name
}

// rambling is a remark, and more of it if the answer is to be too long.
func (d *decision) rambling(remark string) string {
	if d.ramble == 0 {
		return remark
	}
	return strings.TrimSpace(remark + " " + strings.Repeat(waste, d.ramble*bytesPerToken/len(waste)+1))
}

// slipOf is the mistake of a wrong answer.
func slipOf(d *decision) problem.Slip { return problem.Slip{Step: d.step >> 8, Rival: d.rival} }

// slips are the mistakes in an answer that takes several operations, each of which
// goes wrong with the chance that one of them has: the first by the decision
// itself, the others by draws of their own. All but the first count as many times
// as the load says, since they are done in one go.
func (d *decision) slips(operations int) []problem.Slip {
	var all []problem.Slip
	if d.quality == wrong {
		all = append(all, slipOf(d))
	}
	draws := d.more
	for i := range min(int(d.load*float64(operations-1)+0.5), maxOperations) {
		luck, rival := draws.float(), draws.below(d.rivals)
		if luck >= d.p && len(all) < maxSlips {
			all = append(all, problem.Slip{Step: mix(d.step+uint64(i+1)*golden) >> 8, Rival: rival})
		}
	}
	return all
}

const (
	maxOperations = 100_000 // nobody gets that far
	maxSlips      = 32      // more make no difference
)
