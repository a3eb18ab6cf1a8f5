"""difflib: unified and context differences, similar words, moved lines."""

import difflib

old = "one\ntwo\nthree\nfour\nfive\nsix\n".splitlines(True)
new = "one\n2\nthree\nfour\nfive!\nsix\nseven\n".splitlines(True)
matcher = difflib.SequenceMatcher(None, "the quick brown fox", "a quick and brown dog")
delta = list(difflib.ndiff(old, new))
return {
    "unified": list(difflib.unified_diff(old, new, "a.txt", "b.txt", n=1)),
    "context": list(difflib.context_diff(old, new, n=0)),
    "ndiff": delta,
    "restored": list(difflib.restore(delta, 1)) == old,
    "ratio": [matcher.ratio(), matcher.quick_ratio()],
    "blocks": [tuple(block) for block in matcher.get_matching_blocks()],
    "close": difflib.get_close_matches("appel", ["ape", "apple", "peach", "puppy"]),
    "opcodes": difflib.SequenceMatcher(str.isspace, "ab cd", "ab  ce").get_opcodes(),
}
