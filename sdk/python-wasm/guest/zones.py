"""The database of time zones, which the host has: a zone is read when a tool first asks for it."""

import io
import zoneinfo

from .channel import fetch
from .values import quote


def _load(key):
    """The file of a zone, as zoneinfo looks for it where the system has none."""
    kind, file = fetch("zone", quote(key))
    if kind != b"ok":
        raise zoneinfo.ZoneInfoNotFoundError(f"No time zone found with key {key}")
    return io.BytesIO(file)


def available_timezones():
    """The names of all time zones, as a set."""
    _, names = fetch("zones")
    return set(names.decode().splitlines())


def install():
    """Have zoneinfo read zones from the host."""
    zoneinfo._common.load_tzdata = _load
    zoneinfo.available_timezones = zoneinfo._tzpath.available_timezones = available_timezones
