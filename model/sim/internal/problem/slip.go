package problem

// A Slip is a mistake to make: one of those that are possible. The rivals of a
// step are different slips, as long as there are enough.
type Slip struct {
	Step  uint64 // random number of the step
	Rival int
}

// Among chooses one of n, which is 1 or more.
func (s Slip) Among(n int) int { return int((s.Step + uint64(s.Rival)) % uint64(n)) }
