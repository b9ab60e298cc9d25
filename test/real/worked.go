package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// The families with worked answers: three numbers are added one after the other, and the
// sum stands at the end. Elsewhere the answer is the first thing that a model says, and
// the likeliest answer is what it says at temperature 0. Here many ways lead to an answer.
const (
	workedItems    = 150
	workedExamples = 4
	workedTokens   = 40 // about half as many again as the work has
	workedMarker   = "Answer:"
	workedSeed     = 20261116
)

// A triple is the numbers of an item, in the order in which they are given.
type triple [3]int

// addUpTried and togetherTried were used to find out how hard the families are, and are
// no items.
var (
	addUpTried = []triple{
		{2, 6, 2}, {3, 3, 4}, {3, 3, 8}, {3, 3, 9}, {3, 7, 3}, {4, 2, 4}, {4, 2, 9}, {4, 3, 3}, {4, 6, 3},
		{4, 7, 8}, {5, 4, 8}, {5, 6, 4}, {5, 9, 6}, {6, 4, 3}, {6, 7, 2}, {6, 8, 8}, {7, 4, 8}, {7, 5, 9},
		{7, 8, 3}, {7, 9, 2}, {7, 9, 7}, {8, 2, 3}, {8, 3, 6}, {8, 4, 4}, {9, 5, 9}, {9, 6, 6}, {9, 8, 9},
	}
	togetherTried = []triple{
		{1, 3, 4}, {2, 1, 4}, {2, 2, 1}, {2, 3, 6}, {2, 6, 6}, {2, 7, 6}, {3, 1, 2}, {3, 4, 5}, {3, 5, 1},
		{3, 6, 6}, {3, 7, 2}, {4, 3, 5}, {4, 6, 6}, {5, 1, 6}, {6, 4, 4}, {6, 4, 7}, {6, 5, 1}, {6, 5, 2},
		{6, 6, 2}, {7, 3, 3}, {7, 4, 4}, {7, 4, 7},
	}
)

// addUp asks for the sum in figures.
func addUp() *family {
	return worked(&family{
		Name:     "addup",
		About:    "The sum of three numbers from 2 to 9, with the work.",
		Wordings: []string{"Add {a}, {b}, {c}.\nWork:"},
	}, 2, 9, addUpTried, func(*rand.Rand, map[string]string) {})
}

var (
	workedPeople = []string{"Tom", "Anna", "Ben", "Lucy", "Sam", "Mary", "Jack", "Emma"}
	workedThings = []string{"apples", "books", "coins", "cards", "stamps", "shells"}
)

// together asks for it in a story.
func together() *family {
	return worked(&family{
		Name:     "together",
		About:    "What three people have together, 1 to 7 each, with the work.",
		Wordings: []string{"{first} has {a} {things}, {second} has {b} and {third} has {c}. How many together?\nWork:"},
	}, 1, 7, togetherTried, func(chance *rand.Rand, fields map[string]string) {
		people := chance.Perm(len(workedPeople))
		for n, name := range []string{"first", "second", "third"} {
			fields[name] = workedPeople[people[n]]
		}
		fields["things"] = workedThings[chance.IntN(len(workedThings))]
	})
}

// worked fills a family with examples and items, no two of the same numbers. more adds
// the fields that are no numbers.
func worked(f *family, least, most int, tried []triple, more func(*rand.Rand, map[string]string)) *family {
	f.Reader, f.Marker, f.MaxTokens = "number", workedMarker, workedTokens
	f.Instruction = "Show the work in one line and end with Answer: and the number."
	chance := rand.New(rand.NewPCG(workedSeed, uint64(most)))
	taken := map[triple]bool{}
	for _, t := range tried {
		taken[t] = true
	}
	draw := func() (triple, map[string]string) {
		var t triple
		for ok := true; ok; ok = taken[t] {
			for n := range t {
				t[n] = least + chance.IntN(most-least+1)
			}
		}
		taken[t] = true
		fields := map[string]string{"a": strconv.Itoa(t[0]), "b": strconv.Itoa(t[1]), "c": strconv.Itoa(t[2])}
		more(chance, fields)
		return t, fields
	}
	for range framings {
		var set []example
		for range workedExamples {
			t, fields := draw()
			set = append(set, example{fields, t.work()})
		}
		f.ExampleSets = append(f.ExampleSets, set)
	}
	for n := range workedItems {
		t, fields := draw()
		f.Items = append(f.Items, item{fmt.Sprintf("%s-%03d", f.Name, n+1), fields, []string{strconv.Itoa(t[0] + t[1] + t[2])}})
	}
	return f
}

// work adds the numbers one after the other.
func (t triple) work() string {
	two := t[0] + t[1]
	return fmt.Sprintf("%d + %d = %d, %d + %d = %d. %s %d", t[0], t[1], two, two, t[2], two+t[2], workedMarker, two+t[2])
}
