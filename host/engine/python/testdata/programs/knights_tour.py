"""Backtracking: eight queens, a knight's tour by Warnsdorff, a sudoku."""


def queens(n, row=0, columns=0, up=0, down=0):
    if row == n:
        return 1
    found = 0
    for column in range(n):
        bit, u, d = 1 << column, 1 << row + column, 1 << row - column + n
        if not (columns & bit or up & u or down & d):
            found += queens(n, row + 1, columns | bit, up | u, down | d)
    return found


def tour(size):
    jumps = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]

    def free(x, y):
        return [
            (x + a, y + b) for a, b in jumps if 0 <= x + a < size and 0 <= y + b < size and (x + a, y + b) not in seen
        ]

    place, seen = (0, 0), {(0, 0): 1}
    while following := free(*place):
        place = min(following, key=lambda p: (len(free(*p)), p))
        seen[place] = len(seen) + 1
    return [[seen.get((x, y), 0) for x in range(size)] for y in range(size)]


def sudoku(cells):
    spot = cells.find(".")
    if spot < 0:
        return cells
    row, column = divmod(spot, 9)
    taken = {
        cells[i]
        for i in range(81)
        if i // 9 == row or i % 9 == column or (i // 27 == row // 3 and i % 9 // 3 == column // 3)
    }
    for digit in "123456789":
        if digit not in taken:
            if solved := sudoku(cells[:spot] + digit + cells[spot + 1 :]):
                return solved
    return None


PUZZLE = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
return [queens(6), queens(7), tour(6), sudoku(PUZZLE)]
