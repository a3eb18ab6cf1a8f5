"""Encoding of the values that cross the channel, as JSON.

All functions of the module json are imported before a tool runs, so a tool that changes json does not affect them.
"""

from json.decoder import JSONDecoder
from json.encoder import c_make_encoder as make_encoder, encode_basestring as quote
from math import isinf, isnan

_scan = JSONDecoder().scan_once


def decode(text):
    """Decode a JSON text of the host."""
    return _scan(text.strip(), 0)[0]


class Unfit(Exception):
    """The error of a value that cannot be written as JSON. ``deep`` is true if the only reason is its nesting."""

    def __init__(self, message, deep=False):
        super().__init__(message)
        self.message = message
        self.deep = deep


def _refuse(value):
    raise TypeError


def encode(value, name, nesting):
    """Encode a value as JSON. If a part has no JSON form, raise an Unfit with its path, which begins with ``name``."""
    try:
        text = "".join(make_encoder({}, _refuse, quote, None, ":", ",", False, False, False)(value, 0))
        text.encode()
        return text
    except MemoryError:
        raise
    except Exception as error:
        reason = error
    _explain(value, name, nesting)
    raise Unfit(f"{name} cannot be written: {reason}", deep=isinstance(reason, RecursionError))


# Suggested alternatives by the name of the unsupported type.
_ADVICE = {
    "set": "; use list(...) or sorted(...)",
    "frozenset": "; use list(...) or sorted(...)",
    "bytes": "; decode it, or use base64",
    "bytearray": "; decode it, or use base64",
    "datetime": "; use isoformat()",
    "date": "; use isoformat()",
    "time": "; use isoformat()",
    "timedelta": "; use total_seconds()",
    "Decimal": "; use str(...) or float(...)",
    "Fraction": "; use str(...) or float(...)",
    "UUID": "; use str(...)",
    "generator": "; use list(...)",
    "coroutine": "; is an await missing?",
    "dict_keys": "; use list(...)",
    "dict_values": "; use list(...)",
    "dict_items": "; use dict(...)",
}


def _explain(value, name, nesting):
    """Raise an Unfit for the first part of a value that fails.

    The search is not recursive, because the tool may have used up the recursion limit.
    """
    within = []  # the enclosing containers, each with an iterator over its remaining elements
    left = iter([(name, value)])
    while True:
        path, item = next(left, (None, None))
        if path is None:
            if not within:
                return
            left = within.pop()[1]
        elif isinstance(item, (dict, list, tuple)):
            if any(item is parent for parent, _ in within):
                raise Unfit(f"{path} contains itself")
            if len(within) >= nesting:
                raise Unfit(f"{path} is nested deeper than {nesting} levels", deep=True)
            within.append((item, left))
            left = _members(item, path) if isinstance(item, dict) else _items(item, path)
        else:
            _check(item, path)


def _items(values, path):
    for index, value in enumerate(values):
        yield f"{path}[{index}]", value


def _members(values, path):
    for key, value in values.items():
        if not isinstance(key, (str, int, float, bool, type(None))):
            raise Unfit(f"{path} has a key that is {_named(key)}")
        if not isinstance(key, str):
            key = str(key)
        _check(key, f"a key of {path}")
        yield f"{path}.{key}" if key.isidentifier() else f"{path}[{quote(key)}]", value


def _check(value, path):
    """Check a value that is not a container."""
    if value is None or isinstance(value, int):
        return
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Unfit(f"{path} contains an unpaired surrogate") from None
    elif not isinstance(value, float):
        raise Unfit(f"{path} is {_named(value)}")
    elif isnan(value):
        raise Unfit(f"{path} is NaN; use None")
    elif isinf(value):
        raise Unfit(f"{path} is infinite; use None")


def _named(value):
    """Describe the type of a value."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type(value).__name__
    if name in ("function", "builtin_function_or_method", "method"):
        return "a function"
    if hasattr(type(value), "__dataclass_fields__"):
        return f"an instance of {name}; use dataclasses.asdict(...)"
    if name in ("bytes", "dict_keys", "dict_values", "dict_items"):
        return name + _ADVICE[name]  # plural nouns need no article
    if name in _ADVICE or type(value).__module__ == "builtins":
        article = "an" if name[:1].lower() in "aeiou" else "a"
        return f"{article} {name}{_ADVICE.get(name, '')}"
    return f"an instance of {name}" + ("; use vars(...) or a dict" if type(value).__dictoffset__ else "")
