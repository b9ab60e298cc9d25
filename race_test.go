//go:build race

package maker_test

const raceDetector = true
