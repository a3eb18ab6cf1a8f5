"""A small markdown: headings, lists, emphasis, code, links."""

import html
import re

TEXT = """# Title with *stars*

A paragraph with `code <b>` and
a [link](http://example.com/?a=1&b=2) in **two** lines.

- one
- two *em*

```
x < y
```
"""

INLINE = [
    (re.compile(r"`(.+?)`"), r"<code>\1</code>"),
    (re.compile(r"\*\*(.+?)\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"(?<!\*)\*([^*]+)\*(?!\*)"), r"<em>\1</em>"),
    (re.compile(r"\[(?P<text>[^]]+)]\((?P<url>[^)\s]+)\)"), r'<a href="\g<url>">\g<text></a>'),
]


def inline(text):
    text = html.escape(text, quote=False)
    for pattern, replacement in INLINE:
        text = pattern.sub(replacement, text)
    return text


def blocks(text):
    for block in re.split(r"\n{2,}", text.strip()):
        if match := re.match(r"(#{1,6})\s+(.*)", block):
            level = len(match[1])
            yield f"<h{level}>{inline(match[2])}</h{level}>"
        elif block.startswith("```"):
            yield f"<pre>{html.escape(block.strip('`').strip())}</pre>"
        elif block.startswith("- "):
            yield "<ul>" + "".join(f"<li>{inline(line[2:])}</li>" for line in block.splitlines()) + "</ul>"
        else:
            yield f"<p>{inline(' '.join(block.split()))}</p>"


def main(text=TEXT):
    return list(blocks(text))
