package sim

import (
	"math"
	"math/bits"
)

// What a stream of random numbers is for. Streams for different purposes are
// independent, so that a setting for one does not shift the draws of another.
const (
	forSamples = iota + 1
	forCommon
	forDifficulty
	forRivals
	forFaults
	forLatency
	forCuts
	forCalls
	forOwn
)

// A stream is a splitmix64 generator. It needs no allocation and no lock, and
// its start is computed rather than stored: that makes every draw a pure
// function of seed, prompt and ordinal.
type stream uint64

const golden = 0x9e3779b97f4a7c15

// newStream starts the stream of one purpose. key stands for seed and prompt.
func newStream(key, purpose, ordinal uint64) stream {
	return stream(mix(mix(key+purpose*golden) + ordinal*golden))
}

func (s *stream) next() uint64 {
	*s += golden
	return mix(uint64(*s))
}

// float returns a number in [0, 1).
func (s *stream) float() float64 { return float64(s.next()>>11) * 0x1p-53 }

// below returns a number in [0, n).
func (s *stream) below(n int) int {
	hi, _ := bits.Mul64(s.next(), uint64(n))
	return int(hi)
}

// normal returns a standard normal deviate, by Box and Muller.
func (s *stream) normal() float64 {
	u := 1 - s.float() // in (0, 1], where the logarithm is finite
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*s.float())
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hash maps a text to 64 bits, the same in every process. It folds 16 bytes at
// a time by one wide multiplication, in the manner of wyhash.
func hash(s string) uint64 {
	const k0, k1 = 0xa0761d6478bd642f, 0xe7037ed1a0b428db
	h := mix(uint64(len(s)) + golden)
	for len(s) >= 16 {
		h = fold(word(s)^k0, word(s[8:])^h)
		s = s[16:]
	}
	var a, b uint64
	if len(s) >= 8 {
		a, s = word(s), s[8:]
	}
	for i := range len(s) {
		b = b<<8 | uint64(s[i])
	}
	return mix(fold(a^k1, b^h) ^ h)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// word reads the first eight bytes of s.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
