// Package math tells what answers to mathematical problems say: whether two of
// them are the same value, and whether one of them cannot be right. It is the
// adapter "math" of recursive solving, and asks no model.
//
// # What it reads
//
// Package notation reads what models write: integers of any size, decimals (which are
// exact), fractions, mixed numbers, powers, factorials, percentages, implicit
// multiplication, roots, trigonometry, logarithms, light LaTeX and the Unicode
// of mathematics; further points, lists, sets, intervals, equations,
// inequalities and assignments, with the usual words before them ("The answer is
// 5."). Anything else, words and prose above all, is refused, and [Equal] then
// compares texts.
//
// It would rather refuse than guess. 1/2x can be x/2 or 1/(2x), and log is
// sometimes the natural logarithm: such a text has several readings, and what
// does not hold in all of them is [Unknown]. A single i may be the imaginary
// unit, and words after a number may be units that can be converted: there
// [Different] becomes Unknown too. 3×4 may be a size, 3-5 a range, 2024-1-15 a
// date, and "The answer is 5!" no factorial: these are texts.
//
// # What equal means
//
// Variables and results are real numbers. Two expressions are the same if they
// have the same value wherever both are defined, so x^2/x is x, and sqrt(x^2) is
// not x. Both are evaluated with bounds for the error of every operation, and
// exactly as long as there are only fractions:
//
//   - If the bounds separate them at one point, they differ. This is a proof.
//   - Numbers made by arithmetic and roots are the same if they agree in so many
//     digits that numbers of their size cannot agree in without being equal. This
//     is a proof too.
//   - Fractions of polynomials are evaluated at one point that is farther out than
//     a root of their difference can be. If they agree there, they are the same:
//     a proof again. Where the numbers would get too long, the relation is
//     unknown.
//   - Everything else, sin(x)^2 + cos(x)^2 for example, counts as the same if it
//     agrees at every one of some forty points where both are defined, in 50 digits
//     more than the numbers in it account for, and at more points than the degree
//     of its polynomials. This is the one case that is no proof; expressions of the
//     size that an answer has do not agree that far by accident.
//   - If nothing of this works out, as with arcsin(1/2), the relation is Unknown, and
//     a computer algebra system may be asked; see [Options].
//
// A decimal is exact: 0.333 is not 1/3, unless [Options] give a tolerance.
//
// # Limits
//
// The size of a text, the depth of an expression, the size of numbers and the
// work of a comparison are bounded. What goes beyond is refused at once:
// 9^9^9^9 is read but never computed.
package math
