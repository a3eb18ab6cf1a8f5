"""Conway's game of life on an endless board, as a set of cells."""

from collections import Counter

GLIDER = """
.#.
..#
###
"""


def cells(text):
    return {(x, y) for y, row in enumerate(text.split()) for x, sign in enumerate(row) if sign == "#"}


def step(alive):
    near = Counter((x + dx, y + dy) for x, y in alive for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy)
    return {cell for cell, n in near.items() if n == 3 or n == 2 and cell in alive}


def show(alive, size=8):
    return ["".join(".#"[(x, y) in alive] for x in range(size)) for y in range(size)]


board = cells(GLIDER)
boards = []
for _ in range(13):
    boards.append(len(board))
    board = step(board)
acorn = cells(".#.....\n...#...\n##..###")
for _ in range(60):
    acorn = step(acorn)
return {"glider": show(board), "sizes": boards, "acorn": len(acorn)}
