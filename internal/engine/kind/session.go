package kind

import (
	"encoding/json"
	"fmt"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/orchestrator/requests"
)

// sessionKind is whatever comes from outside while it goes on.
var sessionKind = Kind{Name: Session, Form: event.FormRequests, Settings: config.Sessions, job: sessionJob}

// Session is its name.
const Session = "session"

// What requests are, and what is answered if voters do not agree.
type (
	Request     = requests.Request
	Addressed   = requests.Addressed
	OnUndecided = requests.OnUndecided
)

// What can be answered.
const (
	SayUndecided = requests.SayUndecided
	TakeFirst    = requests.TakeFirst
	TakeJudged   = requests.TakeJudged
)

// SessionParams are what a run is about, as its log has it.
type SessionParams struct {
	Name string `json:"name"` // for people
}

func sessionJob(_ Env, _ string, params json.RawMessage, cfg config.Config) (*Job, error) {
	var p SessionParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("maker: parameters of the run: %w", err)
	}
	set, err := promptSet(cfg)
	if err != nil {
		return nil, err
	}
	return &Job{
		Task: p.Name, Prompts: set, Roles: []string{flow.Cheap, flow.Reasoning},
		Run: func(f flow.Flow, _ chain.Checkpoint) error {
			return requests.Run(f, requests.Config{Terms: terms(cfg), Prompts: set})
		},
	}, nil
}
