"""Shallow and deep copies: shared parts, reference cycles, classes that copy themselves."""

import copy
from dataclasses import dataclass, field, replace


@dataclass
class Node:
    name: str
    children: list = field(default_factory=list)
    parent: "Node | None" = None


class Shared:
    copies = 0

    def __copy__(self):
        Shared.copies += 1
        return self

    def __deepcopy__(self, memo):
        Shared.copies += 10
        return memo.setdefault(id(self), self)


def main():
    root = Node("root")
    root.children.append(Node("leaf", parent=root))
    deep, shallow = copy.deepcopy(root), copy.copy(root)
    twice = [[1]] * 2
    both = copy.deepcopy(twice)
    shared = Shared()
    copy.copy(shared), copy.deepcopy([shared, shared])
    circle = {}
    circle["self"] = circle
    turned = copy.deepcopy(circle)
    return [
        deep.children[0].parent is deep,
        shallow.children is root.children,
        both[0] is both[1],
        both[0] is twice[0],
        Shared.copies,
        turned["self"] is turned and turned is not circle,
        replace(root, name="other").name,
        copy.copy((1, 2)) is not None,
    ]
