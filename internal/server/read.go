package server

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/change"
	"github.com/maker-mdap/maker/internal/runtime/approval"
	"github.com/maker-mdap/maker/runs"
)

// mostListed is how many of anything one answer has.
const mostListed = 1000

func (s *Server) listRuns(w http.ResponseWriter, r *http.Request) error {
	from, limit := 0, 100
	if err := numbers(r, map[string]*int{"from": &from, "limit": &limit}); err != nil {
		return err
	}
	var states []string
	if text := r.URL.Query().Get("state"); text != "" {
		states = strings.Split(text, ",")
	}
	for _, state := range states {
		if !slices.Contains(runs.States(), state) {
			return problemf(http.StatusBadRequest, "state", "there is no state %q; want one of %s", state, joined(runs.States()))
		}
	}
	all, err := s.list.all()
	if err != nil {
		return err
	}
	caller, words := s.o.Caller(r.Context()), strings.Fields(strings.ToLower(r.URL.Query().Get("q")))
	all = slices.DeleteFunc(all, func(one runs.Summary) bool {
		return !maySee(caller, one) || len(states) > 0 && !slices.Contains(states, one.State) || !matches(words, one.Run, one.Kind, one.Task, one.Model, one.Owner)
	})
	total := len(all)
	all = all[min(from, total):]
	all = all[:min(limit, mostListed, len(all))]
	for i := range all {
		all[i] = brief(all[i])
	}
	return give(w, http.StatusOK, RunList{all, total})
}

// maySee reports whether a run is there for a caller. Whose an unreadable one is nobody knows.
func maySee(c Caller, one runs.Summary) bool {
	if one.State == runs.StatusUnreadable {
		return c.MaySeeAll()
	}
	return c.MaySee(one.Owner)
}

// matches reports whether all words are in some of the texts.
func matches(words []string, texts ...string) bool {
	for _, word := range words {
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), word) }) {
			return false
		}
	}
	return true
}

// A Progress is where a run stands, over all of its sessions: what has been committed, and of a
// run that goes on here what is under way too.
type Progress struct {
	Steps      int          `json:"steps"`
	Total      int          `json:"total"`
	Rate       float64      `json:"steps_per_second"` // lately, without the time in which a person was waited for
	LeftMS     *int64       `json:"left_ms"`          // if it goes on like this
	ElapsedMS  int64        `json:"elapsed_ms"`
	Samples    int          `json:"samples"`
	Contested  int          `json:"contested"`
	RedFlagged int          `json:"red_flagged"`
	Faults     int          `json:"faults"`
	Calls      int64        `json:"calls"`
	Tokens     int64        `json:"tokens"`
	CostUSD    *float64     `json:"cost_usd"`
	Limits     Limits       `json:"limits"`
	Trouble    string       `json:"trouble,omitempty"`
	Servers    []ServerLoad `json:"servers,omitempty"`
	Deciding   int          `json:"deciding"`
	Here       bool         `json:"here"` // it goes on in this process, so that what is under way is known too
}

// Limits are what a run may spend; 0 is no limit.
type Limits struct {
	USD    float64 `json:"usd,omitempty"`
	Tokens int64   `json:"tokens,omitempty"`
	Calls  int64   `json:"calls,omitempty"`
	TimeMS int64   `json:"time_ms,omitempty"`
}

// A ServerLoad is how a provider does.
type ServerLoad struct {
	Provider  string `json:"provider"`
	Limit     int    `json:"limit"`
	InFlight  int    `json:"in_flight"`
	Waiting   int    `json:"waiting"`
	Failing   bool   `json:"failing,omitempty"`
	LastError string `json:"last_error,omitempty"`
}

func (s *Server) progress(run *runs.Run, sum runs.Summary) (*Progress, error) {
	tally := s.tally(run)
	told, err := tally.Progress()
	if err != nil {
		return nil, err
	}
	p := &Progress{
		Steps: told.Steps, Total: told.Total, CostUSD: sum.CostUSD, ElapsedMS: told.Elapsed.Milliseconds(),
		Samples: told.Samples, Contested: told.Contested, RedFlagged: told.RedFlagged, Faults: told.Faults, Calls: told.Spent.Calls, Tokens: told.Spent.Tokens.Total(),
	}
	if cfg, err := run.Config(); err == nil {
		p.Limits = Limits{cfg.MaxUSD, cfg.MaxTokens, cfg.MaxCalls, cfg.Deadline.Milliseconds()}
	}
	lately := 0
	if here, before := s.doing(run.ID()); here != nil && here.Dir() == run.Dir() {
		now := here.Progress()
		p.Here, p.Steps, p.Total, p.ElapsedMS = true, max(now.Steps, told.Steps), max(now.Total, told.Total), now.Elapsed.Milliseconds()
		// What has not been committed yet counts here.
		p.Samples, p.RedFlagged, p.Faults = max(before.Samples+now.Samples, p.Samples), max(before.RedFlagged+now.RedFlagged, p.RedFlagged), max(before.Faults+now.Faults, p.Faults)
		p.Calls, p.Tokens, p.Trouble, p.Deciding = now.Spent.Calls, now.Spent.Tokens.Total(), now.Trouble, now.Deciding
		for _, l := range now.Servers {
			p.Servers = append(p.Servers, ServerLoad{l.Provider, l.Limit, l.InFlight, l.Waiting, l.Failing, l.LastError})
		}
		lately = max(now.Session, 1) // before that nobody worked on it for a while
	}
	if sum.State == event.StatusRunning || sum.State == event.StopWaiting {
		p.Rate, _ = tally.Pace(lately) // what is not known is 0
		if left := p.Total - p.Steps; p.Rate > 0 && left > 0 && sum.State == event.StatusRunning {
			ms := int64(float64(left) / p.Rate * float64(time.Second/time.Millisecond))
			p.LeftMS = &ms
		}
	}
	return p, nil
}

