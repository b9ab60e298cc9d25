package ballot

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// A Judge says whether two texts that voters gave say the same. The verdict is decided
// if somebody was sure.
type Judge func(first, other string) (same bool, v *flow.Verdict, err error)

// errNoJudge says that answers cannot be compared by meaning here.
var errNoJudge = errors.New("ballot: nobody is there to compare answers by meaning")

// groups are the answers to a question that are compared by meaning. An answer joins the
// first group whose first member says the same; groups never merge.
type groups struct {
	keys  map[string]string // of the group, by the key of an answer
	first []firstMember

	open   int    // comparisons that came to nothing,
	inARow int    // since the last that did not,
	why    string // and why the last one did
}

// maxOpen is how many comparisons in a row may come to nothing before no more are made:
// whoever is asked cannot tell, and each takes several calls. From then on texts that are
// not the same to the letter are different.
const maxOpen = 3

type firstMember struct{ key, exact, texts string }

// regroup gives an answer the key of the group that it belongs to.
func (r *race) regroup(s *Sample, judge Judge) error {
	if r.q.Meaning == nil || s.Response == nil || s.Flag != nil || s.Work != nil && s.Work.Intent != nil {
		return nil
	}
	g := &r.groups
	if g.first == nil {
		for _, key := range r.q.Known {
			exact, texts := vote.Meaning(key, r.q.Meaning.Paths)
			g.first = append(g.first, firstMember{key, exact + numbersIn(texts), texts})
		}
	}
	key := s.Answer.Key
	if group, known := g.keys[key]; known {
		s.Answer.Key = group
		return nil
	}
	exact, texts := vote.Meaning(key, r.q.Meaning.Paths)
	exact += numbersIn(texts)
	group := key
	for _, m := range g.first {
		if m.exact != exact || texts == "" || g.inARow >= maxOpen {
			continue
		}
		if judge == nil {
			return errNoJudge
		}
		same, v, err := judge(m.texts, texts)
		if err != nil {
			return err
		}
		if v.CostUSD == nil {
			r.unpriced = true
		} else {
			r.cost = usage.AddUSD(r.cost, *v.CostUSD)
		}
		if g.inARow++; v.Status == flow.Decided {
			g.inARow = 0
		} else {
			g.open, g.why = g.open+1, v.Reason
			if v.Status == flow.Failed { // it was tried often enough for that
				g.inARow = maxOpen
			}
		}
		if same {
			group = m.key
			break
		}
	}
	if group == key {
		g.first = append(g.first, firstMember{key, exact, texts})
	}
	if g.keys == nil {
		g.keys = map[string]string{}
	}
	g.keys[key], s.Answer.Key = group, group
	return nil
}

// uncompared says that texts could not be compared, and why, if that is so.
func (r *race) uncompared() string {
	g := &r.groups
	if g.open == 0 {
		return ""
	}
	rest := ""
	if g.inARow >= maxOpen {
		rest = ", and no more were tried"
	}
	return fmt.Sprintf("; %s in %d comparisons by the cheap model%s; the last one: %s", event.Uncompared, g.open, rest, g.why)
}

// inText finds numbers in a text, ½, ² and ① among them. A sign belongs to one if it cannot
// be a hyphen.
var inText = regexp.MustCompile(`(?:(?:^|[\s(])[-−])?\p{N}+(?:[.,]\p{N}+)*`)

// grouped is a number with commas between thousands.
var grouped = regexp.MustCompile(`^-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?$`)

// numbersIn lists the numbers in the strings of a JSON value, each once: two texts that
// differ in these do not say the same, whatever a judge thinks.
func numbersIn(texts string) string {
	var value any
	if json.Unmarshal([]byte(texts), &value) != nil {
		return "" // there are none
	}
	var numbers []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			for _, n := range inText.FindAllString(v, -1) {
				n = strings.ReplaceAll(strings.TrimLeft(n, " \t\r\n("), "−", "-")
				if grouped.MatchString(n) {
					n = strings.ReplaceAll(n, ",", "")
				}
				numbers = append(numbers, n)
			}
		case []any:
			for _, part := range v {
				walk(part)
			}
		case map[string]any:
			for _, part := range v {
				walk(part)
			}
		}
	}
	walk(value)
	slices.Sort(numbers)
	return " " + strings.Join(slices.Compact(numbers), " ")
}
