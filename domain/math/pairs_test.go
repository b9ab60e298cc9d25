package math

// Each line is a pair, with two bars between.
const samePairs = `
# fractions, decimals, percentages
1/2 || 0.5
1/2 || 2/4
-1/2 || 1/-2
3/4 || 75%
1/3 || 2/6
0.1 + 0.2 || 0.3
0.25 || .25
2.50 || 2.5
7 || 7.0
7 || 7.
1 1/2 || 3/2
-1 1/2 || -1.5
2½ || 5/2
½ || 0.5
1/3 + 1/6 || 1/2
(1/2)/(3/4) || 2/3
1/2/2 || 1/4
12.5% || 1/8
50 percent || 0.5
0.000001 || 10^-6
22/7 || 3 1/7
-0 || 0
--5 || 5
-(-5) || 5
+5 || 5
5 - -3 || 8
2/3 of 9 || 6
15% of 80 || 12
# big numbers
12345 * 67890 || 838102050
999999999999999999999999999999 + 1 || 10^30
2^100 || 1267650600228229401496703205376
25! || 15511210043330985984000000
1,234,567 || 1234567
1,234.50 || 1234.5
$1,234 || 1234
1_000_000 || 10^6
1{,}000 || 1000
9007199254740993 || 9007199254740992 + 1
100! / 98! || 9900
10^50 + 1 - 10^50 || 1
1e5 || 100000
1.2e-3 || 0.0012
1.2×10^5 || 120000
6.02 x 10^23 || 602 * 10^21
1E3 || 1000
(10^20 + 1)(10^20 - 1) || 10^40 - 1
2^200 / 2^198 || 4
5!/3! || 20
0! || 1
# powers and roots
2^10 || 1024
2**10 || 1024
2^(1/2) || sqrt(2)
sqrt(8) || 2sqrt(2)
sqrt(8) || 2 sqrt 2
√12 || 2√3
1/sqrt(2) || sqrt(2)/2
sqrt(1/2) || √2/2
sqrt(50) - sqrt(18) || 2 sqrt(2)
(1 + sqrt(2))^2 || 3 + 2sqrt(2)
1/(sqrt(2) - 1) || sqrt(2) + 1
sqrt(2)*sqrt(3) || sqrt(6)
sqrt(3 + 2sqrt(2)) || 1 + sqrt(2)
sqrt(sqrt(2)^2 - 2) || 0
1/(sqrt(3) - sqrt(2)) || sqrt(3) + sqrt(2)
sqrt(2) + sqrt(3) || sqrt(5 + 2 sqrt(6))
cbrt(27) || 3
∛8 || 2
cbrt(-8) || -2
8^(2/3) || 4
16^(3/4) || 8
27^(-1/3) || 1/3
4^(1/4) || sqrt(2)
2^(1/2) * 2^(1/3) || 2^(5/6)
sqrt(x)^2 || x
sqrt(x) sqrt(x) || x
x^(1/2) || sqrt(x)
x^(3/2) || x sqrt(x)
sqrt(x^2) || |x|
sqrt(x^2) || abs(x)
(x^2)^3 || x^6
2^3^2 || 512
-2^2 || -4
(-2)^2 || 4
x^-1 || 1/x
sqrt(0) || 0
(1+sqrt(5))/2 * (1-sqrt(5))/2 || -1
(sqrt(5)+sqrt(3))(sqrt(5)-sqrt(3)) || 2
# polynomials and rational functions
(x+1)^2 || x^2+2x+1
(x+1)(x-1) || x^2 - 1
3(x+1) || 3x + 3
2x + 3y || 3y + 2x
x*y || y*x
2xy || 2*x*y
x(x+1) || x^2 + x
(a+b)^3 || a^3 + 3a^2b + 3ab^2 + b^3
(x^2 - 1)/(x - 1) || x + 1
x^2/x || x
1/x + 1/y || (x+y)/(xy)
(x+y)^2 - (x-y)^2 || 4xy
(x+1)^20 / (x+1)^19 || x + 1
1/(1 + 1/x) || x/(x+1)
0.5x || x/2
1/2 x || x/2
(1/2)x || x/2
x/2 + x/3 || 5x/6
2(3) || 6
(2)(3) || 6
2x^2y || 2 y x^2
n(n+1)/2 || (n^2 + n)/2
n!/(n-1)! || n
x_1 + x_2 || x₂ + x₁
x² + 2x || x^2 + 2x
x³ || x*x*x
x⁻¹ || 1/x
θ + θ || 2θ
\alpha \cdot 2 || 2α
|x|^2 || x^2
|−3| || 3
abs(-2/3) || 2/3
# trigonometry, exponentials and logarithms
sin(x)^2 + cos(x)^2 || 1
sin^2 x + cos^2 x || 1
sin(2x) || 2 sin(x) cos(x)
cos(2x) || 1 - 2sin^2(x)
tan x || sin x / cos x
sec(x)^2 - tan(x)^2 || 1
cot(x) || 1/tan(x)
csc x || 1/sin x
cosh(x)^2 - sinh(x)^2 || 1
tanh x || sinh(x)/cosh(x)
sin(-x) || -sin(x)
cos(-x) || cos(x)
sin(pi/6) || 1/2
sin(π/3) || √3/2
cos(60°) || 1/2
cos(pi) || -1
sin(pi) || 0
tan(pi/4) || 1
45° || pi/4
90 degrees || pi/2
sin(x + y) || sin x cos y + cos x sin y
sin(75°) || (sqrt(6)+sqrt(2))/4
e^x e^y || e^(x+y)
exp(2x) || (e^x)^2
e^(-x) || 1/e^x
e^0 || 1
ln(e) || 1
ln(e^3) || 3
e^(ln 5) || 5
ln(8) || 3 ln 2
ln(x^2) || 2 ln(x)
ln(6) - ln(2) || ln 3
log(8)/log(2) || 3
log(x^2) || 2 log(x)
log_2(8) || 3
log10(1000) || 3
\log_{3} 81 || 4
log2(10) || ln(10)/ln(2)
4^x || 2^(2x)
2^x * 3^x || 6^x
2^x * 2^y || 2^(x+y)
2pi || 2π
2πr || 2*pi*r
pi r^2 || πr²
# LaTeX
\frac{1}{2} || 1/2
$\frac{3}{4}$ || 0.75
\dfrac{x+1}{2} || (x+1)/2
\frac12 || 1/2
2\frac{1}{2} || 5/2
\sqrt{2} || sqrt(2)
\sqrt[3]{27} || 3
\sqrt[4]{16} || 2
\boxed{42} || 42
The answer is \boxed{\frac{1}{3}}. || 1/3
\left( x + 1 \right)^2 || (x+1)^2
2 \cdot 3 \times 4 || 24
6 \div 3 || 2
\( x^{2} \) || x^2
$$x^{10}$$ || x^10
\frac{\sqrt{3}}{2} || sqrt(3)/2
\frac{-b + \sqrt{b^2 - 4ac}}{2a} || (-b + sqrt(b^2-4ac))/(2a)
5\% || 0.05
1{,}234{,}567 || 1234567
10\,000 || 10000
30^\circ || pi/6
\text{ } 5 || 5
# words around an answer
x = 5 || 5
5 = x || x = 5
The answer is 5. || 5
Answer: 5 || 5
Final answer: **42** || 42
Therefore, x = 1/2. || 0.5
So the answer is 12 || 12
The value of x is 3 || x = 3
The result equals 7 || 7
= 12 || 12
x equals 4 || 4
12 * 3 = 36 || 36
x = 2 + 3 = 5 || 5
"7" || 7
7 plus 5 || 12
7 times 5 || 35
5 squared || 25
the square root of 9 || 3
3 x 4 = 12 || 12
2 + 3 x 4 || 14
5 km || 5.0 km
12 apples || 24/2 apples
60 km/h || 120/2 km/h
y = 2x + 1 || 2x + 1
f(x) = x^2 || f(x) = x*x
X = 5 || x = 5
# sets, lists, points
{1, 2, 3} || {3, 2, 1}
{1,2,3} || {1, 2, 3, 3}
x = 1 or x = 2 || x = 2 or x = 1
x = 1 or x = 2 || {1, 2}
x = 1, 2 || x = 2 or x = 1
x=1 or 2 || x = 2, 1
x = ±2 || {2, -2}
x = 1 ± sqrt(2) || {1 - sqrt(2), 1 + sqrt(2)}
x_1 = 3, x_2 = -1 || {-1, 3}
x = 2 and x = 3 || x = 3, x = 2
\{1, 2\} || {2, 1}
(3, 4) || (6/2, 4.0)
(1,2) || (1, 2)
[3, 1, 2] || [3,1,2]
1, 2, 3 || [1, 2, 3]
1, 2, 3 || 1,2,3
x = 1, y = 2 || y = 2, x = 1
x = 1, y = 2 || (1, 2)
(x, y) = (1, 2) || x = 1, y = 2
x = 1 and y = 2 || (x, y) = (1, 2)
(1, 2] || (1, 4/2]
{5} || 5
∅ || {}
no solution || {}
x ∈ {1, 2} || {2, 1}
(1/2, sqrt(4)) || (0.5, 2)
{(1, 2), (3, 4)} || {(3, 4), (1, 2)}
{1,234, 5,678} || {5678, 1234}
# equations and inequalities
x^2 - 1 = 0 || x^2 = 1
x^2 - 1 = 0 || 2x^2 = 2
2x + 4y = 6 || x + 2y = 3
y = 2x + 1 || 2x - y + 1 = 0
x = y || y = x
x = 2x - 1 || x = 1
x > 3 || 3 < x
-x < -3 || x > 3
x ≥ 2 || 2x >= 4
sqrt(2) x = 2 || x = sqrt(2)
0 < x < 5 || 5 > x > 0
x^2 + y^2 = 25 || 25 = y^2 + x^2
x + y = 3, x - y = 1 || x - y = 1, x + y = 3
sin(x) = 1/2 || 2 sin(x) = 1
# words
True || true
Yes. || yes
A || a
no real solutions || No real solutions.
`

