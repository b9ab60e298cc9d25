package runs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/differ"
	"github.com/maker-mdap/maker/internal/text/show"
)

// DescribeVotes tells in lines who voted for what and what was discarded.
func DescribeVotes(v event.Voting) []string { return describeVotes(v, votesFor(v), false) }

// Contested reports whether there was more than one answer, among those who settled it or
// among those who were asked before.
func (s *StepResult) Contested() bool {
	return s.Voting.Contested() || s.First != nil && s.First.Contested()
}

// Dissent tells in lines what was said against the output of the step: what lost the vote, as
// a difference to what won, and how those stood who were asked before and gave no result.
func (s *StepResult) Dissent() []string {
	if s.Output.IsZero() { // nothing won
		return DescribeVotes(s.Voting)
	}
	lines := DescribeDissent(s.Voting, s.Output)
	if s.First != nil {
		for _, line := range describeBefore(*s.First, s.Output) {
			lines = append(lines, "before: "+line)
		}
	}
	return lines
}

// describeBefore tells in lines what was said against an output before it was settled, as a
// difference to it.
func describeBefore(v event.Voting, output event.Value) []string {
	if output.Ref != nil { // what is stored elsewhere is not compared
		return DescribeVotes(v)
	}
	settled := legible(output.JSON)
	answers := []event.Candidate{{Answer: output.JSON}}
	for _, c := range votesFor(v) {
		c.Answer = resultIn(c.Answer, output.JSON)
		if said := legible(c.Answer); differ.Between(settled, said) == "" || strings.HasPrefix(settled, said+"\n") { // with details
			answers[0].Votes += c.Votes
		} else {
			answers = append(answers, c)
		}
	}
	return describeVotes(v, answers, true)
}

// resultIn is the result in the answer to a task of an outline, whose output is a text, and
// otherwise the answer.
func resultIn(answer, output json.RawMessage) json.RawMessage {
	var text string
	var fields struct{ Result json.RawMessage }
	if json.Unmarshal(output, &text) == nil && json.Unmarshal(answer, &fields) == nil && fields.Result != nil {
		return fields.Result
	}
	return answer
}

// CallVote is how the voters of a call stood, as a step that came to what they wanted.
func CallVote(e *EffectResult) StepResult {
	call := event.Intent{Tool: e.Tool, Input: e.Input.JSON}
	if !e.Voted.IsZero() {
		call.Input = e.Voted.JSON
	}
	output, _ := json.Marshal(call) // never fails: the input is JSON
	return StepResult{Step: e.Step, Output: event.JSONValue(output), Voting: e.Voting}
}

// CallDissent tells in lines what was said against a call as it was made or refused: what the
// voters wanted, if a person changed that, and what lost their vote.
func CallDissent(e *EffectResult) []string {
	var lines []string
	if !e.Voted.IsZero() {
		wanted := differ.Between(e.Input.Compact(), e.Voted.Compact())
		if e.Input.Ref != nil || e.Voted.Ref != nil { // what is stored elsewhere is not compared
			wanted = clip.Line(DescribeOutput(e.Voted), 200)
		}
		lines = append(lines, "voters wanted "+show.Line(wanted))
	}
	vote := CallVote(e)
	for _, line := range vote.Dissent() {
		lines = append(lines, "dissent: "+line)
	}
	return lines
}

// Split gives the votes from most to least, of those who were asked before too.
func (s *StepResult) Split() string {
	votes := s.Voting.Split()
	if s.First == nil || s.First.Samples == 0 {
		return cmp.Or(votes, "none")
	}
	return fmt.Sprintf("%s, then %s", cmp.Or(s.First.Split(), "none"), cmp.Or(votes, s.By, "none"))
}

// Took is what all votes of the step took.
func (s *StepResult) Took() event.Voting {
	if s.First == nil {
		return s.Voting
	}
	return s.Voting.Plus(*s.First)
}

// Contests are the contested steps that the result lists, or of a problem that was solved the
// contested questions.
func (r *Result) Contests() []StepResult {
	if r.Form == event.FormTree {
		return r.Questions
	}
	var list []StepResult
	for i := range r.Steps {
		if r.Steps[i].Contested() {
			list = append(list, r.Steps[i])
		}
	}
	return list
}

// DescribeDissent tells in lines what lost a vote, as a difference to what won. Output is
// what the step came to.
func DescribeDissent(v event.Voting, output event.Value) []string {
	answers := votesFor(v)
	top := 0
	for _, n := range v.Votes {
		top = max(top, n)
	}
	if len(answers) > 0 && answers[0].Votes < top { // the winner is the output
		answers = append([]event.Candidate{{Answer: output.JSON, Votes: top}}, answers...)
	}
	return describeVotes(v, answers, true)
}

// describeVotes tells of answers, the first of which has the most votes.
func describeVotes(v event.Voting, answers []event.Candidate, won bool) []string {
	var lines []string
	others := 0
	for _, n := range v.Votes {
		others += n
	}
	told := map[string]bool{}
	for i, c := range answers {
		what := clip.Line(show.Line(legible(c.Answer)), 200)
		switch difference := between(answers[0].Answer, c.Answer); {
		case i == 0:
		case won:
			what = show.Line(difference)
		case alike(answers[0].Answer, c.Answer) && (told[what] || differ.Worth(difference, what)):
			what = "the same, but " + show.Line(difference)
		}
		told[what] = true
		if i > 0 || !won {
			lines = append(lines, fmt.Sprintf("%s for %s", plural(c.Votes, "vote"), what))
		}
		others -= c.Votes
	}
	if others > 0 && len(answers) > 0 { // not all are listed
		what := "other answers"
		if others == 1 {
			what = "another answer"
		}
		lines = append(lines, plural(others, "vote")+" for "+what)
	}
	unlisted := v.RedFlagged
	for _, d := range v.Discarded {
		unlisted -= d.Count
		line := fmt.Sprintf("%s discarded as %s: %s", plural(d.Count, "answer"), d.Flag, d.Reason)
		if d.Said != "" && !strings.Contains(d.Reason, d.Said) {
			line += "; the first one said: " + d.Said
		}
		lines = append(lines, show.Line(line))
	}
	if unlisted > 0 && !won {
		name := "answer"
		if len(v.Discarded) > 0 {
			name = "other answer"
		}
		lines = append(lines, plural(unlisted, name)+" discarded on the way")
	}
	return lines
}

