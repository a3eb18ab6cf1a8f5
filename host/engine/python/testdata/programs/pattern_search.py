"""Regular expressions: groups, lookaround, lazy and possessive ones, flags, replacement by functions."""

import re

TEXT = "Ann (33), bob (7), Zoë (101); tel. +49 221 12345-67, mail: ann@example.com."


def grow(match):
    return f"{match['name'].upper()}:{int(match['age']) + 1}"


named = re.compile(r"(?P<name>\w+) \((?P<age>\d+)\)")
try:
    re.compile("(a")
except re.error as error:
    broken = [error.msg, error.pos]
return {
    "found": named.findall(TEXT),
    "replaced": named.sub(grow, TEXT, count=2),
    "spans": [m.span("age") for m in named.finditer(TEXT)],
    "look": [
        re.findall(r"(?<=\()\d+(?=\))", TEXT),
        re.findall(r"\b\w+(?! \()\b", "a (1) b c (2)"),
        re.search(r"(?<!\d)\d{3}(?!\d)", TEXT)[0],
    ],
    "lazy": [re.findall("<.+?>", "<a><b>"), re.match(r"(?:a|ab)(?:c|bcd)d*+", "abcd")[0], re.match("(?>a+)ab", "aaab")],
    "flags": [
        re.findall("^b.", "a\nB1\nb2", re.M | re.I),
        re.match(r"(?s).+", "a\nb")[0],
        re.findall(r"\w", "é1", re.A),
        re.search("(?i:A)b", "ab").start(),
    ],
    "split": [re.split(r"\s*[,;]\s*", "a , b;c"), re.split(r"(-)", "1-2"), re.split("(?=[A-Z])", "camelCaseText")],
    "conditional": [bool(re.fullmatch(r"(<)?\w+(?(1)>)", t)) for t in ("<a>", "a", "<a", "a>")],
    "back": [re.search(r"(\w)\1", "hello")[0], re.sub(r"(\w+) (\w+)", r"\2 \g<1>", "a b"), re.sub("x*", "-", "axb")],
    "broken": broken,
    "escape": re.escape("a.b*c [d] é"),
    "expand": named.match(TEXT).expand(r"\g<name>=\2"),
    "subn": re.subn("[aeiou]", "", "education"),
    "bytes": re.findall(rb"[\x80-\xff]+", "aéb€".encode())[1].hex(),
    "unicode": [
        re.findall(r"\d", "1٣३"),
        re.match(r"\s", "\u2003") is not None,
        re.fullmatch("ſ", "S", re.I) is not None,
    ],
}
