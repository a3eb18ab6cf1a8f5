"""The channel to the host: standard input, which the host reads and writes.

Each write is one message. The fields of a message are separated by line feeds, which JSON texts do not contain. A reply
of the host can be read immediately after the message, and must be read to its end.
"""

from posix import read, write

_CHANNEL = 0
_PART = 1 << 16


def send(*fields):
    """Send a message to the host."""
    write(_CHANNEL, "\n".join(fields).encode())


def receive():
    """Read a reply or a request of the host."""
    part = read(_CHANNEL, _PART)
    if len(part) < _PART:
        return part
    parts = [part]
    while len(part) == _PART:
        part = read(_CHANNEL, _PART)
        parts.append(part)
    return b"".join(parts)


def fetch(*fields):
    """Send a request to the host, and return the first line of its reply and the bytes after it."""
    send(*fields)
    kind, _, rest = receive().partition(b"\n")
    return kind, rest


def ask(*fields):
    """Send a request to the host, and return the first line of its reply and the text after it."""
    kind, rest = fetch(*fields)
    return kind, rest.decode()