// DescribeBy says who settled a step, if its own voters did not; empty if they did.
func DescribeBy(by string) string {
	switch by {
	case event.ByPerson:
		return "by a person: its own voters gave no result"
	case event.ByAnswer:
		return "by the person's answer"
	case event.ByCode:
		return "by code"
	case event.BySplit:
		return "by the steps that it was split into: its own voters gave no result"
	case event.ByModel:
		return "by the votes of another model: its own voters gave no result"
	default:
		return by
	}
}

// DescribeUnvoted names the parts of an answer that no vote was about; empty if there are
// none.
func DescribeUnvoted(v event.Voting) string {
	if slices.Contains(v.Unvoted, event.WholeAnswer) {
		return "the whole output"
	}
	return strings.Join(v.Unvoted, ", ")
}

// Votes tells in lines who voted for what and what was discarded.
func (f *FailedStep) Votes() []string {
	v := f.Voting
	v.Answers = f.Candidates
	return DescribeVotes(v)
}

// votesFor are the answers that got votes, most of them first, as far as they are known:
// keys stand for themselves if they are no hashes.
func votesFor(v event.Voting) []event.Candidate {
	if len(v.Answers) > 0 {
		return v.Answers
	}
	var list []event.Candidate
	for _, key := range slices.Sorted(maps.Keys(v.Votes)) {
		answer, _ := json.Marshal(key) // never fails, nor does that of a call
		if call, ok := callOfKey(key); ok {
			answer, _ = json.Marshal(call)
		} else if json.Valid([]byte(key)) {
			answer = []byte(key)
		}
		list = append(list, event.Candidate{Answer: answer, Votes: v.Votes[key]})
	}
	slices.SortStableFunc(list, func(a, b event.Candidate) int { return b.Votes - a.Votes })
	return list
}

// between says how an answer differs from the first one: two calls of a tool by their
// arguments, a call and anything else as what they are.
func between(first, other json.RawMessage) string {
	if !alike(first, other) {
		return instead(other) + " instead of " + instead(first)
	}
	if a, ok := callOf(first); ok {
		b, _ := callOf(other)
		return differ.Between(string(a.Input), string(b.Input))
	}
	return differ.Between(legible(first), legible(other))
}

// alike reports whether two answers are calls of one tool, or both none.
func alike(a, b json.RawMessage) bool {
	if len(callsOf(a)) > 1 || len(callsOf(b)) > 1 {
		return false
	}
	left, isCall := callOf(a)
	right, too := callOf(b)
	return isCall == too && left.Tool == right.Tool
}

// instead is an answer as it is set against another: a text is quoted, a call is none.
func instead(answer json.RawMessage) string {
	if _, ok := callOf(answer); ok || len(callsOf(answer)) > 0 {
		return legible(answer)
	}
	return clip.Line(string(answer), 80)
}

// legible is an answer for people: its text if it is one, a call as a call.
func legible(answer json.RawMessage) string {
	var text string
	if json.Unmarshal(answer, &text) == nil {
		return text
	}
	if call, ok := callOf(answer); ok {
		return "call " + show.CallLine(call.Tool, call.Input)
	}
	if calls := callsOf(answer); len(calls) > 0 {
		lines := make([]string, len(calls))
		for i, c := range calls {
			lines[i] = "call " + show.CallLine(c.Tool, c.Input)
		}
		slices.Sort(lines) // their order was not voted on
		return strings.Join(lines, " and ")
	}
	return string(answer)
}

// callsOf are the calls of the turn of a conversation that an answer is, without what was not
// voted on: their ids, and what was said beside them.
func callsOf(answer json.RawMessage) []event.Intent {
	var turn flow.ChatTurn
	in := json.NewDecoder(bytes.NewReader(answer))
	in.DisallowUnknownFields()
	if in.Decode(&turn) != nil {
		return nil
	}
	calls := make([]event.Intent, len(turn.Calls))
	for i, c := range turn.Calls {
		calls[i] = event.Intent{Tool: c.Name, Input: c.Input}
	}
	return calls
}

// callOf is the call that an answer is, if it is one.
func callOf(answer json.RawMessage) (event.Intent, bool) {
	var fields map[string]json.RawMessage
	var call event.Intent
	ok := json.Unmarshal(answer, &fields) == nil && len(fields) == 2 && fields["tool"] != nil && fields["input"] != nil && json.Unmarshal(answer, &call) == nil
	if calls := callsOf(answer); !ok && len(calls) == 1 {
		return calls[0], true
	}
	return call, ok
}

// callOfKey is the call that a key of a vote stands for, if it does for one.
func callOfKey(key string) (event.Intent, bool) {
	call, ok := strings.CutPrefix(key, "call ")
	tool, input, both := strings.Cut(call, " ")
	return event.Intent{Tool: tool, Input: json.RawMessage(input)}, ok && both && json.Valid([]byte(input))
}

func plural(n int, name string) string {
	if n != 1 {
		name += "s"
	}
	return fmt.Sprintf("%d %s", n, name)
}