// A Question is something that only a person can say, with what a call would do.
type Question struct {
	runs.Asked
	Change *change.Change `json:"change,omitempty"` // of the file that the call is about
	Rule   string         `json:"rule,omitempty"`   // that lets calls like this one pass, if there is one
	Left   string         `json:"left,omitempty"`   // the answer that was given, and that the run has not taken yet
}

// question is one that a person is to be shown.
func (s *Server) question(run *runs.Run, q runs.Asked) Question {
	out := Question{Asked: q}
	if q.Call == nil || q.Answered {
		return out
	}
	if c, ok := change.Of(q.Call, q.Folder); ok {
		c.Diff = s.o.Redact(c.Diff)
		out.Change = &c
	}
	if rule, ok := (&approval.Policy{Workspace: q.Folder}).Suggest(*q.Call); ok && q.Kind == event.ClarifyApproval {
		out.Rule = rule
	}
	return out
}

// waiting are the questions that a run waits for.
func (s *Server) waiting(run *runs.Run) ([]Question, error) {
	list := []Question{}
	if run.Form().Alone() { // which ask no person
		return list, nil
	}
	open, err := run.Waiting()
	if err != nil {
		return nil, err
	}
	for _, q := range open {
		shown := s.question(run, runs.Asked{Question: q})
		if shown.Left, _, err = run.Left(q.Key); err != nil {
			return nil, err
		}
		list = append(list, shown)
	}
	return list, nil
}

func (s *Server) getRun(w http.ResponseWriter, r *http.Request, run *runs.Run) error {
	sum := named(runs.Summarize(run.Dir()))
	open, err := s.waiting(run)
	if err != nil {
		return err
	}
	cfg, err := run.Config()
	if err != nil {
		return err
	}
	next, err := run.Next()
	if err != nil {
		return err
	}
	progress, err := s.progress(run, sum)
	if err != nil {
		return err
	}
	sum.Total = progress.Total
	return give(w, http.StatusOK, RunView{sum, run.Form(), cfg.Voting, progress, open, certified(run, sum), cfg, s.actions(r, run, sum), next})
}

// certified is what a run that has ended proved, in short, as it was written down then: to find
// out anew takes long in a long run.
func certified(run *runs.Run, sum runs.Summary) *runs.CertificateSummary {
	if sum.Status == event.StatusRunning {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(run.Dir(), runs.ResultFile))
	if err != nil {
		return nil
	}
	var stored struct {
		Certificate *runs.CertificateSummary `json:"certificate"`
	}
	_ = json.Unmarshal(data, &stored) // a damaged one says nothing
	return stored.Certificate
}

// actions are what the caller may do with a run as it stands.
func (s *Server) actions(r *http.Request, run *runs.Run, sum runs.Summary) []string {
	c, list := s.o.Caller(r.Context()), []string{}
	if sum.State == event.StopWaiting && c.MayAnswer() {
		list = append(list, "answer")
	}
	if !c.MayWrite() {
		return list
	}
	if sum.Status == event.StatusRunning {
		return append(list, "pause", "cancel")
	}
	switch sum.State {
	case event.StatusCompleted:
	case event.StatusFailed:
		if ahead, err := run.Outlook(); err != nil || ahead.Further {
			list = append(list, "resume")
		}
	case event.StopCancelled:
		list = append(list, "resume")
	default:
		list = append(list, "resume", "cancel")
	}
	return append(list, "delete")
}

func (s *Server) getStrip(w http.ResponseWriter, r *http.Request, run *runs.Run) error {
	var o runs.StripOptions
	if err := numbers(r, map[string]*int{"from": &o.From, "to": &o.To, "width": &o.Width}); err != nil {
		return err
	}
	strip, err := run.Strip(&o)
	if err != nil {
		return err
	}
	return give(w, http.StatusOK, strip)
}

