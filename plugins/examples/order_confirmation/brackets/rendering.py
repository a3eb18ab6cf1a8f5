# Copyright the toolrun authors. Licensed under the Apache License, Version 2.0.
import re

_PART = re.compile(r"\[\[|\[([A-Za-z_][A-Za-z0-9_]*)(?::([^\[\]]*))?\]")


class Missing(LookupError):
    """A template contains a name without a value."""


def names(text):
    """Return the distinct names in a template, in order."""
    return list(dict.fromkeys(part[1] for part in _PART.finditer(text) if part[1]))


def render(text, /, **values):
    """Replace names with values. [price:.2f] uses a format specification of Python."""

    def value(part):
        if part[1] is None:
            return "["
        if part[1] not in values:
            raise Missing(f"no value for [{part[1]}]")
        return format(values[part[1]], part[2] or "")

    return _PART.sub(value, text)
