"""Python's own tokens: comments stripped, names counted, brackets matched."""

import io
import keyword
import tokenize
from collections import Counter

SOURCE = '''
def total(items):  # sum them
    """Doc # not a comment."""
    return sum(i * 2 for i in items if i)   # the end
'''


def without_comments(text):
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return tokenize.untokenize(t for t in tokens if t.type != tokenize.COMMENT)


def main():
    tokens = list(tokenize.generate_tokens(io.StringIO(SOURCE).readline))
    names = Counter(t.string for t in tokens if t.type == tokenize.NAME and not keyword.iskeyword(t.string))
    kinds = Counter(tokenize.tok_name[t.type] for t in tokens)
    return {
        "comments": [t.string for t in tokens if t.type == tokenize.COMMENT],
        "names": dict(sorted(names.items())),
        "kinds": {kind: kinds[kind] for kind in ("NAME", "OP", "STRING", "INDENT", "DEDENT", "NUMBER")},
        "stripped": [line.rstrip() for line in without_comments(SOURCE).splitlines()],
        "keywords": [word for word in ("match", "async", "type", "print", "None") if keyword.iskeyword(word)],
    }
