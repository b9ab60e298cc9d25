// Package stats says what samples of questions with known answers tell about voters: how
// often they are right, how that differs between items, how much their errors have in
// common, and what a vote will make of it.
//
// # Items, not samples
//
// Samples of one item are alike: an item that is hard for one is hard for the next. So
// what counts is how many items there are, each of which is drawn on its own, and every
// interval here goes by the spread between items ([Share]). Intervals are meant to cover
// the truth in 95 of 100 measurements.
//
// # The distribution
//
// A vote on an item with p above one half comes out right if the margin is large enough,
// and one below one half comes out wrong: a larger margin makes that more certain. What a
// vote is worth follows from how p is distributed over the items, not from its mean. A
// [Mixture] is that distribution, fitted to counts of right answers, so that the luck of
// few samples is not taken for a difference between items. What is said about it has the
// bounds of all distributions that are at most 20 times less likely than the best one:
// of n items without an error, at most 3/n may be hopeless, whatever the others are.
//
// # What it assumes
//
// That the items are drawn as the steps of the run will be; that samples are independent
// given the item; that all wrong answers to an item are the same one, which is the worst
// case; and that no cap ends a race before its time.
package stats
