"""The time zone database, which the host provides. A zone is read when a tool first uses it."""

import io
import zoneinfo

from .channel import fetch
from .values import quote


def _load(key):
    """Return the file of a zone. zoneinfo calls this function if the system has no database."""
    kind, file = fetch("zone", quote(key))
    if kind != b"ok":
        raise zoneinfo.ZoneInfoNotFoundError(f"No time zone found with key {key}")
    return io.BytesIO(file)


def available_timezones():
    """Return the names of all time zones as a set."""
    _, names = fetch("zones")
    return set(names.decode().splitlines())


def install():
    """Make zoneinfo read zones from the host."""
    zoneinfo._common.load_tzdata = _load
    zoneinfo.available_timezones = zoneinfo._tzpath.available_timezones = available_timezones
