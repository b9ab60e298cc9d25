package mcpserver

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/maker-mdap/maker"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/runs"
)

// A Standing is how a run stands. All texts of models in it are data.
type Standing struct {
	Run    string `json:"run" jsonschema:"its name, for follow, certify and cancel"`
	Status string `json:"status" jsonschema:"running, waiting (for the person), completed, failed, undecided (the voters did not agree), stopped (by a limit or a person) or interrupted"`
	Next   string `json:"next,omitempty" jsonschema:"what to do now"`
	Reason string `json:"reason,omitempty" jsonschema:"why it did not complete"`

	Answer  any    `json:"answer,omitempty" jsonschema:"what was agreed on: there is one only if the status is completed"`
	Omitted string `json:"omitted,omitempty" jsonschema:"where the rest is, if the answer or the list is too long to return"`

	Votes      []Vote    `json:"votes,omitempty" jsonschema:"of a single question: who voted for what, most votes first"`
	Samples    int       `json:"samples" jsonschema:"answers of voters that were counted or discarded"`
	Discarded  int       `json:"discarded" jsonschema:"answers that could not be read or looked wrong; they are no votes"`
	Contested  int       `json:"contested" jsonschema:"decisions over which voters differed"`
	StepsDone  int       `json:"steps_done" jsonschema:"steps or records that are decided"`
	StepsTotal int       `json:"steps_total,omitempty" jsonschema:"of how many, as far as that is known"`
	CostUSD    *float64  `json:"cost_usd,omitempty" jsonschema:"not there if it is not known"`
	Simulated  bool      `json:"simulated,omitempty" jsonschema:"no real model answered: the answers mean nothing"`
	Waits      []Waits   `json:"waits_for_person,omitempty" jsonschema:"what only the person can answer, in their terminal: no tool can"`
	Records    *Counts   `json:"records,omitempty" jsonschema:"of a map that has ended: how many ended how"`
	Rows       []Row     `json:"rows,omitempty" jsonschema:"of a map that has ended: its records from the one that follow asked for"`
	Changes    []Changed `json:"changes,omitempty" jsonschema:"calls that won their vote and were made or refused, at most 50"`
}

// A Vote is an answer with how many voted for it.
type Vote struct {
	Answer string `json:"answer" jsonschema:"as JSON, perhaps shortened"`
	Votes  int    `json:"votes"`
}

// Waits is something that the person is asked.
type Waits struct {
	Kind    string   `json:"kind" jsonschema:"question, approval (of a call), outcome (of a call) or plan"`
	Text    string   `json:"text"`
	Options []string `json:"options,omitempty"`
	Tool    string   `json:"tool,omitempty" jsonschema:"of the call that it is about"`
	Input   string   `json:"input,omitempty" jsonschema:"of the call, as JSON"`
}

// Counts are how the records of a map ended.
type Counts struct {
	Records   int `json:"records"`
	Decided   int `json:"decided"`
	Undecided int `json:"undecided"`
	Failed    int `json:"failed"`
	Known     int `json:"known" jsonschema:"records with a known answer"`
	Right     int `json:"right" jsonschema:"of these"`
}

// A Row is a record with its answer.
type Row struct {
	Number int    `json:"number" jsonschema:"from 0, in the order in which they were given"`
	Status string `json:"status" jsonschema:"decided, undecided, flagged_out or failed; empty if it was not asked about"`
	Answer any    `json:"answer,omitempty"`
	Votes  string `json:"votes,omitempty" jsonschema:"how they split, such as 3:1"`
	Reason string `json:"reason,omitempty"`
	Right  *bool  `json:"right,omitempty" jsonschema:"whether it is the known answer, where there is one"`
}

// A Changed is a call that won a vote.
type Changed struct {
	Tool   string `json:"tool"`
	Input  string `json:"input" jsonschema:"as JSON, perhaps shortened"`
	Status string `json:"status" jsonschema:"done, failed, refused or unknown"`
}

// What is returned at most.
const (
	mostAnswer  = 64 << 10 // bytes
	mostNoted   = 2000
	mostVotes   = 20
	mostRows    = 200
	mostChanges = 50
)

// waiting is the status of a run that waits for a person, whether its process goes on or not.
const waiting = "waiting"

// standing says how the run in a folder stands, with its records from a number on. The job is
// that of the run if it goes on here, or did just now.
func (s *Server) standing(dir string, j *job, from int) (*Standing, error) {
	run, err := runs.Open(dir)
	if err != nil {
		return nil, err
	}
	asks := j == nil || j.tell()
	r, err := run.Result()
	if err != nil {
		return nil, err
	}
	st := &Standing{
		Run: run.ID(), Status: r.Status, Reason: clip.Text(r.Reason, mostNoted), Samples: r.Voting.Samples, Discarded: r.Voting.RedFlagged,
		Contested: r.Voting.Contested, StepsDone: r.StepsCompleted, StepsTotal: r.StepsTotal, CostUSD: r.TotalCostUSD, Simulated: r.Simulated,
	}
	if asks && (r.Status == event.StatusRunning || r.Stop == event.StopWaiting) {
		if err := st.addWaits(run); err != nil {
			return nil, err
		}
	}
	if j != nil && r.Status == event.StatusRunning {
		p := j.run.Progress()
		st.Samples, st.Discarded = max(st.Samples, p.Samples), max(st.Discarded, p.RedFlagged)
	}
	if r.Status != event.StatusRunning {
		if err := s.addResult(st, run, r, from); err != nil {
			return nil, err
		}
	}
	st.Next = s.next(st, r)
	return st, nil
}

