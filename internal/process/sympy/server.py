"""Answers questions about pairs of expressions: a JSON file in, a line of JSON out."""
import json
import signal
import sys

try:  # what a question may use up; not every system knows it
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
except Exception:
    pass

import sympy
from sympy.core import random as sympy_random

SYMBOLS = {"pi": sympy.pi, "e": sympy.E, "i": sympy.I}
FUNCTIONS = {
    "sqrt": sympy.sqrt,
    "cbrt": lambda x: sympy.sign(x) * sympy.Abs(x) ** sympy.Rational(1, 3),
    "abs": sympy.Abs,
    "sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan,
    "asin": sympy.asin, "acos": sympy.acos, "atan": sympy.atan,
    "ln": sympy.log,
}
OPERATIONS = {
    "neg": lambda x: -x,
    "add": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": lambda x, y: x ** y,
    "fact": sympy.factorial,
}


def build(node):
    """Makes an expression of a tree. Nothing in it is ever evaluated as a program."""
    op, text = node["op"], node.get("text", "")
    if op == "num":
        numerator, _, denominator = text.partition("/")
        return sympy.Rational(int(numerator), int(denominator or "1"))
    if op == "sym":
        return SYMBOLS.get(text) or sympy.Symbol(text, real=True)
    args = [build(arg) for arg in node["args"]]
    if op == "call":
        return FUNCTIONS[text](*args)
    return OPERATIONS[op](*args)


def equal(a, b):
    """Returns True, False, or None if it is not known."""
    bad = (sympy.nan, sympy.zoo, sympy.oo, -sympy.oo)
    if a.has(*bad) or b.has(*bad):
        return None
    difference = a - b
    if difference == 0 or sympy.expand(difference) == 0:
        return True
    if differs(difference):
        return False
    difference = sympy.simplify(difference)
    if difference == 0:
        return True
    known = difference.equals(0)
    return None if known is None else bool(known)


def differs(difference):
    """Reports whether a value of the difference is clearly not 0. That is quick."""
    symbols = sorted(difference.free_symbols, key=str)
    for offset in (7, 12):
        point = {x: sympy.Rational(offset + 3 * n, 11) for n, x in enumerate(symbols)}
        try:
            value = complex(difference.subs(point).evalf(30))
        except (TypeError, ValueError, OverflowError):
            continue
        if 1e-10 < abs(value) < 1e100:
            return True
    return False


class TookTooLong(Exception):
    pass


def alarm(*_):
    raise TookTooLong


def answer(a, b, seconds):
    """Returns what equal does, and None if that takes too long or fails."""
    signals = hasattr(signal, "setitimer")
    try:
        if signals:
            signal.signal(signal.SIGALRM, alarm)
            signal.setitimer(signal.ITIMER_REAL, seconds)
        sympy_random.seed(1)  # the same answer whenever it is asked again
        return equal(build(a), build(b))
    except Exception:
        return None
    finally:
        if signals:
            signal.setitimer(signal.ITIMER_REAL, 0)


sys.setrecursionlimit(20000)
with open(sys.argv[1], encoding="utf-8") as file:
    questions = json.load(file)
print(json.dumps([answer(a, b, float(sys.argv[2])) for a, b in questions]))
