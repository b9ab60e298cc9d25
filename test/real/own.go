package main

import (
	"bufio"
	"context"
	"fmt"
	"os"

	"github.com/maker-mdap/maker/model"
)

// An ownPrompt is a request as the program itself sends it.
type ownPrompt struct {
	Kind    string         `json:"kind"` // plan, step, solve or do; the family of its samples
	ID      string         `json:"id"`
	Request *model.Request `json:"request"`
}

// ownTokens are enough to see the shape of an answer, if not the end of a plan.
const ownTokens = 160

// ownAsks are the samples of each prompt of our own: as a first sample is asked
// for, and two that differ.
var ownAsks = []ask{{}, {temperature: warm}, {temperature: warm, sample: 1}}

// ownPrompts asks the prompts of a file, as long as there is time: one sample of
// each first.
func (s *sampler) ownPrompts(ctx context.Context, name, file string, prompts int) error {
	all, err := readOwnPrompts(file)
	if err != nil {
		return err
	}
	for n, a := range ownAsks {
		asked := map[string]int{}
		for _, p := range all {
			asked[p.Kind]++
			q := a.question(name, p.Kind, p.ID)
			if asked[p.Kind] > prompts || s.have[q] != nil {
				continue
			}
			req := *p.Request
			req.MaxOutput = ownTokens
			if err := s.ask(ctx, q, &req, ""); err != nil {
				if ctx.Err() != nil {
					s.say("own prompts: stopped in round %d", n+1)
					return nil
				}
				return err
			}
		}
	}
	s.say("own prompts: done")
	return nil
}

func readOwnPrompts(file string) ([]ownPrompt, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []ownPrompt
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var p ownPrompt
		if err := strictly(lines.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, p)
	}
	return all, lines.Err()
}
