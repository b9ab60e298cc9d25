// Package vote decides races between answers: tallies, stopping rules,
// canonical keys and the formulas that predict how often a race goes wrong.
// It is pure: samples in, decision out. Whoever drives a race makes the calls,
// keeps the time and cancels what is no longer needed.
//
// # A race
//
// Each sample of a question ends as a vote, a red flag or a fault. A vote names
// an answer by its key; a flag is a sample thrown away; a fault says nothing
// about the question and never gets here. A [Tally] counts votes and flags under
// a [Rule] and says after each one whether the race is won, stuck or open, and
// how many votes it still needs at least. To launch that many more is always
// safe: all of them come in before a win.
//
// Only the rule decides. Unanimity is not special, a share of the votes counts
// for nothing under [FirstToK], and a mere plurality never wins: when the cap
// leaves no way to win, the race is [Stuck], which is an outcome of its own. The
// winner is one of the answers as it was voted for. A race that is over stays
// over.
//
// # Keys
//
// Answers agree if their keys are equal. [Canonical] makes a key of a JSON
// answer such that spelling does not matter (order of fields, white space, 1.0
// for 1) and meaning is never guessed: no number is rounded, and broken text is
// an error, not a vote. [KeyOptions] leave out what nobody should vote on, such
// as free prose. [Clusters] let numbers agree within a tolerance, without ever
// linking two far answers by a chain of near ones.
//
// # What a vote certifies
//
// A [FirstToK] race that is won says that one answer has k more votes than any
// other. If samples are independent, and the right answer is given with chance
// p > 1/2, the winner is wrong with a chance of at most 1 - [StepSuccess], which
// falls exponentially with k; so a margin that grows with the logarithm of the
// number of steps ([MinK]) is enough for a run of any length.
//
// # What it does not
//
// A vote certifies the likeliest answer, not the true one. If the likeliest
// answer of a step is wrong, a larger margin only makes the wrong answer more
// certain: [StepSuccess] falls with k for p < 1/2, and [MinK] says that no
// margin is enough.
//
// Samples of one model on one prompt are not independent. They share blind
// spots, so close races are more frequent than the formulas say, and the
// formulas are a forecast and not a proof. What makes samples less alike (red
// flags, other models, other words) helps where a larger k does not.
//
// The chance p is not the same for all steps. A few hard ones decide the fate
// of a long run, so a margin chosen for the average step is too small for them.
//
// Agreement is about keys. Two answers that mean the same in other words do not
// agree, which costs votes; two that differ only in what the key leaves out do
// agree, and then one of them stands for both.
//
// # Formulas
//
// They describe a [FirstToK] race without a cap between the right answer, which
// a valid sample gives with chance p, and one single rival, which it gives
// otherwise. That is the worst case for errors. Arguments that mean nothing (a
// chance outside of 0 to 1, a margin below 1, a negative number of steps) give
// NaN, or an error where there is one to return.
package vote
