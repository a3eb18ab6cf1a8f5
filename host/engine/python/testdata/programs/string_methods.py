"""Methods of texts and bytes, on their corner cases."""

text = "  Hello, Wörld!\tTabs\nand ßharp  "
return {
    "case": [
        text.upper().strip(),
        text.casefold().strip(),
        text.swapcase().strip(),
        "hELLO wORLD".capitalize(),
        "they're bill's".title(),
    ],
    "trim": [
        text.strip("  Hp"),
        "xxabcxx".lstrip("x"),
        "test.py".removesuffix(".py"),
        "unhappy".removeprefix("un"),
        "abc".strip(""),
    ],
    "split": [
        "a,b,,c".split(","),
        " a  b ".split(),
        "a,b,c".rsplit(",", 1),
        "a\r\nb\x0bc\u2028d".splitlines(),
        "".split(),
        "".split(","),
        "a=b=c".partition("="),
        "abc".rpartition("="),
    ],
    "find": [
        "banana".find("an", 2),
        "banana".rindex("an"),
        "banana".count("ana"),
        "banana".count(""),
        "x".startswith(("y", "x")),
        "abc".endswith("bc", 0, 2),
    ],
    "pad": ["7".zfill(3), "-7".zfill(4), "ab".center(7, "*"), "ab".ljust(4, "."), "ab".rjust(4), "+ü".zfill(5)],
    "replace": [
        "aaaa".replace("aa", "b"),
        "abc".replace("", "-"),
        "aaa".replace("a", "b", 2),
        "abc".translate({97: "1", 98: None, ord("c"): "333"}),
    ],
    "tests": [
        name
        for name in (
            "isalpha",
            "isdigit",
            "isdecimal",
            "isnumeric",
            "isidentifier",
            "isprintable",
            "isspace",
            "istitle",
            "isascii",
        )
        if getattr("½", name)()
    ],
    "digits": [["²".isdigit(), "²".isdecimal(), "Ⅷ".isnumeric(), "٣".isdecimal()], int("٣٤"), "_a1".isidentifier()],
    "join": [", ".join(map(str, range(3))), "ab" * 3, "-".join("abc"), "é" in "café", "abc"[::-1], "%s" % (("t",),)],
    "escapes": [repr("a'b\"\n\\\x00\xad\u200b\U0001f600"), ascii("é"), "\N{GREEK SMALL LETTER ALPHA}", r"\n", "a" "b"],
    "compare": ["a" < "B", "Z" < "a", "é" > "z", "10" < "9", max(["b", "C", "a"], key=str.lower)],
    "bytes": [
        b"a,b".split(b",")[1].decode(),
        bytes([104, 105]).decode(),
        b"\xff".hex(),
        bytes.fromhex("DE ad").hex(":"),
        "é".encode("latin-1").hex(),
        b"abc".find(b"c"),
        (b"%d %s" % (1, b"x")).decode(),
    ],
}
