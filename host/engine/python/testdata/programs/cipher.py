"""Old ciphers: Caesar, Vigenère, rail fence; each undone."""

from itertools import cycle
from string import ascii_lowercase, ascii_uppercase


def caesar(text, shift):
    turned = ascii_lowercase[shift:] + ascii_lowercase[:shift]
    return text.translate(str.maketrans(ascii_lowercase + ascii_uppercase, turned + turned.upper()))


def vigenere(text, key, sign=1):
    shifts = cycle(sign * (ord(letter) - 97) for letter in key)
    return "".join(chr((ord(c) - 97 + next(shifts)) % 26 + 97) if c.isalpha() else c for c in text.lower())


def fence(n, rails):
    down = [*range(rails), *range(rails - 2, 0, -1)]
    return sorted(range(n), key=lambda i: (down[i % len(down)], i))


def main(text="Attack at dawn, by the east gate!"):
    order = fence(len(text), 4)
    railed = "".join(text[i] for i in order)
    back = "".join(c for _, c in sorted(zip(order, railed)))
    secret = vigenere(text, "lemon")
    return [caesar(text, 3), caesar(caesar(text, 3), 23), secret, vigenere(secret, "lemon", -1), railed, back]
