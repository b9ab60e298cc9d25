package kind

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/engine/route"
	"github.com/maker-mdap/maker/internal/orchestrator/calibrate"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/prompts"
	"github.com/maker-mdap/maker/internal/text/table"
	"github.com/maker-mdap/maker/reader"
)

// itemsKind measures the voters with questions of the user's own.
var itemsKind = Kind{Name: CalibrateItems, Form: event.FormMeasurement, Settings: config.Items, RuleStays: true, job: itemsJob}

// CalibrateItems is its name.
const CalibrateItems = "calibrate-items"

// An Item is a question of the user's own, with its answer.
type Item = calibrate.Item

// ItemsParams are what a run is about, as its log has it.
type ItemsParams struct {
	Source string      `json:"source,omitempty"` // where the items are from, for people
	Items  []Item      `json:"items"`
	Answer flow.Format `json:"answer"` // a reader of package reader

	// Repeated are the items that were left out because another one asks the same.
	Repeated int `json:"repeated,omitempty"`
}

// Distinct leaves out items that ask what another one does: they tell nothing that it does
// not. Two answers to one question are an error. It is for a new run; one that was begun
// goes on with the items that it has.
func (p *ItemsParams) Distinct() error {
	as, err := reader.Of(p.Answer)
	if err != nil {
		return &config.Error{Field: "answer", Err: err}
	}
	type first struct {
		item Item
		want string
	}
	asked := map[string]first{}
	var items []Item
	var bad []error
	for _, item := range p.Items {
		question := strings.TrimSpace(item.Question)
		_, want, err := calibrate.Expect(as, item.Answer)
		before, again := asked[question]
		switch {
		case err != nil || question == "" || !again: // what is wrong with it is said with the others
			items = append(items, item)
			if err == nil {
				asked[question] = first{item, want}
			}
		case before.want != want:
			bad = append(bad, &table.LineError{Line: item.Line, Err: fmt.Errorf("the answer is %s, and to the same question on line %d it is %s", item.Answer, before.item.Line, before.item.Answer)})
		}
	}
	if len(bad) > 0 {
		return &config.Error{Field: "items", Err: table.Named(bad)}
	}
	p.Items, p.Repeated = items, len(p.Items)-len(items)
	return nil
}

func itemsJob(_ Env, _ string, params json.RawMessage, cfg config.Config) (*Job, error) {
	var p ItemsParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("maker: parameters of the run: %w", err)
	}
	as, err := reader.Of(p.Answer)
	if err != nil {
		return nil, &config.Error{Field: "answer", Err: err}
	}
	if err := checkItems(p.Items, as); err != nil {
		return nil, &config.Error{Field: "items", Err: err}
	}
	set, err := promptSet(cfg)
	if err != nil {
		return nil, err
	}
	how := cfg.Solve.Calibration
	measure := calibrate.Items{
		Items: p.Items, Repeated: p.Repeated, Reader: as, Most: how.Problems, Samples: how.Samples, Target: how.Target, Steps: how.Steps, MaxK: how.MaxK,
		Question: func(item Item) (*flow.Question, error) {
			q := &flow.Question{Terms: terms(cfg)}
			reader.Put(q, as)
			return q, set.Put(q, prompts.Ask{Question: item.Question, Instructions: reader.Instructions(as, prompts.MaxFramings)})
		},
	}
	j := &Job{Prompts: set, Task: fmt.Sprintf("Measure the voters with %d items", len(p.Items))}
	if p.Source != "" {
		j.Task += " of " + p.Source
	}
	names := cfg.VoterNames()
	for _, name := range names {
		v := calibrate.Voter{Name: name}
		if len(names) > 1 { // each of them is asked for by name
			v.Model = name
			j.Roles = append(j.Roles, name)
		}
		if _, v.Temperature, err = route.CutTemperature(name); err != nil {
			return nil, &config.Error{Field: "voters", Err: err}
		}
		measure.Voters = append(measure.Voters, v)
	}
	j.Run = func(f flow.Flow, _ chain.Checkpoint) error {
		measured, err := calibrate.RunItems(f, measure)
		if err != nil {
			return err
		}
		return endMeasured(f, measured)
	}
	return j, nil
}

// checkItems names the items that nobody could be asked or judged by.
func checkItems(items []Item, as reader.Reader) error {
	var bad []error
	for _, item := range items {
		_, _, err := calibrate.Expect(as, item.Answer)
		if strings.TrimSpace(item.Question) == "" {
			err = errors.New("the question is empty")
		}
		if err != nil {
			bad = append(bad, &table.LineError{Line: item.Line, Err: err})
		}
	}
	if len(items) == 0 {
		return errors.New("there are none")
	}
	return table.Named(bad)
}
