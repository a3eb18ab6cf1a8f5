"""Numbers as words, as Roman numerals, in other bases, run lengths, check digits."""

import re
from itertools import groupby

ROMAN = [
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
]
ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()


def roman(n):
    text = ""
    for value, sign in ROMAN:
        count, n = divmod(n, value)
        text += sign * count
    return text


def unroman(text):
    values = [dict(map(reversed, ROMAN))[sign] for sign in text]
    return sum(-a if a < b else a for a, b in zip(values, values[1:] + [0]))


def words(n):
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10] + (f"-{ONES[n % 10]}" if n % 10 else "")
    for size, name in [(10**6, "million"), (1000, "thousand"), (100, "hundred")]:
        if n >= size:
            return f"{words(n // size)} {name}" + (f" {words(n % size)}" if n % size else "")


def luhn(digits):
    return sum(sum(divmod(int(d) * (1 + i % 2), 10)) for i, d in enumerate(reversed(digits))) % 10 == 0


def base(n, alphabet):
    text = ""
    while n:
        n, digit = divmod(n, len(alphabet))
        text = alphabet[digit] + text
    return text or alphabet[0]


packed = "".join(f"{len(list(g))}{k}" for k, g in groupby("aaabccccd"))
return {
    "roman": [roman(n) for n in (1, 4, 1990, 2026, 3999)],
    "back": all(unroman(roman(n)) == n for n in range(1, 400)),
    "words": [words(n) for n in (0, 13, 42, 100, 999, 1_000_001, 987_654_321)],
    "luhn": [luhn(d) for d in ("79927398713", "79927398710")],
    "bases": [base(255, "01"), base(10**9, "0123456789abcdefghijklmnopqrstuvwxyz")],
    "packed": [packed, re.sub(r"(\d+)(\D)", lambda m: m[2] * int(m[1]), packed)],
}
