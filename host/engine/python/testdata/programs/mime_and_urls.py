"""URLs: parsing, joining, quoting, conversion of queries. Media types by file name."""

import mimetypes
from urllib.parse import (
    parse_qs,
    parse_qsl,
    quote,
    quote_plus,
    unquote,
    unquote_to_bytes,
    urldefrag,
    urlencode,
    urljoin,
    urlsplit,
    urlunsplit,
)

url = urlsplit("https://ann:secret@www.Example.com:8042/over/there;v=1?name=f%20x&name=&empty#nose")
base = "http://a/b/c/d;p?q"
types = mimetypes.MimeTypes()
try:
    urlsplit("http://[::1")
except ValueError as error:
    refused = str(error)
return {
    "parts": [url.scheme, url.username, url.hostname, url.port, url.path, url.query, url.fragment],
    "again": urlunsplit(url._replace(netloc="example.org", fragment="")),
    "joined": {
        ref: urljoin(base, ref) for ref in ("g", "./g/", "/g", "//g", "?y", "#s", "../../g", "g;x=1/../y", "", "g:h")
    },
    "queries": [
        parse_qs(url.query),
        parse_qsl(url.query, keep_blank_values=True),
        urlencode({"a": [1, 2], "b": "x y/ü"}, doseq=True),
    ],
    "quoted": [
        quote("a b/ü~&"),
        quote("a/b", safe=""),
        quote_plus("a b+c"),
        unquote("%E2%82%AC%zz"),
        unquote_to_bytes("%ff").hex(),
    ],
    "defrag": urldefrag("http://x/y#z")[:],
    "types": [types.guess_type(name) for name in ("a.html", "b.tar.gz", "c.json", "d")],
    "refused": refused,
}
