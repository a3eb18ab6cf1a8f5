"""Unicode: normal forms, categories, widths, numbers, case, encodings and their errors."""

import codecs
import unicodedata

TEXTS = ["é", "ﬁ", "Å", "한", "²", "ｱ", "ǆ", "İ", "ß", "Σς"]


def slug(text):
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return "-".join("".join(c if c.isalnum() else " " for c in plain.lower()).split())


def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text if not unicodedata.combining(c))


def decoded(data, encoding, errors="strict"):
    try:
        return data.decode(encoding, errors)
    except UnicodeDecodeError as error:
        return [error.reason, error.start, error.end]


codecs.register_error("star", lambda error: ("*" * (error.end - error.start), error.end))
return {
    "forms": {
        text: [[f"{ord(c):04x}" for c in unicodedata.normalize(form, text)] for form in ("NFC", "NFD", "NFKC")]
        for text in TEXTS
    },
    "names": [unicodedata.name(c, "none") for c in "a€\U0001f600\x00"],
    "categories": [unicodedata.category(c) for c in "aA1 -€\u0301\u200d\n"],
    "numbers": [unicodedata.numeric(c) for c in "½Ⅷ൰"] + [unicodedata.digit("²"), unicodedata.lookup("SNOWMAN")],
    "cases": [[t.upper(), t.lower(), t.casefold(), t.title()] for t in TEXTS],
    "slug": [slug("Crème Brûlée: à la ½ carte!"), slug("Ærø — Łódź")],
    "width": [width(t) for t in ("abc", "日本語", "e\u0301", "👍")],
    "encoded": {
        e: "aé€".encode(e, "replace").hex()
        for e in ("utf-8", "utf-16-le", "utf-32-be", "latin-1", "cp1252", "utf-8-sig", "utf-7", "shift_jis", "gb18030")
    },
    "errors": [
        "aé€".encode("ascii", e).decode()
        for e in ("ignore", "replace", "xmlcharrefreplace", "backslashreplace", "namereplace", "star")
    ],
    "decoded": [
        decoded(b"\xc3\x28", "utf-8"),
        decoded(b"\xe2\x82", "utf-8"),
        decoded(b"a\xff", "utf-8", "replace"),
        decoded(b"\xed\xa0\x80", "utf-8"),
        decoded(b"\xff", "utf-8", "surrogateescape").encode("utf-8", "surrogateescape").hex(),
    ],
    "parts": [
        "".join(codecs.iterdecode([b"\xe2", b"\x82\xac", b"x"], "utf-8")),
        "xn--" in "bücher.de".encode("idna").decode(),
        codecs.encode("Hello", "rot13"),
        "ü".encode("punycode").decode(),
    ],
    "lengths": [len("👨‍👩‍👧"), len("👍".encode("utf-16-le")) // 2, "\U0001f600" > "\uffff"],
}
