"""Which name was probably meant."""

from __future__ import annotations


def similar(word: str, names: list[str]) -> str:
    """Return the first of names that begins with word, or that differs least, in at most a third of word; or ""."""
    if not 3 <= len(word) <= 64:  # shorter words are near to anything
        return ""
    folded = word.lower()
    for name in names:
        if name.lower().startswith(folded):
            return name
    best, least = "", len(word) // 3 + 1
    for name in names:
        distance = _distance(folded, name.lower())
        if distance < least:
            best, least = name, distance
    return best


def _distance(a: str, b: str) -> int:
    """Count the letters to insert, delete, replace or swap with their neighbour to get from a to b."""
    before, last = [0] * (len(b) + 1), list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        row = [i] + [0] * len(b)
        for j in range(1, len(b) + 1):
            row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                row[j] = min(row[j], before[j - 2] + 1)
        before, last = last, row
    return last[len(b)]
