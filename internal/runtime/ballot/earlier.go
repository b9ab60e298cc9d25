package ballot

import (
	"encoding/json"
	"slices"

	"github.com/maker-mdap/maker/agent"
	"github.com/maker-mdap/maker/model"
	"github.com/maker-mdap/maker/redflag"
	"github.com/maker-mdap/maker/tool"
	"github.com/maker-mdap/maker/usage"
	"github.com/maker-mdap/maker/vote"
)

// An Earlier is a sample of an earlier session, as its log has it.
type Earlier struct {
	N       int
	Voter   string
	Framing int
	Text    string          // of the answer
	Read    json.RawMessage // what the text was repaired to, nil if it was not
	Intent  *tool.Intent    // instead of an answer
	Vote    string          // its key in short, empty for a red flag
	Flag    *redflag.Flag   // nil for a vote
	Tokens  usage.Tokens
	CostUSD *float64
}

// maxEarlier bounds the numbers of samples that are taken from a log.
const maxEarlier = 1 << 20

// resume counts the samples of an earlier session as if they came in now. One that is
// not read as it was then does not count, and is asked again; so are those that were
// on their way when that session ended. Every sample has its place: the first is the
// greedy one, and voters and wordings go by their numbers.
func (r *race) resume(w *Watch) {
	r.before, r.resumed = w.EarlierFaults, true
	counted := []int{}
	for i := range w.Earlier {
		e := &w.Earlier[i]
		if r.over() || slices.Contains(counted, e.N) || e.N < 0 || e.N >= maxEarlier {
			continue
		}
		s := r.revive(e)
		if r.read(&s); r.regroup(&s, r.judge) != nil || s.Flag == nil && vote.ShortKey(s.Answer.Key) != e.Vote || s.Flag != nil && e.Flag == nil {
			continue
		}
		r.count(&s)
		counted = append(counted, e.N)
		r.launched = max(r.launched, e.N+1)
	}
	for n := range r.launched {
		if !slices.Contains(counted, n) {
			r.again = append(r.again, n)
		}
	}
	if w.Resumed != nil && len(w.Earlier) > 0 {
		w.Resumed(counted)
	}
}

// revive makes a sample what it was before it was logged.
func (r *race) revive(e *Earlier) Sample {
	s := Sample{
		N: e.N, Voter: e.Voter, Framing: e.Framing, Flag: e.Flag,
		Response: &model.Response{Text: e.Text, Usage: e.Tokens, CostUSD: e.CostUSD},
		voter:    slices.IndexFunc(r.voters, func(v Voter) bool { return v.Name == e.Voter }),
	}
	if r.work != nil {
		s.Work = &agent.Result{Text: e.Text, Intent: e.Intent, Output: e.Read, Repaired: e.Read != nil}
		if e.Intent == nil && e.Read == nil {
			s.Work.Output = agent.Reread(e.Text, r.q.Work.Repair)
		}
	}
	return s
}
