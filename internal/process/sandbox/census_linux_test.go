package sandbox

import "testing"

// TestMade: the kernel's numbers of processes tell how many were made, also when they
// have begun again.
func TestMade(t *testing.T) {
	for _, test := range []struct {
		before, wrap, last int
		made               int
		known              bool
	}{
		{100, 32768, 100, 0, true},
		{100, 32768, 107, 7, true},
		{32760, 32768, 5, 13, true},
		{101, 32768, 100, 32767, true}, // that many, or none
		{-1, 32768, 100, 0, false},
		{100, 32768, -1, 0, false},
		{100, 0, 107, 0, false},
	} {
		c := census{last: test.before, wrap: test.wrap}
		made, known := c.made(test.last)
		if known != test.known || known && made != test.made {
			t.Errorf("after %d of %d, %d was made last: made() = %d, %t, want %d, %t", test.before, test.wrap, test.last, made, known, test.made, test.known)
		}
	}
	if c := newCensus(1); c.wrap <= 0 || c.last != -1 || lastProcess() <= 0 {
		t.Errorf("newCensus() = %+v, and the last process is %d, want numbers of the kernel", c, lastProcess())
	}
}
