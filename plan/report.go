package plan

// A Report is the outcome of all checks, as "maker validate --json" prints it.
type Report struct {
	Passed bool     `json:"passed"`
	Checks []Result `json:"checks"`

	// Notes say what of the text was read in another way than it is written.
	Notes []string `json:"notes,omitempty"`
}

// Count is how many checks passed, and how many could not be judged.
func (r Report) Count() (passed, skipped int) {
	for _, c := range r.Checks {
		switch {
		case c.Skipped:
			skipped++
		case c.Passed:
			passed++
		}
	}
	return passed, skipped
}

// A Result is what one check says. A check that finds several things has one
// result for each.
type Result struct {
	Name    string `json:"name"`
	Passed  bool   `json:"passed"`
	Step    *int   `json:"step"` // nil if it is not about one step
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`

	// Skipped says that there was nothing to judge by, for example because the
	// text is not YAML. Such a check has not failed; the message has the reason.
	Skipped bool `json:"skipped,omitempty"`
}

// Validate reads a plan from YAML or JSON and checks it. The plan is nil if the
// text is none; it may be one that does not pass.
func Validate(text string, o Options) (*Plan, Report) {
	p, src, findings := read(text)
	if p == nil {
		return nil, newReport(findings, nil, "not checked: the text cannot be read")
	}
	c := newChecker(p, src, o)
	c.run()
	readable := len(findings) == 0
	findings = append(findings, c.findings...)
	sortFindings(findings)
	report := newReport(findings, c.skipped, "")
	report.Notes = src.notes
	if !readable {
		p = nil
	}
	return p, report
}

// newReport lists every check with what it found. A check without findings has
// passed, or was skipped for the reason given for it or for all of them.
func newReport(findings []Finding, skipped map[string]string, all string) Report {
	found := map[string][]Finding{}
	for _, f := range findings {
		found[f.Check] = append(found[f.Check], f)
	}
	r := Report{Passed: len(findings) == 0}
	for _, name := range Names() {
		for _, f := range found[name] {
			result := Result{Name: name, Line: f.Line, Message: f.Message}
			if f.Step != WholePlan {
				result.Step = &f.Step
			}
			r.Checks = append(r.Checks, result)
		}
		if len(found[name]) > 0 {
			continue
		}
		result := Result{Name: name, Passed: true, Message: "ok"}
		reason := all
		if reason == "" {
			reason = skipped[name]
		}
		if reason != "" {
			result.Skipped, result.Message = true, reason
		}
		r.Checks = append(r.Checks, result)
	}
	return r
}

// Findings returns what is wrong, in the order of the report.
func (r Report) Findings() []Finding {
	var findings []Finding
	for _, c := range r.Checks {
		if c.Passed {
			continue
		}
		f := Finding{Check: c.Name, Step: WholePlan, Line: c.Line, Message: c.Message}
		if c.Step != nil {
			f.Step = *c.Step
		}
		findings = append(findings, f)
	}
	return findings
}
