"""Folds constants in the syntax tree of a function, and counts the nodes of the tree."""

import ast
from collections import Counter

SOURCE = """
def area(r, *, scale=2 * 3):
    # a comment is lost
    if r < 0 or not scale:
        raise ValueError(f"r = {r!r:>5}")
    return 3 * 4 * r ** 2 * (scale + 1 - 1)
"""


class Fold(ast.NodeTransformer):
    OPS = {ast.Add: lambda a, b: a + b, ast.Mult: lambda a, b: a * b}

    def visit_BinOp(self, node):
        self.generic_visit(node)
        match node:
            case ast.BinOp(ast.Constant(a), op, ast.Constant(b)) if type(op) in self.OPS:
                return ast.copy_location(ast.Constant(self.OPS[type(op)](a, b)), node)
        return node


def main():
    tree = ast.parse(SOURCE)
    kinds = Counter(type(node).__name__ for node in ast.walk(tree))
    folded = ast.fix_missing_locations(Fold().visit(tree))
    names = {}
    exec(compile(folded, "area", "exec"), names)
    return {
        "source": ast.unparse(folded),
        "kinds": dict(sorted(kinds.items())),
        "value": names["area"](5),
        "dump": ast.dump(ast.parse("a[1:] = b").body[0]),
        "literal": ast.literal_eval("{'a': [1, (2, 3)], 'b': {4}, 'c': -1.5}")
        == {"a": [1, (2, 3)], "b": {4}, "c": -1.5},
    }
