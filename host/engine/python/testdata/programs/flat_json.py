"""JSON: flattened and built up again, hooks, custom encoders, places of errors."""

import json
from datetime import date
from decimal import Decimal

TEXT = (
    '{"user":{"name":"Zoë","tags":["a","b"],"address":{"zip":"01234"}},"empty":{},"n":1.10,"big":12345678901234567890}'
)


def flatten(value, path=()):
    match value:
        case dict() if value:
            for key, inner in value.items():
                yield from flatten(inner, (*path, key))
        case list() if value:
            for place, inner in enumerate(value):
                yield from flatten(inner, (*path, place))
        case _:
            yield "/" + "/".join(map(str, path)), value


class Encoder(json.JSONEncoder):
    def default(self, value):
        if isinstance(value, (set, frozenset)):
            return sorted(value)
        if isinstance(value, date):
            return {"date": value.isoformat()}
        return super().default(value)


def error_of(text):
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        return [error.msg, error.lineno, error.colno, error.pos]


def main():
    value = json.loads(
        TEXT, parse_float=lambda text: f"float {text}", object_pairs_hook=lambda pairs: dict(reversed(pairs))
    )
    return {
        "flat": dict(flatten(value)),
        "encoded": json.dumps({"s": {3, 1, 2}, "d": date(2031, 5, 6), "n": None}, cls=Encoder, sort_keys=True),
        "indented": json.dumps({"b": [1, {"c": "é\u2028\U0001f600"}], "a": ()}, indent=2, sort_keys=True),
        "ascii": json.dumps('é\U0001f600\x7f"\\\n'),
        "plain": json.dumps({1: 1.0, None: 1e100, True: -0.0}, ensure_ascii=False, separators=(",", ":")),
        "errors": [error_of(text) for text in ('{"a":\n tru}', "'a'", "", "[1 2]", '"\x01"', "NaN1")],
        "special": [json.loads("[NaN]")[0] != 1, json.dumps(float("-inf"))],
        "decimal": str(json.loads("0.1", parse_float=Decimal)),
        "default": json.dumps([Decimal(1)], default=str),
        "raw": json.JSONDecoder().raw_decode('{"a":1} rest'),
    }
