"""Fixes for wrong results of CPython 3.12.0's standard library, taken from later releases.

They cover results on which a tool may base a decision: the owner of an IP address, the host in a URL, the sender of a
message. Code that is only slow is bounded by the limits of a run. Each fix is skipped in a release that contains it.
"""

import email._policybase
import email.errors
import email.generator
import email.utils
import ipaddress
import re
import sys
import urllib.parse


def install():
    """Install the fixes, before a tool is loaded."""
    if sys.version_info < (3, 12, 4):
        _fix_addresses()
    if sys.version_info < (3, 12, 5):
        _fix_headers()
    if sys.version_info < (3, 12, 6):
        email.utils.parseaddr, email.utils.getaddresses = _parse_address, _get_addresses
    if sys.version_info < (3, 12, 9):
        urllib.parse.urlsplit = _check_hosts(urllib.parse.urlsplit)


# According to the IANA registries of special-purpose addresses, the _PRIVATE networks are not
# globally reachable, except for the _PUBLIC networks. Python 3.12.0 does not know them.
_PRIVATE_4, _PUBLIC_4 = ["192.0.0.0/24"], ["192.0.0.9/32", "192.0.0.10/32"]
_PRIVATE_6 = ["64:ff9b:1::/48", "2002::/16", "3fff::/20"]
_PUBLIC_6 = ["2001:1::1/128", "2001:1::2/128", "2001:3::/32", "2001:4:112::/48", "2001:20::/28", "2001:30::/28"]


def _fix_addresses():
    for version, private, public in ((4, _PRIVATE_4, _PUBLIC_4), (6, _PRIVATE_6, _PUBLIC_6)):
        address, network = getattr(ipaddress, f"IPv{version}Address"), getattr(ipaddress, f"IPv{version}Network")
        address._constants._private_networks += map(network, private)
        excepted = [network(text) for text in public]
        _except(address, lambda self, other: self in other, excepted)
        _except(network, lambda self, other: self.subnet_of(other), excepted)


def _except(kind, within, excepted):
    """Exclude some networks from ``is_private`` of a class."""
    decide = kind.is_private.fget

    def is_private(self):
        return decide(self) and not any(within(self, other) for other in excepted)

    kind.is_private = property(is_private, doc=kind.is_private.__doc__)


def _check_hosts(split):
    """Wrap urlsplit() to reject URLs with text next to the brackets of an IPv6 address."""

    def urlsplit(url, scheme="", allow_fragments=True):
        parts = split(url, scheme, allow_fragments)
        netloc = parts.netloc if isinstance(parts.netloc, str) else parts.netloc.decode("ascii", "replace")
        if "[" in netloc:
            before, _, rest = netloc.rpartition("@")[2].partition("[")
            after = rest.partition("]")[2]
            if before or after and after[0] != ":":
                raise ValueError("Invalid IPv6 URL")
        return parts

    urlsplit.cache_clear, urlsplit.__doc__ = split.cache_clear, split.__doc__
    return urlsplit


def _parse_address(addr, *, strict=True):
    """Parse one address into its real name and address, or return ('', '') if it is invalid.

    Unless strict is false, several addresses or an ambiguous text are invalid too.
    """
    found = _addresses([addr])
    return found[0] if len(found) == 1 or found and not strict else ("", "")


def _get_addresses(fieldvalues, *, strict=True):
    """Return the (real name, address) pairs of header fields.

    Unless strict is false, the result for ambiguous fields is [('', '')].
    """
    fields = [str(value) for value in fieldvalues]
    found = _addresses(fields)
    if strict and len(found) != sum(1 + _without_quoted(field).count(",") for field in fields):
        return [("", "")]
    return found


def _addresses(fields):
    return email.utils._AddressList(", ".join(fields)).addresslist


_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"|\((?:\\.|[^()\\])*\)', re.DOTALL)


def _without_quoted(text):
    """Return a text without quoted strings and comments in parentheses."""
    return _QUOTED.sub("", text)


# Matches a line break in a header that is not followed by a continuation line.
_INJECTED = re.compile(r"(?:\r\n|\r(?!\n)|\n)(?![ \t])")


def _fix_headers():
    """Reject a header if a reader would interpret a part of it as another header or as the body."""

    class HeaderWriteError(email.errors.MessageError):
        """Error while writing headers."""

    HeaderWriteError.__module__ = email.errors.__name__
    email.errors.HeaderWriteError = HeaderWriteError
    email._policybase.Policy.verify_generated_headers = True

    def check(write):
        def _write_headers(self, msg):
            for name, value in msg.raw_items() if self.policy.verify_generated_headers else ():
                folded = self.policy.fold(name, value)
                if _INJECTED.search(folded.removesuffix(self.policy.linesep)):
                    raise HeaderWriteError(f"folded header contains newline: {folded!r}")
            write(self, msg)

        return _write_headers

    for kind in (email.generator.Generator, email.generator.BytesGenerator):
        kind._write_headers = check(kind._write_headers)
