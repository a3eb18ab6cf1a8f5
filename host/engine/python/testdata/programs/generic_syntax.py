"""Type parameters, type statements and override."""
# Requires Python 3.12.

from typing import TypeAliasType, override

type Pair[A, B] = tuple[A, B]
type Tree = int | list[Tree]


class Box[T: (int, str)]:
    def __init__(self, value: T):
        self.value = value

    def get(self) -> T:
        return self.value


class Loud(Box[str]):
    @override
    def get(self) -> str:
        return super().get().upper()


def first[T, *Rest, **Params](values: list[T]) -> T:
    return values[0]


def main():
    return {
        "alias": [isinstance(Pair, TypeAliasType), str(Pair[int, str]), str(Pair.__value__), [p.__name__ for p in Pair.__type_params__]],
        "lazy": [Tree.__name__, str(Tree.__value__)],
        "box": [Loud("a").get(), str(Box[int]), Loud.get.__override__, [c.__name__ for c in Box.__type_params__[0].__constraints__]],
        "function": [first([3, 4]), [str(p) for p in first.__type_params__]],
    }
