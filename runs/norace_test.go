//go:build !race

package runs_test

const raceDetector = false
