"""f-strings of 3.12: the same quotes within, backslashes, comments, nesting."""
# Requires Python 3.12.

names = ["ann", "bob"]
table = {"a": {"b": 1}}
return [
    f"{", ".join(f"{name!r:>7}" for name in names)}",
    f"{"\n".join(names)}",
    f"{table["a"]["b"]:0{2 + 2}}",
    f"{
        sum(  # the comment does not belong to it
            len(name) for name in names
        )
    }",
    f"{f"{f"{1 + 1}"}"}",
    f"{'\N{BULLET}'} {names[0] = }",
]
