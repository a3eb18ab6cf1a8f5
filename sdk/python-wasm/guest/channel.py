"""The one way out: standard input, which the host reads and writes.

A message is one write. Its fields are separated by line feeds, of which JSON texts hold none. What the host answers
is there to be read at once, and read to its end.
"""

from posix import read, write

_CHANNEL = 0
_PART = 1 << 16


def send(*fields):
    """Tell the host something."""
    write(_CHANNEL, "\n".join(fields).encode())


def receive():
    """Read what the host answered, or asks for."""
    part = read(_CHANNEL, _PART)
    if len(part) < _PART:
        return part
    parts = [part]
    while len(part) == _PART:
        part = read(_CHANNEL, _PART)
        parts.append(part)
    return b"".join(parts)


def fetch(*fields):
    """Tell the host something that it answers: the first line of the answer, and the bytes that follow it."""
    send(*fields)
    kind, _, rest = receive().partition(b"\n")
    return kind, rest


def ask(*fields):
    """Tell the host something that it answers: the first line of the answer, and the text that follows it."""
    kind, rest = fetch(*fields)
    return kind, rest.decode()
