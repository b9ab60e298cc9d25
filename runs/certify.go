package runs

import (
	"github.com/maker-mdap/maker/domain"
	"github.com/maker-mdap/maker/domain/hanoi"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/certificate"
	"github.com/maker-mdap/maker/internal/runtime/history"
	"github.com/maker-mdap/maker/vote/adaptive"
)

// What a run proved.
type (
	// A Certificate says what the votes of a run prove, and what is known about the truth.
	Certificate = certificate.Certificate

	// A CertificateSummary is its short form.
	CertificateSummary = certificate.Summary
)

// laterFields are the names of fields that the results of early releases do not have.
var laterFields = []string{"certificate", "unsettled", "contested_questions"}

// Certify says what the run has proved so far. It reads the whole log, asks no model, and
// is welcome while the run goes on.
func (r *Run) Certify() (*Certificate, error) {
	_, written := r.Writer()
	report, sum, err := history.ReadEvidence(r.dir)
	if err != nil {
		return nil, err
	}
	c := report.Evidence.Certify(report.Truth(checksOf(report)))
	c.Run, c.Task, c.Status, c.LogHash = report.Run, report.Task, newResult(report, written).Status, sum
	return c, nil
}

// Learnt is what the run has learnt about how hard classes of questions are, and who was
// asked: for another run that asks the same voters.
func (r *Run) Learnt() (learnt map[string]adaptive.Learnt, model string, err error) {
	report, _, err := history.ReadEvidence(r.dir)
	if err != nil {
		return nil, "", err
	}
	return report.Evidence.Learnt(), report.Model, nil
}

// ChecksOf is what the checks of a chain are worth, as in [event.TaskSubmitted].
func ChecksOf(c domain.Chain) string {
	checker, ok := c.(domain.Checker)
	if !ok {
		return ""
	}
	switch steps, last := checker.Checks(); {
	case steps:
		return event.ChecksSteps
	case last:
		return event.ChecksLast
	}
	return ""
}

// checksOf is what the checks of a run are worth whose log does not say so.
func checksOf(p *history.Report) string {
	if c := chainOf([]domain.Family{hanoi.Family()}, p.Kind, p.Params); c != nil {
		return ChecksOf(c)
	}
	return ""
}
