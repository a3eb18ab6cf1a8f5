"""Exact fractions: Egyptian ones, continued ones, approximations, a system of equations."""

from fractions import Fraction
from math import comb, pi


def egyptian(fraction):
    while fraction:
        n = -(-fraction.denominator // fraction.numerator)
        yield n
        fraction -= Fraction(1, n)


def continued(fraction):
    while True:
        whole, rest = divmod(fraction, 1)
        yield int(whole)
        if not rest:
            return
        fraction = 1 / rest


def solve(rows):
    rows = [[Fraction(x) for x in row] for row in rows]
    n = len(rows)
    for i in range(n):
        pivot = next(r for r in range(i, n) if rows[r][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(n):
            if r != i:
                rows[r] = [x - rows[r][i] * y for x, y in zip(rows[r], rows[i])]
    return [row[-1] for row in rows]


def main():
    bernoulli = []
    for m in range(13):
        bernoulli.append(Fraction(int(m == 0)) - sum(comb(m, k) * b / (m - k + 1) for k, b in enumerate(bernoulli)))
    return {
        "egyptian": [*egyptian(Fraction(5, 121))][:4],
        "continued": [*continued(Fraction(649, 200))],
        "pi": [str(Fraction(pi).limit_denominator(10**n)) for n in range(1, 7)],
        "solved": [str(x) for x in solve([[2, 1, -1, 8], [-3, -1, 2, -11], [-2, 1, 2, -3]])],
        "bernoulli": [str(b) for b in bernoulli],
        "parsed": [str(Fraction(text)) for text in ("3/4", " -0.125 ", "1e-3", "7")],
        "mixed": [
            float(Fraction(1, 3) + 0.5),
            str(Fraction(1, 3) + 1),
            Fraction(1, 2) == 0.5,
            round(Fraction(7, 2)),
            str(Fraction(-7, 2) // 1),
            Fraction(1, 2) ** 0.5,
        ],
    }
