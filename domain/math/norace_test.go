//go:build !race

package math

const raceDetector = false
