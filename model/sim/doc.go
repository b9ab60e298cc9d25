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
// It looks at the prompt and at tool results, and at nothing else. The prompt is
// the text of the last turn of the user that has text: when the last turn holds
// tool results only, that is the text of an earlier one.
//
//   - Towers of Hanoi: the last lines "Current state: [[3, 2, 1], [], []]" and
//     "Previous move: [1, 0, 2]" (or none). It plays the usual strategy: disk 1
//     and another disk in turn, disk 1 always the same way round. The answer
//     ends with the lines "move = ..." and "next_state = ...".
//   - Arithmetic: a line "Compute: (12 + 3) * 4" or "What is 17 + 25?", exact at
//     any size. The answer ends with "answer = ...".
//   - Sorting: a line "Sort: [3, 1, 2]". The answer ends with "answer = [...]".
//   - The voters of maker solve, recognised by the line with what is asked, which is
//     JSON: calculations, sorting and merging are split, solved and put together.
//   - Scripts: a file of rules, asked first if there is one, and those that ship with
//     the simulator for the examples in the documentation; see [Settings.Script] and
//     the format below.
//
// It declines whatever is none of these, and says so.
//
// If [model.Request.Output] asks for structured output, the answer is a JSON
// object with the same fields, {"move": ..., "next_state": ...} or
// {"answer": ...}, and nothing else. Scripted answers are given as they stand.
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
// captured. Wordings of one problem share them.
//
// Voters of maker solve who do n operations in one go are right with probability
// p^(1+load*(n-1)); each operation goes wrong on its own, so that their wrong
// answers differ.
//
// Answers that exceed [model.Request.MaxOutput] are cut there and stop for
// length. Tokens are estimated as a quarter of the bytes, rounded up. With the
// setting cache=on, tools and system prompt of at least 1024 tokens that
// [model.Request.CachePrefix] wants cached are counted as a cache write the first
// time and as a cache read after that; thousands of prefixes are remembered, and
// each one from the moment that the first answer with it is out.
//
// What the setting refuse lists (temperature, max_tokens, schema, object, n) a
// server refuses; see package simserver. In process the answer is at once the one
// that a client gets which has learned to do without.
//
// # What is reproducible
//
// The answer to the n-th sample of a question depends on the seed, the question
// and n, and on nothing else. The question is the prompt, the number of tool
// results so far and the texts of those in the last turn. So a run gets the same
// set of answers for each question in whatever order its calls arrive, in process
// or over HTTP. At temperature 0 all samples of a question are the same draw.
// Faults have a stream of their own: an attempt that ends in a fault uses up no
// answer.
//
// The n of a question is remembered for a few thousand recent questions.
//
// # Scripts
//
// A script is a YAML or JSON list of rules. The first rule whose conditions all
// hold answers. The conditions, each of which holds if it is absent, are
//
//   - match: a pattern for the prompt, as defined above
//   - match_result: a pattern for the texts of the tool results in the last turn of
//     the user, one after the other on lines of their own. It does not hold if
//     there are none in that turn.
//   - after: how many tool results there are in the whole conversation, exactly.
//     0 is an agent's first move. Calls made in parallel have a result each.
//
// So a rule with match alone also holds after a tool has run: put those with
// after or match_result before it.
//
// A rule has a right answer and perhaps wrong ones, and p, rivals, hard, rho and the
// shares of odd answers say which is given; without wrong ones it is never wrong. The
// problem is the rule together with what its patterns captured. Or it has answers, to
// which these settings do not apply: they are drawn by weight (1 if absent), or with
// sequence given to the samples of a question in order, the last one repeated.
//
// An answer has text, tool_calls or both; it stops for tool_use if it has calls,
// unless stop says otherwise (end, length, refusal), and tokens may say how many
// it counts for. Calls are made whether or not the request offers such a tool: models
// do that. ${1} and ${name} stand for what match captured, ${result.1} and
// ${result.name} for what match_result did, in the text and in all strings of a call's
// input. Filters make another text of it:
//
//   - ${1|json}: in quotes, as JSON and YAML read them
//   - ${1|lines}: its lines, as a list in JSON
//   - ${1|count}: how many lines it has
//   - ${1|field counts}: what it has in this field, if it is YAML. A list has a line
//     for each of its elements; a.b is a field of a field.
//
// So a script can do work with tools:
//
//	# copies a file with the tools Read and Write
//	- match: 'Copy (\S+)'
//	  after: 0
//	  right: {tool_calls: [{name: Read, input: {path: '${1}'}}]}
//	  wrong: [{tool_calls: [{name: Read, input: {path: '${1}~'}}]}]
//	- match: 'Copy (\S+)'
//	  after: 1
//	  match_result: '(?s).+'
//	  right: {tool_calls: [{name: Write, input: {path: '${1}.bak', text: '${result.0}'}}]}
//	- match: 'Copy'
//	  match_result: '(?s).+'
//	  right: {text: 'message: ${result.0|json}'}
//
// Ids of calls are a function of the seed, the question and the sample's number.
package sim
