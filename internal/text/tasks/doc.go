// Package tasks reads a text as a person wrote it: it splits it into tasks without a
// model, finds what they refer to, and what they name.
//
// # Tasks as written
//
// [Split] takes the text apart by rules that a reader can predict.
//
//   - Each bullet, numbered line or check box is one task, however many
//     sentences it has. Plain prose is split at the ends of sentences, before
//     ", then" where one instruction follows another, and at line breaks that
//     are not just wrapping.
//   - Nothing is split inside code, quotes, brackets, links, numbers, file
//     names or after an abbreviation. In doubt two tasks stay one: a model can
//     still do both, but half a sentence is no task.
//   - A heading, a line that ends in a colon and has something below it, and a
//     title above a list (neither a sentence nor an instruction) introduce tasks
//     and are none themselves; they become their Context. A heading with nothing
//     below it is a task.
//   - A nested item is a task of its own. Its parent is one too, done before it,
//     and is the child's Context, unless the parent ends in a colon: then it only
//     introduces.
//   - A code block, block quote or table belongs to the task before it (if that is
//     done, only one that is indented below it), and so do thanks and greetings. A
//     line "$ command" is a task.
//   - What the text marks as done (a checked box, an item struck out) is not
//     done again, and neither are items below it without a box of their own, if
//     their indentation or number shows that they are: a bullet in the column of
//     a checked number is a task to do.
//
// Words are never changed or left out. Only marks are: bullets, numbers, boxes,
// heading signs, rulers, and the comma or semicolon before a "then" at which a
// sentence was split.
//
// # Literal commands
//
// A task whose command is given literally can run without a model. Because
// nothing reads such a task again, [New] finds a command only where running
// it is all that the task asks for: "Run `make test`." is one, and "Run `make
// test` and fix what fails" is not; nor is a session in a fence, a command below a word
// of caution such as "never" or "for example", or one after a question in the same part
// of the text, whose answer may be not to run it. The command is kept byte for byte, but for line
// ends, which become \n, and the indentation of the block it stands in.
package tasks