func (st *Standing) addWaits(run *runs.Run) error {
	open, err := run.Waiting()
	if err != nil {
		return err
	}
	for _, q := range open {
		w := Waits{Kind: q.Kind, Text: clip.Text(q.Text, mostNoted), Options: q.Options}
		if q.Call != nil {
			w.Tool, w.Input = q.Call.Tool, clip.Text(string(q.Call.Input), mostNoted)
		}
		st.Waits = append(st.Waits, w)
	}
	if len(open) > 0 {
		st.Status = waiting
	}
	return nil
}

// addResult adds what came of a run that has ended.
func (s *Server) addResult(st *Standing, run *runs.Run, r *runs.Result, from int) error {
	for i := range r.Effects[:min(len(r.Effects), mostChanges)] {
		e := &r.Effects[i]
		st.Changes = append(st.Changes, Changed{e.Tool, clip.Line(e.Input.Compact(), mostNoted), e.Status})
	}
	if run.Kind() == maker.KindAsk {
		st.addVotes(r)
	}
	if run.Form() == event.FormRecords {
		return s.addRows(st, run, r, from)
	}
	if r.Status != event.StatusCompleted {
		return nil // what was not agreed on is no answer
	}
	out, err := run.Load(r.Output)
	if err != nil {
		return err
	}
	if len(out.JSON) > mostAnswer {
		st.Omitted = fmt.Sprintf("the answer has %d bytes; the person sees it with: %s", len(out.JSON), s.command("show", st.Run))
	} else if len(out.JSON) > 0 {
		st.Answer = out.JSON
	}
	return nil
}

// addVotes adds who voted for what in a single question.
func (st *Standing) addVotes(r *runs.Result) {
	var v event.Voting
	switch {
	case len(r.Steps) > 0:
		v = r.Steps[0].Voting
	case r.FailedStep != nil:
		v = r.FailedStep.Voting
		st.Samples, st.Discarded = v.Samples, v.RedFlagged
	}
	for key, n := range v.Votes {
		st.Votes = append(st.Votes, Vote{clip.Line(key, mostNoted), n})
	}
	slices.SortFunc(st.Votes, func(a, b Vote) int {
		if a.Votes != b.Votes {
			return b.Votes - a.Votes
		}
		return strings.Compare(a.Answer, b.Answer)
	})
	st.Votes = st.Votes[:min(len(st.Votes), mostVotes)]
}

// addRows adds records from a number on.
func (s *Server) addRows(st *Standing, run *runs.Run, r *runs.Result, from int) error {
	if c := r.Records(); c != nil {
		st.Records = &Counts{c.Records, c.Decided, c.Undecided, c.Failed, c.Known, c.Right}
	}
	size := 0
	for rec, err := range run.Records() {
		if err != nil {
			return err
		}
		if rec.Number < from {
			continue
		}
		if len(st.Rows) == mostRows || size > mostAnswer {
			st.Omitted = fmt.Sprintf("there are more records: call follow with from=%d, or the person writes all to a file with: %s --out FILE", rec.Number, s.command("show", st.Run))
			break
		}
		row := Row{Number: rec.Number, Status: rec.Status, Reason: clip.Text(rec.Reason, mostNoted), Right: rec.Right}
		if len(rec.Voting.Votes) > 0 {
			row.Votes = rec.Voting.Split()
		}
		out, err := run.Load(rec.Output)
		if err != nil {
			return err
		}
		if len(out.JSON) > mostAnswer {
			row.Reason = fmt.Sprintf("the answer has %d bytes, too many to return", len(out.JSON))
		} else if len(out.JSON) > 0 {
			row.Answer, size = out.JSON, size+len(out.JSON)
		}
		st.Rows = append(st.Rows, row)
	}
	return nil
}

// next is what to do about a run.
func (s *Server) next(st *Standing, r *runs.Result) string {
	resume := s.command("resume", st.Run)
	switch {
	case st.Status == waiting && r.Status != event.StatusRunning:
		return fmt.Sprintf("tell the person what the run asks. You cannot answer it: they do, with %s, and continue with %s", s.command("answer", st.Run), resume)
	case st.Status == waiting:
		return fmt.Sprintf("tell the person what the run asks. You cannot answer it: they do, with %s. Then call follow with run=%q", s.command("answer", st.Run), st.Run)
	case st.Status == event.StatusRunning:
		return fmt.Sprintf("it goes on: call follow with run=%q for its end", st.Run)
	case st.Status == event.StatusCompleted:
		return ""
	case st.Status == event.StatusUndecided && r.Form == event.FormRecords:
		return "take only the answers of records that are decided; the others have none"
	case st.Status == event.StatusUndecided:
		return "there is no answer: do not take the one with most votes for it. Ask more precisely, allow more samples (settings: {\"max_samples\": ...}), or tell the person"
	case r.Stop == event.StopCancelled, r.Stop == event.StopPaused, st.Status == runs.StatusInterrupted:
		return "everything committed is kept; the person continues it with " + resume
	case st.Status == event.StatusStopped && r.Stop != "":
		return fmt.Sprintf("%s stopped it; everything committed is kept, and the person decides whether to continue it with %s", r.Stop, resume)
	}
	return "there is no answer; the reason says why"
}

// command is what a person types, and where.
func (s *Server) command(name, run string) string {
	words := "maker " + name
	if s.o.LogDir != maker.DefaultLogDir {
		words += " --log-dir " + s.o.LogDir
	}
	where := s.o.Folder
	if abs, err := filepath.Abs(where); err == nil {
		where = abs
	}
	return fmt.Sprintf("`%s %s` (in %s)", words, run, where)
}
