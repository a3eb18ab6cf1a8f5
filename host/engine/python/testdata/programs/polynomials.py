"""Polynomials with operators: arithmetic, division, evaluation, text."""

from itertools import zip_longest


class Polynomial:
    def __init__(self, *coefficients):
        while coefficients and not coefficients[-1]:
            coefficients = coefficients[:-1]
        self.c = coefficients

    def __add__(self, other):
        return Polynomial(*(a + b for a, b in zip_longest(self.c, other.c, fillvalue=0)))

    def __neg__(self):
        return Polynomial(*(-a for a in self.c))

    def __sub__(self, other):
        return self + -other

    def __mul__(self, other):
        result = [0] * (len(self.c) + len(other.c))
        for i, a in enumerate(self.c):
            for j, b in enumerate(other.c):
                result[i + j] += a * b
        return Polynomial(*result)

    def __divmod__(self, other):
        rest, quotient = list(self.c), [0] * len(self.c)
        while len(rest) >= len(other.c):
            factor, shift = rest[-1] // other.c[-1], len(rest) - len(other.c)
            quotient[shift] = factor
            for i, b in enumerate(other.c):
                rest[i + shift] -= factor * b
            rest.pop()
        return Polynomial(*quotient), Polynomial(*rest)

    def __call__(self, x):
        value = 0
        for a in reversed(self.c):
            value = value * x + a
        return value

    def __str__(self):
        parts = [f"{a:+}" + ("x" if i else "") + (f"^{i}" if i > 1 else "") for i, a in enumerate(self.c) if a]
        return " ".join(reversed(parts)).replace("+1x", "+x").replace("-1x", "-x") or "0"

    def __eq__(self, other):
        return self.c == other.c


p, q = Polynomial(-1, 0, 0, 1), Polynomial(-1, 1)
quotient, rest = divmod(p, q)
return [
    str(p),
    str(p * q),
    str(p + q),
    str(p - p),
    str(quotient),
    str(rest),
    quotient * q + rest == p,
    [p(x) for x in range(-2, 3)],
    p(0.5),
]
