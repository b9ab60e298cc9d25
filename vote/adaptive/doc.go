// Package adaptive decides how far an answer must lead, by what the run has seen so far.
//
// One margin for all steps is either too much for the easy ones or too little for the few
// hard ones, and the hard ones decide the fate of a long run. A [Policy] holds, for each
// class of steps, a belief about how hard they are, and asks for the margin that this
// belief needs: little where votes have been unanimous, more as soon as a rival shows up.
// It is pure and counts in the order in which races end: the same races in the same order
// give the same margins, so a run that is resumed goes on as if nothing had happened.
//
// # Belief
//
// The difficulty of a step is theta, the chance that a vote is for the likeliest answer
// and not for its strongest rival. A belief has weights over 31 values of it. A race that
// ended with a votes for the leader and b for the runner-up is a [Cell], and whichever of
// the two the likeliest answer is, its likelihood is
//
//	theta^a (1-theta)^b + theta^b (1-theta)^a
//
// which holds however the race was stopped. Races without a winner are evidence like all
// others: the hard steps are among them. Before there is any evidence a belief is that of
// two steps nobody has seen, a hard one and an easy one.
//
// # Margins
//
// With b votes for the runner-up, the margin is the smallest one for which the leader is
// not the likeliest answer with a chance of at most what the step may spend of the run's
// target. If all steps are alike, and that is known, this is the k of the paper.
//
// # What it does not know
//
// All this is about the likeliest answer. Whether that one is right does not follow from
// any number of votes. And it needs samples that are independent given the step.
package adaptive
