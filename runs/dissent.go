package runs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/internal/text/clip"
	"github.com/maker-mdap/maker/internal/text/differ"
	"github.com/maker-mdap/maker/internal/text/show"
)

// DescribeVotes tells in lines who voted for what and what was discarded.
func DescribeVotes(v event.Voting) []string { return describeVotes(v, votesFor(v), false) }

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
	for i, c := range answers {
		first, this := legible(answers[0].Answer), legible(c.Answer)
		what := clip.Line(show.Line(this), 200)
		if difference := differ.Between(first, this); i > 0 && (won || differ.Worth(difference, what)) {
			what = show.Line(difference)
			if !won {
				what = "the same, but " + what
			}
		}
		if i > 0 || !won {
			lines = append(lines, fmt.Sprintf("%s for %s", plural(c.Votes, "vote"), what))
		}
	}
	for _, d := range v.Discarded {
		line := fmt.Sprintf("%s discarded as %s: %s", plural(d.Count, "answer"), d.Flag, d.Reason)
		if d.Said != "" && !strings.Contains(d.Reason, d.Said) {
			line += "; the first one said: " + d.Said
		}
		lines = append(lines, show.Line(line))
	}
	return lines
}

// DescribeBy says who settled a step, if its own voters did not; empty if they did.
func DescribeBy(by string) string {
	switch by {
	case event.ByPerson:
		return "by a person: its own voters gave no result"
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
		answer, err := json.Marshal(key)
		if err == nil && json.Valid([]byte(key)) {
			answer = []byte(key)
		}
		list = append(list, event.Candidate{Answer: answer, Votes: v.Votes[key]})
	}
	slices.SortStableFunc(list, func(a, b event.Candidate) int { return b.Votes - a.Votes })
	return list
}

// legible is an answer for people: its text if it is one, a call as a call.
func legible(answer json.RawMessage) string {
	var text string
	if json.Unmarshal(answer, &text) == nil {
		return text
	}
	var fields map[string]json.RawMessage
	var call event.Intent
	if json.Unmarshal(answer, &fields) == nil && len(fields) == 2 && fields["tool"] != nil && fields["input"] != nil && json.Unmarshal(answer, &call) == nil {
		return fmt.Sprintf("call %s %s", call.Tool, call.Input)
	}
	return string(answer)
}

func plural(n int, name string) string {
	if n != 1 {
		name += "s"
	}
	return fmt.Sprintf("%d %s", n, name)
}
