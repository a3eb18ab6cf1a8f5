"""Signatures, annotations, source of behaviour at run time."""

import inspect
import typing


def target(a: int, b="x", /, c: "list[str]" = None, *rest, d, e: float = 1.5, **more) -> bool:
    """What it does.

    Indented.
    """
    local = a
    return local


class Thing:
    kind: typing.ClassVar[str] = "t"
    size: int

    @staticmethod
    def make():
        ...

    @property
    def area(self):
        ...

    async def wait(self):
        ...

    def numbers(self):
        yield 1


def main():
    signature = inspect.signature(target)
    bound = signature.bind(1, 2, 3, 4, d=5, z=6)
    bound.apply_defaults()
    try:
        signature.bind(1)
    except TypeError as error:
        missing = str(error)
    return {
        "signature": str(signature),
        "kinds": [p.kind.name for p in signature.parameters.values()],
        "bound": dict(bound.arguments),
        "missing": missing,
        "doc": inspect.getdoc(target),
        "code": [target.__code__.co_varnames, target.__defaults__, target.__kwdefaults__],
        "members": [name for name, _ in inspect.getmembers(Thing, inspect.isfunction)],
        "kinds of functions": [
            inspect.iscoroutinefunction(Thing.wait),
            inspect.isgeneratorfunction(Thing.numbers),
            inspect.isdatadescriptor(Thing.area),
        ],
        "hints": {name: str(hint) for name, hint in typing.get_type_hints(Thing).items()},
        "frame": inspect.currentframe().f_code.co_name,
        "unwrapped": inspect.signature(lambda x, *, y=1: 0).replace(return_annotation=int).return_annotation.__name__,
    }
