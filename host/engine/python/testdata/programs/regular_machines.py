"""A matcher of regular expressions by continuations, compared with re."""

import re


def parse(pattern):
    """Nodes are tuples: char, any, cat, or, star, empty."""
    place = 0

    def alternatives():
        nonlocal place
        node = sequence()
        while place < len(pattern) and pattern[place] == "|":
            place += 1
            node = ("or", node, sequence())
        return node

    def sequence():
        node = ("empty",)
        while place < len(pattern) and pattern[place] not in "|)":
            node = ("cat", node, repeated())
        return node

    def repeated():
        nonlocal place
        node = atom()
        while place < len(pattern) and pattern[place] in "*+?":
            star = ("star", node)
            node = {"*": star, "+": ("cat", node, star), "?": ("or", node, ("empty",))}[pattern[place]]
            place += 1
        return node

    def atom():
        nonlocal place
        sign, place = pattern[place], place + 1
        if sign == "(":
            node = alternatives()
            place += 1
            return node
        return ("any",) if sign == "." else ("char", sign)

    return alternatives()


def step(node, letters, follow):
    """Match a node at the start of the letters, and what follows it with the letters that are left."""
    match node:
        case ("empty",):
            yield from follow(letters)
        case ("char", sign):
            if letters and letters[0] == sign:
                yield from follow(letters[1:])
        case ("any",):
            if letters:
                yield from follow(letters[1:])
        case ("cat", a, b):
            yield from step(a, letters, lambda rest: step(b, rest, follow))
        case ("or", a, b):
            yield from step(a, letters, follow)
            yield from step(b, letters, follow)
        case ("star", a):
            yield from follow(letters)
            yield from step(a, letters, lambda rest: step(node, rest, follow) if len(rest) < len(letters) else ())


def matches(pattern, text):
    return any(True for _ in step(parse(pattern), text, lambda rest: [rest] if not rest else ()))


cases = [
    (p, t)
    for p in ("a*b", "(a|b)*abb", "a.c?", "(ab)+|c", "", "(a*)*b")
    for t in ("", "b", "aab", "abb", "ababb", "axc", "abab", "c", "aaaa")
]
return [[p, t, matches(p, t)] for p, t in cases if matches(p, t) or re.fullmatch(p, t)] + [
    all(matches(p, t) == bool(re.fullmatch(p, t)) for p, t in cases)
]
