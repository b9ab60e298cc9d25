package main

// A stage is one way of asking every item of a family.
type stage struct {
	name string
	asks []ask
}

// An ask is one sample of an item.
type ask struct {
	wording, examples int
	temperature       float64
	sample            int
}

// framings is how many sets of examples a family has, and how many wordings, if it has
// more than one.
const framings = 5

// warm is the temperature at which samples of these models differ, cool the one
// at which they hardly do.
const (
	cool = 0.1
	warm = 0.7
)

// The ways of asking, the most telling ones first: what there is no time for is
// left out at the end.
var stages = []stage{
	{"one greedy sample", []ask{{}}},
	{"example sets at 0.7", each(1, framings, func(n int) ask { return ask{examples: n, temperature: warm} })},
	{"same prompt at 0.7", each(0, framings, func(n int) ask { return ask{temperature: warm, sample: n} })},
	{"example sets at 0", each(1, framings, func(n int) ask { return ask{examples: n} })},
	{"wordings at 0", each(1, framings, func(n int) ask { return ask{wording: n} })},
	{"same prompt at 0.1", each(0, framings-1, func(n int) ask { return ask{temperature: cool, sample: n} })},
	{"wordings and example sets at 0", each(1, framings, func(n int) ask { return ask{wording: n, examples: n} })},
	{"wordings and example sets at 0.7", each(1, framings, func(n int) ask { return ask{wording: n, examples: n, temperature: warm} })},
}

func each(from, to int, f func(int) ask) []ask {
	var asks []ask
	for n := from; n < to; n++ {
		asks = append(asks, f(n))
	}
	return asks
}

// A job is one call that is to be made.
type job struct {
	question
	family *family
	item   *item
}

// jobs lists all calls to a model for the first items of each family. Calls that
// begin with the same text follow each other, because the server keeps what it read.
func jobs(modelName string, families []*family, stages []stage, items int) []job {
	var all []job
	for _, s := range stages {
		for _, f := range families {
			for _, group := range samePrompt(s.asks) {
				for i := range f.Items[:min(items, len(f.Items))] {
					for _, a := range group {
						if a.wording >= len(f.Wordings) {
							continue
						}
						all = append(all, job{a.question(modelName, f.Name, f.Items[i].ID), f, &f.Items[i]})
					}
				}
			}
		}
	}
	return all
}

// question names the sample of an item.
func (a ask) question(modelName, family, item string) question {
	return question{modelName, family, item, a.wording, a.examples, a.temperature, a.sample}
}

// samePrompt puts the asks together that begin alike.
func samePrompt(asks []ask) [][]ask {
	var groups [][]ask
	for n, a := range asks {
		if n > 0 && a.wording == asks[n-1].wording && a.examples == asks[n-1].examples {
			groups[len(groups)-1] = append(groups[len(groups)-1], a)
			continue
		}
		groups = append(groups, []ask{a})
	}
	return groups
}
