"""pprint, reprlib, textwrap, string templates: text laid out."""

import pprint
import reprlib
import string
import textwrap

data = {"name": "value " * 12, "list": list(range(30)), "nested": {"b": {2, 1}, "a": ("x" * 30, "y" * 40)}, "empty": []}
text = "  The quick  brown fox jumped over the lazy-dog, incontrovertibly and supercalifragilisticexpialidociously. "


class Shell(string.Template):
    delimiter = "%"
    idpattern = "[a-z.]+"


return {
    "printed": pprint.pformat(data, width=60).splitlines(),
    "compact": pprint.pformat(list(range(40)), width=50, compact=True),
    "deep": pprint.pformat([[[[1]]]], depth=2),
    "short": [reprlib.repr(range(100)), reprlib.repr(list(range(100))), reprlib.repr("x" * 100)],
    "wrapped": textwrap.wrap(text, 25, initial_indent="* ", subsequent_indent="  "),
    "filled": textwrap.fill(text, 30, break_long_words=False, break_on_hyphens=False),
    "shortened": textwrap.shorten(text, 40, placeholder=" ..."),
    "dedented": textwrap.dedent("    a\n      b\n\n    c\n"),
    "indented": textwrap.indent("a\n\nb\n", "> ", lambda line: True),
    "template": [
        string.Template("$who owes ${what}s $$5").substitute(who="ann", what="book"),
        string.Template("$a $b").safe_substitute(a=1),
        Shell("%user.name!").substitute({"user.name": "x"}),
    ],
    "capwords": [string.capwords("hello  big world"), string.punctuation, "o'neill mc-x".title(), "ǆ".title()],
    "columns": [f"{a:<10}{b:>8.2f}" for a, b in [("apple", 1.5), ("banana", 22.333)]],
    "tabs": "a\tbc\td".expandtabs(4),
}
