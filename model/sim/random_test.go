package sim

import (
	"math/bits"
	"strings"
	"testing"
)

// TestStableDraws pins a few values: names with a seed are written into logs, and
// should mean the same answers tomorrow and on another machine.
func TestStableDraws(t *testing.T) {
	s, reference := newStream(7, forSamples, 1), stream(1234567)
	for _, test := range []struct {
		name      string
		got, want uint64
	}{
		{"hash of nothing", hash(""), 0xfdd2dcefe7abd009},
		{"hash of a word", hash("word"), 0x898e726aada509a6},
		{"hash of a sentence", hash("The quick brown fox jumps over the lazy dog."), 0x804bced52709d78a},
		{"stream", s.next(), 0x9c01479161bc5d78},
		{"splitmix64, published value", reference.next(), 6457827717110365317},
	} {
		if test.got != test.want {
			t.Errorf("%s = %#x, want %#x", test.name, test.got, test.want)
		}
	}
}

// TestHashSpreads changes one bit of a text at each place in turn and expects
// about half of the bits of the hash to change.
func TestHashSpreads(t *testing.T) {
	for _, length := range []int{1, 7, 8, 15, 16, 17, 40, 2000} {
		text := strings.Repeat("x", length)
		seen := map[uint64]bool{hash(text): true}
		changed := 0
		for i := range length {
			h := hash(text[:i] + "y" + text[i+1:])
			changed += bits.OnesCount64(h ^ hash(text))
			seen[h] = true
		}
		if len(seen) != length+1 {
			t.Errorf("%d texts of %d bytes have %d hashes", length+1, length, len(seen))
		}
		// 32 bits each, with a standard deviation of 4; 40 allows for one text alone.
		if mean := float64(changed) / float64(length); mean < 16 || mean > 48 || length >= 40 && (mean < 29 || mean > 35) {
			t.Errorf("length %d: %.1f of 64 bits change on average, want about 32", length, mean)
		}
	}
	if hash("a") == hash("\x00a") || hash("a") == hash("a\x00") {
		t.Error("zero bytes do not change the hash")
	}
}