func (s *Server) listSteps(w http.ResponseWriter, r *http.Request, run *runs.Run) error {
	var o runs.StepOptions
	limit := 100
	err := numbers(r, map[string]*int{"from": &o.From, "to": &o.To, "limit": &limit})
	if err == nil {
		o.Contested, err = truth(r, "contested")
	}
	var order string
	if err == nil {
		order, err = oneOf(r, "order", "step", "margin")
	}
	if err != nil {
		return err
	}
	limit = min(max(limit, 1), mostListed)
	o.Closest, o.Limit = order == "margin", limit+1
	answer := StepList{Steps: []runs.StepResult{}}
	for step, err := range run.Steps(&o) {
		if err != nil {
			return err
		}
		if len(answer.Steps) == limit {
			answer.More = true
			break
		}
		answer.Steps = append(answer.Steps, step.Result())
	}
	return give(w, http.StatusOK, answer)
}

func (s *Server) getStep(w http.ResponseWriter, r *http.Request, run *runs.Run) error {
	n, err := strconv.Atoi(r.PathValue("step"))
	if err != nil || n < 0 {
		return problemf(http.StatusNotFound, "step", "there is no step %q", r.PathValue("step"))
	}
	d, err := run.Detail(n, s.o.Families...)
	if err != nil {
		return err
	}
	return give(w, http.StatusOK, d)
}

// A Record is a row of a run of maker map.
type Record struct {
	Number  int            `json:"number"`
	Line    int            `json:"line"`
	Values  map[string]any `json:"values"`
	Status  string         `json:"status"` // open if it was not asked about yet
	Reason  string         `json:"reason,omitempty"`
	Output  event.Value    `json:"output"`
	Voting  event.Voting   `json:"voting"`
	CostUSD *float64       `json:"cost_usd"`
	Right   *bool          `json:"right,omitempty"`
	Same    bool           `json:"same,omitempty"`
}

func (s *Server) listRecords(w http.ResponseWriter, r *http.Request, run *runs.Run) error {
	if run.Form() != event.FormRecords {
		return problemf(http.StatusConflict, "", "%s is about no records", run.ID())
	}
	from, limit := 0, 100
	if err := numbers(r, map[string]*int{"from": &from, "limit": &limit}); err != nil {
		return err
	}
	limit = min(max(limit, 1), mostListed)
	p, err := run.RecordParams()
	if err != nil {
		return err
	}
	status, words := r.URL.Query().Get("status"), strings.Fields(strings.ToLower(r.URL.Query().Get("q")))
	answer := RecordList{p.Columns, map[string]int{}, []Record{}, 0}
	for one, err := range run.Records() {
		if err != nil {
			return err
		}
		row := Record{one.Number, one.Line, one.Values, one.Status, one.Reason, one.Output, one.Voting, one.CostUSD, one.Right, one.Same}
		if row.Status == "" {
			row.Status = "open"
		}
		answer.Counts[row.Status]++
		if status != "" && row.Status != status || len(words) > 0 && !rowMatches(words, row) {
			continue
		}
		if answer.Total++; answer.Total > from && len(answer.Records) < limit {
			answer.Records = append(answer.Records, row)
		}
	}
	return give(w, http.StatusOK, answer)
}

func rowMatches(words []string, row Record) bool {
	values, _ := json.Marshal(row.Values) // it came from JSON
	return matches(words, string(values), string(row.Output.JSON), row.Reason)
}

func (s *Server) listEffects(w http.ResponseWriter, _ *http.Request, run *runs.Run) error {
	result, err := run.Result()
	if err != nil {
		return err
	}
	list := result.Effects
	if list == nil {
		list = []runs.EffectResult{}
	}
	return give(w, http.StatusOK, EffectList{list})
}

func (s *Server) listQuestions(w http.ResponseWriter, _ *http.Request, run *runs.Run) error {
	asked, err := run.Questions()
	if err != nil {
		return err
	}
	list := []Question{}
	for _, q := range asked {
		list = append(list, s.question(run, q))
	}
	return give(w, http.StatusOK, QuestionList{list})
}

func (s *Server) getResult(w http.ResponseWriter, _ *http.Request, run *runs.Run) error {
	result, err := run.Result()
	if err != nil {
		return err
	}
	return give(w, http.StatusOK, result)
}

func (s *Server) getReplay(w http.ResponseWriter, _ *http.Request, run *runs.Run) error {
	replay, err := run.Replay(&runs.ReplayOptions{Families: s.o.Families})
	if err != nil {
		return err
	}
	return give(w, http.StatusOK, replay)
}

func (s *Server) getValue(w http.ResponseWriter, r *http.Request, run *runs.Run) error {
	hash := r.PathValue("hash")
	missing := problemf(http.StatusNotFound, "hash", "the run has no value %q", hash)
	if len(hash) != 64 || strings.Trim(hash, "0123456789abcdef") != "" {
		return missing
	}
	v, err := run.Load(event.Value{Ref: &event.Ref{SHA256: hash}})
	if errors.Is(err, os.ErrNotExist) {
		return missing
	}
	if err != nil {
		return err
	}
	return give(w, http.StatusOK, v.JSON)
}
