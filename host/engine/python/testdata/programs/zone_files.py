"""zoneinfo: a zone made by hand, as the bytes of a TZif file (RFC 8536)."""

import io
import struct
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def zone_file(changes, kinds, rule):
    """Version 2 of the format: an empty part for 32 bits, a part for 64 bits, and the rule for what comes after."""
    names = b"".join(name + b"\0" for _, _, name in kinds)
    places = [sum(len(name) + 1 for _, _, name in kinds[:n]) for n in range(len(kinds))]
    head = struct.Struct(">4sc15x6I")
    empty = head.pack(b"TZif", b"2", 0, 0, 0, 0, 1, 1) + struct.pack(">iBB", 0, 0, 0) + b"\0"
    data = head.pack(b"TZif", b"2", 0, 0, 0, len(changes), len(kinds), len(names))
    data += b"".join(struct.pack(">q", at) for at, _ in changes) + bytes(kind for _, kind in changes)
    data += b"".join(struct.pack(">iBB", offset, dst, place) for (offset, dst, _), place in zip(kinds, places)) + names
    return io.BytesIO(empty + data + b"\n" + rule + b"\n")


def main():
    kinds = [(-18000, 0, b"EST"), (-14400, 1, b"EDT")]
    zone = ZoneInfo.from_file(
        zone_file([(1_000_000_000, 1), (1_010_000_000, 0)], kinds, b"EST5EDT,M3.2.0,M11.1.0"), key="My/Zone"
    )
    times = [
        datetime(2001, 9, 1),
        datetime(2001, 9, 10),
        datetime(2002, 1, 15),
        datetime(2040, 7, 1),
        datetime(2040, 11, 4, 1, 30),
        datetime(2040, 11, 4, 1, 30, fold=1),
    ]
    try:
        ZoneInfo("No/Such_Zone")
    except ZoneInfoNotFoundError:
        missing = True
    gap = datetime(2040, 3, 11, 2, 30, tzinfo=zone)
    return {
        "local": [f"{at.replace(tzinfo=zone):%Y-%m-%d %H:%M %Z%z}" for at in times],
        "dst": [at.replace(tzinfo=zone).dst() / timedelta(hours=1) for at in times],
        "utc": [datetime(2040, 11, 4, hour, tzinfo=timezone.utc).astimezone(zone).isoformat() for hour in (5, 6)],
        "gap": gap.astimezone(timezone.utc).astimezone(zone).isoformat(),
        "key": [zone.key, str(zone), missing],
        "always there": [
            datetime(2031, 5, 6, tzinfo=ZoneInfo(key)).astimezone(zone).isoformat() for key in ("UTC", "Etc/UTC")
        ],
    }
