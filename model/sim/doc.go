// Package sim is a model that needs no key, no network and no luck: it reads a
// prompt as text and answers in text, right, wrong, malformed, rambling, slow
// or not at all, at rates that its name states:
//
//	sim/default?p=0.9978&malformed=0.032&rivals=1&hard=0.001:0.7&seed=7
//
// With it every claim about voting can be tested end to end. Its answers are
// marked: [model.Response.Model] is the name with all settings, and costs
// follow the price in the settings. What it knows, the settings and the format of
// scripts are described in docs/simulator.md.
//
// # How it errs
//
// An answer is malformed with the probability malformed, rambling with the
// probability overlong, and well-formed otherwise; of the last two, p are
// right. A wrong answer is one of the step's rivals, each as likely as the
// others, and each the same text whenever it comes up. A step that has fewer
// possible wrong answers than rivals uses those it has.
//
// Which wrong answers these are, whether the step is a hard one and the common draw
// of rho follow from the problem: the state and the last move, the expression, the
// list, what a voter of maker solve is asked, or the rule of a script and what it
// captured. Framings of one problem, which differ in words, examples or the order of
// their parts, share them: asking in five ways makes five independent voters of nobody.
// Only own takes something of that back. It is the share of framings whose common draw
// is one of their own, for all of their samples. So two samples of one framing repeat
// the same draw with the probability rho², two of different framings with the probability
// rho² (1-own)², and each of them is as likely to be right as without either.
//
// If [model.Request.Output] asks for structured output, the answer is a JSON
// object with the same fields, {"move": ..., "next_state": ...} or
// {"answer": ...}, and nothing else. Scripted answers are given as they stand.
//
// Answers that exceed [model.Request.MaxOutput] are cut there and stop for
// length. Tokens are estimated as a quarter of the bytes, rounded up. What the
// setting refuse lists a server refuses; see package simserver. In process the answer
// is at once the one that a client gets which has learned to do without.
//
// # What is reproducible
//
// The answer to the n-th sample of a question depends on the seed, the question
// and n, and on nothing else. The question is the prompt, the number of tool
// results so far and the texts of those in the last turn. So a run gets the same
// set of answers for each question in whatever order its calls arrive, in process
// or over HTTP. At temperature 0 all samples of a question are the same draw.
// Faults have a stream of their own: an attempt that ends in a fault uses up no
// answer. The n of a question is remembered for a few thousand recent questions.
package sim