const differentPairs = `
# fractions, decimals, units of rounding
0.333 || 1/3
0.3333333333333333333333 || 1/3
0.67 || 2/3
3.14 || pi
3.14159265358979323846 || pi
1.41421356237309504880168872420969807856967 || sqrt(2)
2.718281828459045 || e
1.41 || sqrt(2)
0.1 || 0.10000000000000000001
99.99 || 100
1/2 || 1/3
5 || 6
5 || -5
50% || 50
1 1/2 || 1/2
0.5 || 0.05
2.5 || 2.50001
1.005 || 1.01
7/8 || 0.88
# big numbers
12345 * 67890 || 838102051
10^30 || 10^30 + 1
9007199254740992 || 9007199254740993
2^100 || 2^100 + 1
1,234,567 || 1234568
1e5 || 1e6
25! || 25! + 1
10^30 + sqrt(2) || 10^30 + sqrt(3)
100! || 100! + 1
1.2×10^5 || 1.2×10^4
10^-300 || 0
sin(10^-30) || 0
sqrt(10^150 + 1) || 10^75
e^100 + 10^-40 || e^100
pi + 10^-100 || pi
sqrt(2) + 10^-100 || sqrt(2)
cos(x) + 10^-220 || cos(x)
sin(10^-300) + 1 || 1
# powers and roots
sqrt(2) || sqrt(3)
sqrt(x^2) || x
sqrt(2) + sqrt(3) || sqrt(5)
sqrt(4) || -2
-2^2 || 4
2^3^2 || 64
sqrt(x + y) || sqrt(x) + sqrt(y)
sqrt(2) + sqrt(3) || 3.14626436994197234232913506571557
2^(1/2) || 2^(1/3)
cbrt(2) || sqrt(2)
sqrt(10) + sqrt(17) || sqrt(11) + sqrt(16) + 0.0000001
(x^3)^(1/3) + 0 || -x
# expressions
(x+1)^2 || x^2 + 1
x^2 + 2x + 1 || x^2 + 2x
(x+1)(x-1) || x^2 + 1
2x || x^2
x/2 || 2/x
x + y || x * y
2x || 2y
x || x + 1/10^40
|x| || x
|x| || -x
|x - 1000000007| || 1000000007 - x
x^3 || x^2
(a+b)^2 || a^2 + b^2
1/x + 1/y || 1/(x+y)
n! || n^2
n! || n^n
x^100 || x^101
(x+1)^1000 || (x+1)^1001
# trigonometry, exponentials and logarithms
sin(x)^2 + cos(x)^2 || 2
sin(x) || cos(x)
sin(x) || x
sin(2x) || 2 sin(x)
sin(pi/6) || 0.499999999999999999999999999
cos(60) || 1/2
tan(x) || cot(x)
cos(-x) || -cos(x)
sin(-x) || sin(x)
tan(-x) || tan(x)
|-x| || -|x|
e^(x+y) || e^x + e^y
e^2 || 7.389056
ln(2) || log_2(e)
ln(x + y) || ln x + ln y
ln 8 || 2 ln 2
2^x || x^2
pi || 22/7
pi || 355/113
2pi || pi^2
e^pi || pi^e
e^(pi sqrt(163)) || 262537412640768744
log_2(8) || log_3(8)
log(10) || log(100)
# LaTeX
\frac{1}{2} || \frac{1}{3}
\sqrt{2} || \sqrt[3]{2}
\boxed{41} || 42
\frac{x+1}{2} || x + \frac{1}{2}
30^\circ || 30
# words around an answer
x = 5 || 6
x = 5 || y = 5
The answer is 5. || The answer is 6.
Answer: -3 || 3
12 * 3 = 36 || 37
# sets, lists, points
{1, 2, 3} || {1, 2}
{1, 2} || {1, 3}
x = 1 or x = 2 || x = 1 or x = 3
x = ±2 || 2
x = ±2 || x = ±3
(3, 4) || (4, 3)
(1, 2) || (1, 2, 3)
[1, 2, 3] || [1, 3, 2]
x = 1, y = 2 || x = 2, y = 1
x = 1, y = 2 || (2, 1)
(1, 2] || [1, 2)
{5} || 6
{} || {0}
(1, 2) || 3
{(1, 2)} || {(2, 1)}
1, 2, 3 || 1, 2, 4
# equations and inequalities
x^2 = 1 || x^2 = 2
x^2 - 1 = 0 || x - 1 = 0
x > 3 || x < 3
x > 3 || x >= 3
x + y = 3 || x - y = 3
x = 2y || y = 2x
y = sin(x) || y = cos(x)
x > 3 || -x > -3
# words
true || false
yes || No
A || B
`

