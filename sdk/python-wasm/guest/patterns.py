"""The regular expressions that a tool's source writes out, compiled before any run: re does so once, and each run is the
first one. It is what takes longest in many small tools."""

import ast
import re

_TAKE_PATTERNS = frozenset(("compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"))

# What re keeps, at most; and what takes long to compile is not for this.
_MOST, _LONGEST = 200, 1000


def warm(tree):
    """Compile the patterns that are written in calls such as re.sub(r"\\s+", ...)."""
    for pattern in list(_patterns(tree))[:_MOST]:
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError):
            pass  # the tool is told when it gets there


def _patterns(tree):
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=name),
                args=[ast.Constant(value=str() as pattern), *_],
                keywords=[],
            ) if name in _TAKE_PATTERNS and len(pattern) <= _LONGEST:
                yield pattern
