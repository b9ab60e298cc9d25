//go:build race

package yamlclean

const raceDetector = true
