package planner

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/plan"
	"github.com/maker-mdap/maker/redflag"
)

// A Language is one that plans are written in, other than that of package plan. One planner
// writes them, and is told what is wrong with them.
type Language struct {
	Name string // for people

	System prompts.Data
	User   func(prompts.PlannerUser) prompts.Data

	// Check is what is wrong with a plan, and which tools and models it names.
	Check func(text string) (flow.Wanted, []event.Check)
}

// called is what people call a plan in the language, nil included.
func (l *Language) called() string {
	if l == nil {
		return "plan"
	}
	return l.Name
}

// DraftReader reads a plan in another language: what stands in a fence, or the whole answer.
const DraftReader = "draft"

type draftReader struct{}

// Read implements [domain.Reader]. Drafts agree if they are the same text.
func (draftReader) Read(text string) (domain.Answer, *redflag.Flag) {
	text = unfenced(text)
	if text == "" {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "there is nothing in it")
	}
	value, err := json.Marshal(Draft{Plan: text})
	if err != nil {
		return domain.Answer{}, redflag.New(redflag.SchemaInvalid, "%v", err)
	}
	return domain.Answer{Value: value, Key: text}, nil
}

const fence = "```"

// unfenced is the longest of the texts in fences, or the text if there is none. It ends with a
// line end, unless there is nothing.
func unfenced(text string) string {
	longest := ""
	fenced := false
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, fence)
		if !ok {
			break
		}
		inside, more, closed := strings.Cut(after, "\n"+fence)
		_, code, _ := strings.Cut(inside, "\n") // after the name of the language
		if fenced = fenced || closed || code != ""; len(code) > len(longest) {
			longest = code
		}
		if !closed {
			break
		}
		rest = more
	}
	if fenced {
		text = longest
	}
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return text + "\n"
}

// languageChecks are what is wrong with a plan in another language.
func (v *Validator) languageChecks(f flow.Flow, key, text string) ([]event.Check, error) {
	wanted, problems := v.config.Language.Check(text)
	if len(problems) > 0 {
		return problems, nil
	}
	usable, err := flow.Usable(f, key+"/usable", wanted)
	if err != nil {
		return nil, err
	}
	for _, of := range []map[string]string{usable.Tools, usable.Models} {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			problems = append(problems, event.Check{Name: plan.CheckToolsAreValid, Message: of[name]})
		}
	}
	return problems, nil
}

// checkLanguage checks a plan in another language.
func (v *Validator) checkLanguage(f flow.Flow, e event.PlanCreated, yield func(string, event.Event) bool) {
	key := attemptKey(e.Replan, e.Attempt)
	problems, err := v.languageChecks(f, key, e.Plan.Text())
	switch {
	case err != nil: // the run is over; the pipeline knows why
	case len(problems) > 0:
		v.reject(key, event.ValidationFailed{Attempt: e.Attempt, Replan: e.Replan, Checks: problems}, yield)
	default:
		yield(key+"/validated", event.ValidationPassed{Plan: e.Plan, Attempt: e.Attempt, Replan: e.Replan})
	}
}
