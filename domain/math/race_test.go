//go:build race

package math

const raceDetector = true
