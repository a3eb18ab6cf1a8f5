"""HTML: parsing of a table, search for links, conversion of entities."""

import html
from html.parser import HTMLParser

PAGE = """<!DOCTYPE html><title>Prices &amp; sizes</title>
<table id=main><tr><th>Name<th>Price</tr>
<tr><td><a href='/a?x=1&amp;y=2'>A &lt;b&gt;</a></td><td>&euro;&nbsp;5<br/></td></tr><!-- no --></table>
<script>if (a < b) { "<td>" }</script>"""


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.cells, self.links, self.stack, self.events = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.stack.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")
        if tag == "a":
            self.links.append(dict(attributes)["href"])

    def handle_startendtag(self, tag, attributes):
        self.events.append(f"empty {tag}")

    def handle_endtag(self, tag):
        self.stack.append("/" + tag)

    def handle_data(self, data):
        if self.cells and self.stack[-1] in ("td", "th", "a"):
            self.cells[-1] += data.strip("\n")

    def handle_comment(self, data):
        self.events.append(f"comment {data.strip()}")

    def handle_decl(self, declaration):
        self.events.append(declaration)


def main():
    reader = Reader()
    reader.feed(PAGE)
    reader.close()
    return {
        "cells": reader.cells,
        "links": reader.links,
        "events": reader.events,
        "tags": " ".join(reader.stack),
        "escape": html.escape('<a href="x">it\'s & more</a>'),
        "unescape": html.unescape("&eacute;&#233;&#xe9;&notit;&amp;amp;&#128512;&unknown;"),
    }
