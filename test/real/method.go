package main

import (
	"hash/fnv"
	"io"
	"math/rand/v2"

	"github.com/maker-mdap/maker/vote"
)

// A method is a way to come by five votes on an item.
type method struct {
	name string
	asks []ask
}

// The methods that are compared. The first is what every vote has to beat.
var (
	greedy  = method{"one greedy sample", []ask{{}}}
	now     = method{"first at 0, example sets at 0.7 (the default)", append([]ask{{}}, each(1, framings, func(n int) ask { return ask{examples: n, temperature: warm} })...)}
	copies  = method{"same prompt, first at 0, others at 0.7 (the default with one framing)", append([]ask{{}}, each(0, framings-1, func(n int) ask { return ask{temperature: warm, sample: n} })...)}
	before  = method{"same prompt, first at 0, others at 0.1 (the default before)", append([]ask{{}}, each(0, framings-1, func(n int) ask { return ask{temperature: cool, sample: n} })...)}
	heat    = method{"same prompt at 0.7", each(0, framings, func(n int) ask { return ask{temperature: warm, sample: n} })}
	sets    = method{"example sets at 0", each(0, framings, func(n int) ask { return ask{examples: n} })}
	warmSet = method{"example sets at 0.7", each(0, framings, func(n int) ask { return ask{examples: n, temperature: warm} })}
	words   = method{"wordings at 0", each(0, framings, func(n int) ask { return ask{wording: n} })}
	both    = method{"wordings and example sets at 0", each(0, framings, func(n int) ask { return ask{wording: n, examples: n} })}
	all     = method{"wordings and example sets at 0.7", each(0, framings, func(n int) ask { return ask{wording: n, examples: n, temperature: warm} })}

	methods = []method{greedy, now, copies, before, heat, sets, warmSet, words, both, all}
)

// A ballot is one answer as it is counted.
type ballot struct {
	key   string
	valid bool
	right bool
}

// ballots are the answers to an item, or nothing if the bank lacks one of them.
func (b bank) ballots(modelName string, f *family, i *item, asks []ask) []ballot {
	var all []ballot
	for _, a := range asks {
		s := b[a.question(modelName, f.Name, i.ID)]
		if s == nil {
			return nil
		}
		key, ok := f.read(s.Text)
		all = append(all, ballot{key, ok, ok && f.right(i, key)})
	}
	return all
}

// plurality reports whether the answer with the most votes is right. Of answers with
// as many votes the one that came first counts.
func plurality(ballots []ballot) bool {
	votes := map[string]int{}
	most, right := 0, false
	for _, b := range ballots {
		if b.valid {
			votes[b.key]++
		}
	}
	for _, b := range ballots {
		if b.valid && votes[b.key] > most {
			most, right = votes[b.key], b.right
		}
	}
	return right
}

// The race to a lead, under the product's own rule.
var lead = vote.Rule{Strategy: vote.FirstToK, K: 3, MaxSamples: 20}

// races is how often a race is drawn from the samples of an item.
const races = 200

// A racing is what came of many races on one item.
type racing struct {
	right, undecided, samples float64 // means
}

// race draws races that begin with the given samples, in their order, and go on with
// chance ones of the pool. The bank has few samples of each question, so they are
// drawn with replacement.
func race(id string, begin, pool []ballot) racing {
	h := fnv.New64a()
	io.WriteString(h, id)
	chance := rand.New(rand.NewPCG(h.Sum64(), 3))
	var r racing
	for range races {
		tally := vote.NewTally(lead)
		right := map[string]bool{}
		for n := 0; tally.Decision().Outcome == vote.Open; n++ {
			var b ballot
			if n < len(begin) {
				b = begin[n]
			} else {
				b = pool[chance.IntN(len(pool))]
			}
			if !b.valid {
				tally.Flag()
				continue
			}
			right[b.key] = b.right
			tally.Vote(b.key)
		}
		switch d := tally.Decision(); {
		case d.Outcome == vote.Stuck:
			r.undecided++
		case right[d.Key]:
			r.right++
		}
		r.samples += float64(tally.Samples())
	}
	r.right /= races
	r.undecided /= races
	r.samples /= races
	return r
}
