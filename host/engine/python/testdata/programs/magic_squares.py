"""Matrices in plain Python: products, determinants, powers, a magic square, a spiral."""

from fractions import Fraction


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def power(m, n):
    result = [[int(i == j) for j in range(len(m))] for i in range(len(m))]
    while n:
        if n & 1:
            result = product(result, m)
        m, n = product(m, m), n >> 1
    return result


def determinant(m):
    m, sign, value = [[Fraction(x) for x in row] for row in m], 1, Fraction(1)
    for i in range(len(m)):
        pivot = next((r for r in range(i, len(m)) if m[r][i]), None)
        if pivot is None:
            return 0
        if pivot != i:
            m[i], m[pivot], sign = m[pivot], m[i], -sign
        value *= m[i][i]
        for row in m[i + 1 :]:
            factor = row[i] / m[i][i]
            row[:] = [x - factor * y for x, y in zip(row, m[i])]
    return int(value * sign)


def magic(n):
    square = [[0] * n for _ in range(n)]
    x, y = n // 2, 0
    for number in range(1, n * n + 1):
        square[y][x] = number
        a, b = (x + 1) % n, (y - 1) % n
        x, y = (x, (y + 1) % n) if square[b][a] else (a, b)
    return square


def spiral(m):
    while m:
        yield from m[0]
        m = list(zip(*m[1:]))[::-1]


square = magic(5)
return {
    "square": square,
    "sums": sorted({sum(row) for row in square} | {sum(column) for column in zip(*square)}),
    "determinant": [determinant(square), determinant([[1, 2], [2, 4]]), determinant([[0, 2], [3, 4]])],
    "fibonacci": power([[1, 1], [1, 0]], 90)[0][1],
    "spiral": list(spiral(magic(3))),
}
