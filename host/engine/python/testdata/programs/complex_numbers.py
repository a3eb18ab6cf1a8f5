"""Complex numbers: roots of polynomials by Durand-Kerner, a Mandelbrot picture."""

import cmath


def roots(coefficients):
    guesses = [(0.4 + 0.9j) ** n for n in range(len(coefficients) - 1)]
    for _ in range(200):
        for i, x in enumerate(guesses):
            value = 0
            for c in coefficients:
                value = value * x + c
            for j, y in enumerate(guesses):
                if i != j:
                    value /= x - y
            guesses[i] = x - value
    return sorted((round(x.real, 9) + 0.0, round(x.imag, 9) + 0.0) for x in guesses)


def depth(c, most=40):
    z = 0
    for n in range(most):
        z = z * z + c
        if abs(z) > 2:
            return n
    return most


def main():
    picture = [
        "".join(" .:-=+*#%@"[min(depth(complex(x / 20, y / 8)), 36) // 4] for x in range(-44, 16))
        for y in range(-9, 10)
    ]
    z = complex("3-4j")
    return {
        "roots": roots([1, -6, 11, -6]) + roots([1, 0, 0, -1]),
        "picture": picture,
        "parts": [
            z.real,
            abs(z),
            str(z.conjugate()),
            str(z**2),
            str(1j**2),
            cmath.phase(-1),
            cmath.isclose(cmath.exp(1j * cmath.pi), -1),
        ],
        "texts": [str(complex(-0.0, 1)), f"{z:.2f}", repr(1j), cmath.polar(1j)[0]],
    }
