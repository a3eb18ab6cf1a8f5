"""Compilation of the regular expressions in a tool's source, before any run.

The module re caches a compiled pattern, but each run starts with the cache of the snapshot. In many small tools, the
compilation of patterns takes most of the time.
"""

import ast
import re

_TAKE_PATTERNS = frozenset(("compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"))

# The maximum number of patterns is smaller than the cache of module re. Long patterns take too long
# to compile.
_MAX_PATTERNS, _MAX_LENGTH = 200, 1000


def warm(tree):
    """Compile the constant patterns in calls such as re.sub(r"\\s+", ...)."""
    for pattern in list(_patterns(tree))[:_MAX_PATTERNS]:
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError):
            pass  # the error occurs when the tool uses the pattern


def _patterns(tree):
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=name),
                args=[ast.Constant(value=str() as pattern), *_],
                keywords=[],
            ) if name in _TAKE_PATTERNS and len(pattern) <= _MAX_LENGTH:
                yield pattern
