"""The formats that the host asserts. A date-time may lack its zone, as datetime.isoformat() writes it."""

from __future__ import annotations

import ipaddress
import re
from datetime import date
from typing import Callable
from urllib.parse import urlsplit

_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[zZ]|([+-])(\d\d):(\d\d))", re.ASCII)
_DURATION = re.compile(
    r"P(?:\d+W|(?=\d|T\d)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)", re.ASCII
)
_LABEL = re.compile(r"[A-Za-z0-9-]{0,62}[A-Za-z0-9]")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ATOM = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\U0010ffff-]+")


def is_date(text: str) -> bool:
    try:
        return re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return text.startswith("0000-") and is_date("2000-" + text[5:])  # a year that Python does not have


def is_time(text: str) -> bool:
    found = _TIME.fullmatch(text)
    if not found:
        return False
    hour, minute, second = int(found[1]), int(found[2]), int(found[3])
    zone_hour, zone_minute = int(found[5] or 0), int(found[6] or 0)
    if hour > 23 or minute > 59 or second > 60 or zone_hour > 23 or zone_minute > 59:
        return False
    if second < 60:
        return True
    offset = (zone_hour * 60 + zone_minute) * (-1 if found[4] == "+" else 1)
    return (hour * 60 + minute + offset) % (24 * 60) == 23 * 60 + 59


def is_datetime(text: str) -> bool:
    return any(t[10:11] in ("T", "t") and is_date(t[:10]) and is_time(t[11:]) for t in (text, text + "Z"))


def is_duration(text: str) -> bool:
    return len(text) <= 256 and _DURATION.fullmatch(text) is not None


def is_hostname(text: str) -> bool:
    text = text[:-1] if text.endswith(".") else text
    return len(text) <= 253 and not text.startswith("-") and all(_LABEL.fullmatch(label) for label in text.split("."))


def is_email(text: str) -> bool:
    local, at, domain = text.rpartition("@")
    if not at or len(text.encode()) > 254 or len(local.encode()) > 64:
        return False
    if domain.startswith("[") and domain.endswith("]"):
        address = domain[1:-1]
        return is_ipv6(address[5:]) if address.startswith("IPv6:") else is_ipv4(address)
    quoted = re.fullmatch(r'"(?:[^"\\\x00-\x1f]|\\.)+"', local)
    return is_hostname(domain) and (quoted is not None or all(_ATOM.fullmatch(part) for part in local.split(".")))


def is_ipv4(text: str) -> bool:
    return re.fullmatch(r"(?:(?:0|[1-9]\d{0,2})(?:\.|$)){4}", text + ".", re.ASCII) is not None and all(
        int(part) <= 255 for part in text.split(".")
    )


def is_ipv6(text: str) -> bool:
    try:
        return "%" not in text and bool(ipaddress.IPv6Address(text))
    except ValueError:
        return False


def is_uri(text: str) -> bool:
    return is_uri_reference(text) and re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text) is not None


def is_uri_reference(text: str) -> bool:
    if re.search(r"[\x00-\x20\x7f<>\"\\^`{|}]|%(?![0-9A-Fa-f]{2})", text):
        return False
    try:
        urlsplit(text).port
    except ValueError:
        return False
    return True


def is_regex(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def is_pointer(text: str) -> bool:
    return (text == "" or text.startswith("/")) and re.search(r"~(?![01])", text) is None


def is_relative_pointer(text: str) -> bool:
    found = re.match(r"(?:0|[1-9]\d*)", text, re.ASCII)
    return found is not None and (text[found.end() :] == "#" or is_pointer(text[found.end() :]))


FORMATS: dict[str, Callable[[str], bool]] = {
    "date-time": is_datetime,
    "date": is_date,
    "time": is_time,
    "duration": is_duration,
    "hostname": is_hostname,
    "email": is_email,
    "ip-address": is_ipv4,
    "ipv4": is_ipv4,
    "ipv6": is_ipv6,
    "uri": is_uri,
    "iri": is_uri,
    "uri-reference": is_uri_reference,
    "uriref": is_uri_reference,
    "iri-reference": is_uri_reference,
    "regex": is_regex,
    "json-pointer": is_pointer,
    "relative-json-pointer": is_relative_pointer,
    "uuid": lambda text: _UUID.fullmatch(text) is not None,
}
