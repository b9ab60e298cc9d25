// Package vote decides races between answers: tallies, stopping rules,
// canonical keys and the formulas that predict how often a race goes wrong.
// It is pure: samples in, decision out.
package vote
