// Package yamlclean reads the YAML and JSON that models and people write: safely,
// exactly, and if asked, although it is slightly broken.
//
// [Load] parses a text into nodes, [JSON] makes JSON of it. [Read] first takes
// the YAML out of the fences and the prose around it. [Clean] does the same, and
// repairs what can only be a slip of syntax; [CleanWith] lets a model have a last
// try. The package computes and does nothing else.
//
// # What is read
//
// One document of at most [MaxSize] bytes, nested at most [MaxDepth] deep, with at
// most [MaxKeys] keys in a mapping. These are refused, with the place and what to
// do: a key that is in a mapping twice, a second document, a text that is not
// UTF-8 or has control characters, and what YAML reads in silence as something
// else than what is there to see:
//
//   - tags (a value such as "!important x");
//   - anchors and aliases ("&Company news", "*.go"), so there are no bombs;
//   - a # directly behind a quoted value, comments of JSON (// and /* */) within
//     brackets, and keys that begin with a typographic quote.
//
// What a plain scalar is follows the core schema of YAML 1.2, with one change:
// what may be meant as text stays text. So no, yes, on, off and dates are strings
// as in YAML 1.2, and so are 0x1F, 0o17, 007 and 1_000, because ids, modes and
// hashes look like that and would come out as other numbers; also a number with an
// exponent that no float64 comes near (12e4567), and .nan and .inf, which JSON does
// not have. All other numbers keep every digit.
//
// # What is taken out
//
// Of several fenced blocks the last one with the label yaml, yml or json counts:
// what is said last stands. Prose is cut off only where it cannot be a part of the
// YAML. [Read] has the rules. None of this is a repair.
//
// # What is repaired
//
// Only a text that cannot be loaded is repaired; one that can be, means what YAML
// says, with two exceptions:
//
//   - What YAML would drop in silence. In "channel: #general" and "note: fixes #42 now"
//     the # begins no comment, as there is no blank behind it; these values are put in
//     quotes (unquoted_hash).
//   - Commas at the ends of the lines of a mapping, as JSON has them, which YAML takes for
//     a part of the values (trailing_comma). Behind a text they are cut only if all values
//     of the mapping have them, but perhaps the last.
//
// Otherwise the parser tells which line is the first that cannot be read, and one of
// these mends it, as long as more of the text can be read after that:
//
//   - a comma behind a value in quotes or brackets is cut (trailing_comma), also if the value
//     takes several lines;
//   - a text of several lines without a block marker, which begins behind its key or
//     below it, gets one (block_marker), if it reads like sentences and has no key in it
//     that the document has elsewhere;
//   - a value that has a colon in it and stands behind a key that is a name is put in
//     quotes (unquoted_colon).
//
// Texts of more than 256 KB are not repaired: no model writes that in one answer.
//
// A fix changes no letter and no digit. Where there are two readings there is no
// repair: it is better to ask again than to guess. So what is nearly JSON, with
// comments, quotes within quotes or brackets that are missing, is not repaired, nor is
// a line that is a space off. Other slips of syntax are rare and left to a model, see
// [CleanWith].
package yamlclean
