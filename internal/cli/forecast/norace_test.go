//go:build !race

package forecast

const raceDetector = false
