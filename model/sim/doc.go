// Package sim is a model that needs no key, no network and no luck: it reads a
// prompt as text and answers in text, right, wrong, malformed, rambling, slow
// or not at all, at rates that its name states:
//
//	sim/default?p=0.9978&malformed=0.032&rivals=1&hard=0.001:0.7&seed=7
//
// With it every claim about voting can be tested end to end. Its answers are
// marked: [model.Response.Model] is the name with all settings, and costs
// follow the price in the settings.
//
// # What it knows
//
// It looks at the last message of the user and nothing else.
//
//   - Towers of Hanoi: the last lines "Current state: [[3, 2, 1], [], []]" and
//     "Previous move: [1, 0, 2]" (or none). It plays the usual strategy: disk 1
//     and another disk in turn, disk 1 always the same way round. The answer
//     ends with the lines "move = ..." and "next_state = ...".
//   - Arithmetic: a line "Compute: (12 + 3) * 4" or "What is 17 + 25?", exact at
//     any size. The answer ends with "answer = ...".
//   - Sorting: a line "Sort: [3, 1, 2]". The answer ends with "answer = [...]".
//   - Scripts: a file of rules, asked first if there is one; see [Settings.Script]
//     and the format below.
//
// It says so if a prompt is none of these.
//
// # How it errs
//
// An answer is malformed with the probability malformed, rambling with the
// probability overlong, and well-formed otherwise; of the last two, p are
// right. A wrong answer is one of the step's rivals, each as likely as the
// others, and each the same text whenever it comes up. Which wrong answers
// these are depends on a hash of the prompt. A step that has fewer possible
// wrong answers than rivals uses those it has.
//
// Answers that exceed [model.Request.MaxOutput] are cut there and stop for
// length. Tokens are estimated as a quarter of the bytes, rounded up.
//
// # What is reproducible
//
// The answer to the n-th sample of a prompt depends on the seed, the prompt and
// n, and on nothing else; so a run gets the same set of answers for each prompt
// in whatever order its calls arrive, in process or over HTTP. At temperature 0
// all samples of a prompt are the same draw. Faults have a stream of their own:
// an attempt that ends in a fault uses up no answer.
//
// The n of a prompt is remembered for a few thousand recent prompts.
//
// # Scripts
//
// A script is a YAML or JSON list of rules. The first rule whose pattern matches
// the prompt answers it; p and the shares of odd answers do not apply. Answers
// are drawn by weight (1 if absent), or with sequence given to the samples of a
// prompt in order, the last one repeated. ${1} and ${name} stand for what the
// pattern captured.
//
//   - match: 'capital of (\w+)'
//     answers:
//   - {text: 'The capital of ${1} is Paris.', weight: 9}
//   - {text: 'I would rather not say.', stop: refusal, tokens: 6}
//   - match: 'step \d+'
//     sequence: true
//     answers: [{text: 'oops'}, {text: 'done'}]
package sim
