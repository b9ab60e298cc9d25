package prompts

var solveSamples = []Data{}