const unknownPairs = `
arcsin(1) || pi/2
asin(1/2) || π/6
arctan(1) || pi/4
sin^-1(1) || π/2
\cos^{-1}(0) || \frac{\pi}{2}
4 arctan(1) || pi
acos(x) || pi/2 - asin(x)
asin(-x) || asin(x)
arcsin(x) || 1/sin(x)
# several readings
1/2x || x/2
1/2x || 1/(2x)
√2x || √2 * x
sin π/6 || 1/2
e^2x || e^(2x)
x^1/2 || sqrt(x)
log(100) || 2
log(e) || 1
# units, the imaginary unit
5 km || 5000 m
5 cm || 5
i^2 || -1
3 + 2i || 3 - 2i
# approximations
≈ 1.414 || sqrt(2)
approximately 0.33 || 1/3
# nothing is defined, or nothing is known
1/0 || 2/0
sqrt(-4) || 2
0/0 || 1
sin(pi)/sin(pi) || 1
9^9^9^9 || 1
9^99999 || 9^99999 + 1
1/sin(pi) || 1/sin(pi) + 1
ln(-1 - x^2) || ln(-1 - x^2) + 1
e^-1000000 + 1 || 1
3 + 4 = 8 || 3 + 4 + 4 = 8
∞ - ∞ || 0
# other shapes
1, 2 || 2, 1
(1, 2) || {1, 2}
(1, 2) || [1, 2]
3,14 || 3.14
100,200,300 || 100, 200, 300
3x4 || 4x3
3 × 4 || 12
3-5 || -2
2024-1-15 || 2024-15-1
0x10 || 0
007 || 7
The answer is 5! || 120
The answer is 5! || 5
f'(X) = 2 || f'(x) = 2
at least 5 || 5
5 or more || 5
x^2 = 1 || x = 1 or x = -1
x^2 = 1 || 1
minimum = 3 || maximum = 3
the minimum is 3 || The maximum is 3
# words
five || 5
it depends || 5
cat || act
xy || yx
A B || B A
seven || eight
`
