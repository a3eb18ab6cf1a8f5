# Copyright the toolrun authors. Licensed under the Apache License, Version 2.0.
import re

_PART = re.compile(r"\[\[|\[([A-Za-z_][A-Za-z0-9_]*)(?::([^\[\]]*))?\]")


class Missing(LookupError):
    """A text names what it was not given."""


def names(text):
    """The names in a text, each once, in the order in which they come."""
    return list(dict.fromkeys(part[1] for part in _PART.finditer(text) if part[1]))


def render(text, /, **values):
    """Put values in the places of their names. [price:.2f] writes a value by a format of Python's."""

    def value(part):
        if part[1] is None:
            return "["
        if part[1] not in values:
            raise Missing(f"nothing is given for [{part[1]}]")
        return format(values[part[1]], part[2] or "")

    return _PART.sub(value, text)
