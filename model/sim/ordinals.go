package sim

import (
	"math"
	"sync"
)

// ordinals counts the samples and attempts of the most recent prompts. It is a
// set-associative cache: a prompt can live in one set only, and within a set
// the least recently used prompt makes room. So it takes the same memory after
// a million prompts as after one, and goroutines asking different prompts
// rarely meet at a lock.
//
// A prompt that comes back after thousands of others is counted from 1 again.
type ordinals struct {
	sets [ordinalSets]ordinalSet
}

const (
	ordinalSets = 512 // a power of two
	ordinalWays = 16  // wide enough that a thousand live prompts never crowd one set
)

type ordinalSet struct {
	mu      sync.Mutex
	entries [ordinalWays]ordinalEntry // most recent first
}

type ordinalEntry struct {
	prompt            uint64
	samples, attempts uint32
}

// sample returns 1 for the first sample of the prompt, 2 for the second, ...; those
// that were taken elsewhere before count too.
func (o *ordinals) sample(prompt uint64, earlier int) uint64 {
	s := &o.sets[prompt%ordinalSets]
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.touch(prompt)
	e.samples = max(e.samples, uint32(min(max(earlier, 0), math.MaxUint32-1))) + 1
	return uint64(e.samples)
}

// sampled reports whether there was a sample of the prompt.
func (o *ordinals) sampled(prompt uint64) bool {
	s := &o.sets[prompt%ordinalSets]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.touch(prompt).samples > 0
}

// attempt does what sample does for attempts, which include those that end in a fault.
func (o *ordinals) attempt(prompt uint64) uint64 {
	s := &o.sets[prompt%ordinalSets]
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.touch(prompt)
	e.attempts++
	return uint64(e.attempts)
}

// touch moves the entry of the prompt to the front, making it if need be.
func (s *ordinalSet) touch(prompt uint64) *ordinalEntry {
	at := ordinalWays - 1
	found := ordinalEntry{prompt: prompt}
	for i := range s.entries {
		if s.entries[i].prompt == prompt {
			at, found = i, s.entries[i]
			break
		}
	}
	copy(s.entries[1:at+1], s.entries[:at])
	s.entries[0] = found
	return &s.entries[0]
}
