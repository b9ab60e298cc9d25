// Package math tells what answers to mathematical problems say: whether two of
// them are the same value, and whether one of them cannot be right. It is the
// adapter "math" of recursive solving, and asks no model.
//
// # What it reads
//
// [Parse] reads what models write: integers of any size, decimals (which are
// exact), fractions, mixed numbers, powers, factorials, percentages, implicit
// multiplication, roots, trigonometry, logarithms, light LaTeX and the Unicode
// of mathematics; further points, lists, sets, intervals, equations,
// inequalities and assignments, with the usual words before them ("The answer is
// 5."). Anything else, words and prose above all, is an error, and [Equal] then
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
// not x. It is found out in these ways, one after the other:
//
//   - By exact algebra. Both are brought into a normal form: a fraction of sums
//     of products with rational coefficients, in which a root is a power of a
//     prime and any other function counts as one more unknown. If the normal
//     forms agree, the expressions are the same. If they differ, and nothing but
//     variables and roots of numbers is in them, the expressions differ: this is
//     a proof, since different products of fractional powers of primes are
//     linearly independent.
//   - By numbers. Otherwise both are evaluated at up to some sixty fixed points with
//     bounds for the error of every operation. If the bounds separate them at
//     one point, they differ, which is a proof too. If they agree in 50 digits at
//     every point where both are defined, and that is at least 5, they count as
//     the same. This is the one case that is no proof; expressions of the size
//     that an answer has do not agree that far by accident.
//   - If neither works out, the relation is Unknown, and a computer algebra
//     system may be asked; see [Options].
//
// A decimal is exact: 0.333 is not 1/3, unless [Options] give a tolerance.
//
// # Limits
//
// The size of a text, the depth of an expression, the size of numbers and the
// work of a comparison are bounded. What goes beyond is refused at once:
// 9^9^9^9 is read but never computed.
package math
