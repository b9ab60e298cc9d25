package sim

import (
	"math"
	"slices"
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
	return o.touch(prompt, func(e *ordinalEntry) uint64 {
		e.samples = max(e.samples, uint32(min(max(earlier, 0), math.MaxUint32-1))) + 1
		return uint64(e.samples)
	})
}

// sampled reports whether there was a sample of the prompt.
func (o *ordinals) sampled(prompt uint64) bool {
	return o.touch(prompt, func(e *ordinalEntry) uint64 { return uint64(e.samples) }) > 0
}

// attempt does what sample does for attempts, which include those that end in a fault.
func (o *ordinals) attempt(prompt uint64) uint64 {
	return o.touch(prompt, func(e *ordinalEntry) uint64 {
		e.attempts++
		return uint64(e.attempts)
	})
}

// touch moves the entry of the prompt to the front, making it if need be, and counts.
func (o *ordinals) touch(prompt uint64, count func(*ordinalEntry) uint64) uint64 {
	s := &o.sets[prompt%ordinalSets]
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.entries[:], func(e ordinalEntry) bool { return e.prompt == prompt })
	if at < 0 {
		at = ordinalWays - 1
		s.entries[at] = ordinalEntry{prompt: prompt}
	}
	found := s.entries[at]
	copy(s.entries[1:at+1], s.entries[:at])
	s.entries[0] = found
	return count(&s.entries[0])
}
