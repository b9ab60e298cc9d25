package server

import (
	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/runs"
	"github.com/maker-mdap/maker/vote"
)

// What requests and answers look like. The OpenAPI document is made from these.
type (
	// RunList is a part of the list of runs.
	RunList struct {
		Runs  []runs.Summary `json:"runs"`
		Total int            `json:"total"` // that were asked for
	}

	// RunView is a run as it stands.
	RunView struct {
		Summary     runs.Summary             `json:"summary"`
		Form        event.Form               `json:"form"`
		Rule        vote.Rule                `json:"rule"`
		Progress    *Progress                `json:"progress"`
		Waiting     []Question               `json:"waiting"`
		Certificate *runs.CertificateSummary `json:"certificate"`
		Config      config.Config            `json:"config"`
		Actions     []string                 `json:"actions"`    // that the caller may take now
		NextEvent   uint64                   `json:"next_event"` // the number of the one that will be logged next
	}

	// StepList is a part of the committed steps.
	StepList struct {
		Steps []runs.StepResult `json:"steps"`
		More  bool              `json:"more"`
	}

	// RecordList is a part of the records of a run of maker map.
	RecordList struct {
		Columns []string       `json:"columns"`
		Counts  map[string]int `json:"counts"` // by status, of all records
		Records []Record       `json:"records"`
		Total   int            `json:"total"` // that were asked for
	}

	// EffectList are the calls that won a vote.
	EffectList struct {
		Effects []runs.EffectResult `json:"effects"`
	}

	// QuestionList are all questions that a run has asked people.
	QuestionList struct {
		Questions []Question `json:"questions"`
	}

	// Shape is how the parts of a run hang together.
	Shape struct {
		Form  event.Form `json:"form"`
		Nodes []*Node    `json:"nodes"`
	}

	// KindList are the kinds of run that can be started.
	KindList struct {
		Kinds []KindInfo `json:"kinds"`
	}

	// StartedRun is a run that was started, and the command line that does the same.
	StartedRun struct {
		Run     runs.Summary `json:"run"`
		Command string       `json:"command"`
	}

	// Preview is the command line that does what an order asks for.
	Preview struct {
		Command string `json:"command"`
	}

	// MeHere is who asks, and where.
	MeHere struct {
		Me
		Version string `json:"version"`
		LogDir  string `json:"log_dir"`
	}

	// Health is how the server does.
	Health struct {
		Status string `json:"status"`
	}

	givenAnswer struct {
		Question string `json:"question,omitempty"` // its key; it may be left out if there is one only
		Answer   string `json:"answer"`
		Replace  bool   `json:"replace,omitempty"` // an answer that was given before and not taken yet
	}
)
