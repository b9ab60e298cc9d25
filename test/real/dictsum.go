package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The task of "The Illusion of Diminishing Returns: Measuring Long Horizon Execution
// in LLMs" (arXiv 2509.09677): keep a running sum over words whose values a given
// dictionary has. Each step is trivial, the chain is long. The values are small
// here, and each step is asked by itself, with the sum so far, as MAKER asks steps.
const (
	dictSteps    = 100
	dictExamples = 4
	dictMaxValue = 9
)

var dictWords = []string{"apple", "river", "chair", "cloud", "bread", "stone", "tiger", "piano", "glass", "horse"}

// dictSum makes the family of a seed.
func dictSum(seed uint64) *family {
	chance := rand.New(rand.NewPCG(seed, seed))
	value := map[string]int{}
	var entries []string
	for _, w := range dictWords {
		value[w] = 1 + chance.IntN(dictMaxValue)
		entries = append(entries, fmt.Sprintf("%s = %d", w, value[w]))
	}
	f := &family{
		Name:        "dictsum",
		About:       "One step of a running sum: look a word up and add its value.",
		Reader:      "number",
		Instruction: "Answer with the new sum only, a number.",
		Preamble:    "Values: " + strings.Join(entries, ", ") + ".\nEach step adds the value of a word to the sum.\n\n",
		Wordings: []string{
			"Sum: {sum}\nWord: {word}\nNew sum:",
			"Question: The sum is {sum}. Add the value of {word}. What is the sum now?\nAnswer:",
			"{sum} + {word} =",
			"Old sum {sum}, next word {word}, new sum",
			"With {sum} so far, {word} brings the sum to",
		},
	}
	taken := map[string]bool{}
	step := func(sum int, w string) (map[string]string, string) {
		taken[strconv.Itoa(sum)+w] = true
		return map[string]string{"sum": strconv.Itoa(sum), "word": w}, strconv.Itoa(sum + value[w])
	}
	sum := 0
	for n := range dictSteps {
		w := dictWords[chance.IntN(len(dictWords))]
		fields, answer := step(sum, w)
		f.Items = append(f.Items, item{fmt.Sprintf("dictsum-%03d", n+1), fields, []string{answer}})
		sum += value[w]
	}
	for range framings {
		var set []example
		for len(set) < dictExamples {
			before, w := chance.IntN(sum), dictWords[chance.IntN(len(dictWords))]
			if !taken[strconv.Itoa(before)+w] {
				fields, answer := step(before, w)
				set = append(set, example{fields, answer})
			}
		}
		f.ExampleSets = append(f.ExampleSets, set)
	}
	return f
}

// makeCommand writes the families that are made to their files.
func makeCommand(_ context.Context, args []string) error {
	f := flag.NewFlagSet("real make", flag.ContinueOnError)
	folder := f.String("o", "test/real/families", "folder of the families")
	if err := f.Parse(args); err != nil {
		return err
	}
	for _, made := range madeFamilies() {
		head, items, err := made.files()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(*folder, made.Name+".json"), head, 0o644); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(*folder, made.Name+".jsonl"), items, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// madeFamilies are made from seeds.
func madeFamilies() []*family { return []*family{dictSum(dictSeed), addUp(), together()} }

// dictSeed is that of the committed files.
const dictSeed = 250909677

// files are a family as readFamily reads it.
func (f *family) files() (head, items []byte, err error) {
	if head, err = json.MarshalIndent(f, "", "  "); err != nil {
		return nil, nil, err
	}
	var lines bytes.Buffer
	for _, i := range f.Items {
		if err := json.NewEncoder(&lines).Encode(i); err != nil {
			return nil, nil, err
		}
	}
	return append(head, '\n'), lines.Bytes(), nil
}
