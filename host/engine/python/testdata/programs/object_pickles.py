"""pickle: objects, reference cycles, persistent ids, values that cannot be pickled, a safer reader."""

import io
import pickle
import pickletools
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal
from fractions import Fraction


@dataclass
class Node:
    name: str
    next: "Node | None" = None

    def __getstate__(self):
        return {**self.__dict__, "version": 2}

    def __setstate__(self, state):
        assert state.pop("version") == 2
        self.__dict__.update(state)


class Safe(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) == ("decimal", "Decimal"):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not allowed")


def main():
    values = [
        1,
        2**100,
        1.5,
        "é",
        b"x",
        None,
        True,
        (1, [2, {3: {4}}]),
        frozenset([1]),
        Decimal("1.1"),
        Fraction(1, 3),
        range(3),
        datetime(2031, 5, 6, tzinfo=timezone.utc),
        1j,
        slice,
        len,
    ]
    back = [all(pickle.loads(pickle.dumps(value, protocol)) == value for value in values) for protocol in range(6)]
    a = Node("a")
    a.next = Node("b", a)
    turned = pickle.loads(pickle.dumps(a))
    refused = []
    for bad in (lambda: 0, (x for x in ()), io.BytesIO):
        try:
            refused.append(type(pickle.loads(pickle.dumps(bad))).__name__)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            refused.append(type(error).__name__)
    try:
        Safe(io.BytesIO(pickle.dumps([Decimal(1), Fraction(1, 2)]))).load()
    except pickle.UnpicklingError as error:
        unsafe = str(error)
    operations = [op.name for op, _, _ in pickletools.genops(pickle.dumps((1, "a"), 2))]
    buffers = []
    data = pickle.dumps(pickle.PickleBuffer(b"large"), protocol=5, buffer_callback=buffers.append)
    return [
        back,
        turned.next.next is turned,
        refused,
        unsafe,
        operations,
        bytes(pickle.loads(data, buffers=buffers)).decode(),
        pickle.dumps([1, "a"], 4).hex(),
    ]
