package certificate

import (
	"fmt"
	"math"
	"strconv"
)

// assumptions are those without which the votes prove nothing.
var assumptions = []string{
	"The samples of a step are independent given the step. Voters that share a source, a cache or a habit are not; nor are answers of which the fast ones are taken first, or a greedy first sample.",
	"Steps of a class are alike but for how hard they are, and how hard they are changes in jumps that the votes show.",
	"A vote is about the likeliest answer of the voters. Whether that one is true does not follow from any number of votes.",
	"The expected number of wrong answers is multiplied by 1.5 before it is taken off: a few near ties can hide behind clean votes.",
}

// words say what the certificate means.
func (c *Certificate) words() []string {
	return append(append(c.Votes.words(), c.Truth.words()...), c.rest()...)
}

// Percent writes a chance such that it never reads as more than it is.
func Percent(chance float64) string {
	return strconv.FormatFloat(math.Floor(chance*1e4)/100, 'f', -1, 64) + " %"
}

func (v Votes) words() []string {
	decided := v.Races - v.Undecided
	var list []string
	switch {
	case v.Races == 0 && v.Unvoted == 0:
		list = append(list, "Votes: there are none, so they prove nothing.")
	case decided == 0 && v.Races == 0:
		list = append(list, fmt.Sprintf("Votes: there are none. %s taken from a single sample, so agreement proves nothing.", answers(v.Unvoted)))
		return list
	case decided == 0:
		list = append(list, "Votes: no question was decided, so they prove nothing.")
	case v.Bound > 0:
		list = append(list, fmt.Sprintf("Votes: with a probability of at least %s, %s the likeliest one of its voters, if samples are independent (%.2g of them are expected not to be).",
			Percent(v.Bound), each(decided), v.ExpectedWrong))
	default:
		list = append(list, fmt.Sprintf("Votes: they do not prove that %s the likeliest one of its voters: %.2g of them are expected not to be.", each(decided), v.ExpectedWrong))
	}
	if v.Undecided > 0 {
		list = append(list, questions(float64(v.Undecided))+" ended without a winner.")
	}
	if v.Confirmed > 0 {
		list = append(list, fmt.Sprintf("%s settled by agreement of two pools: the voters of the first were split, and those of the second decided on their own for what led.", answers(v.Confirmed)))
	}
	if v.Unvoted > 0 {
		list = append(list, fmt.Sprintf("%s taken from a single sample and proved by nothing.", answers(v.Unvoted)))
	}
	if v.Futile != nil {
		list = append(list, fmt.Sprintf("After %d questions the run found that %s.", v.Futile.Races, v.Futile.Says()))
	}
	return list
}

func answers(n int) string {
	if n == 1 {
		return "1 answer was"
	}
	return fmt.Sprintf("%d answers were", n)
}

func each(decided int) string {
	if decided == 1 {
		return "the voted answer is"
	}
	return fmt.Sprintf("each of the %d voted answers is", decided)
}

func questions(n float64) string {
	if n < 1.5 {
		return "1 question"
	}
	return fmt.Sprintf("%.0f questions", n)
}

func (t Truth) words() []string {
	switch {
	case t.Basis == BasisCheck && t.Wrong > 0:
		return []string{"Truth: code found that what was committed is wrong."}
	case t.Basis == BasisCheck && t.Last:
		return []string{"Truth: code looked at the last output and found it right. The steps on the way were not checked one by one."}
	case t.Basis == BasisCheck:
		return []string{fmt.Sprintf("Truth: code that knows the answer checked each of the %d committed steps and found none wrong.", t.Checked)}
	case t.Basis == BasisGold:
		return []string{fmt.Sprintf("Truth: of %d questions with known answers %d were answered wrongly; in 95 of 100 such measurements at most %s of all answers are wrong.",
			t.Checked, t.Wrong, percentUp(t.Most))}
	default:
		return []string{"Truth: not assessed. Nothing but votes speaks for these answers, and votes cannot show that the likeliest answer is right."}
	}
}

// percentUp writes a share such that it never reads as less than it is.
func percentUp(share float64) string {
	return strconv.FormatFloat(math.Ceil(share*1e4)/100, 'f', -1, 64) + " %"
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func (c *Certificate) rest() []string {
	var list []string
	ties, drifts := 0.0, 0
	for _, k := range c.Classes {
		ties += k.NearTies
		drifts += len(k.Drifts)
	}
	if ties >= .5 {
		list = append(list, "About "+questions(ties)+" ended in a near tie: voters are split, and more votes hardly help. Other voters, other words or smaller steps may.")
	}
	if drifts > 0 {
		list = append(list, fmt.Sprintf("Questions seem to have become harder %s while the run went on.", times(drifts)))
	}
	return list
}
