"""Results of zoneinfo for many zones and instants: at each change of an offset, near it, and far from any."""

import hashlib
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, _common, available_timezones

SECOND, HOUR, STEP = timedelta(seconds=1), timedelta(hours=1), timedelta(days=59)
FIRST, LAST = datetime(1895, 1, 1, tzinfo=timezone.utc), datetime(2061, 1, 1, tzinfo=timezone.utc)
FAR = [datetime(year, month, 1, 12, 30, tzinfo=timezone.utc) for year in (2, 1066, 2100, 2499, 9998) for month in (1, 5, 7, 11)]

MANY = """
    America/Sao_Paulo America/New_York America/St_Johns America/Anchorage America/Caracas America/Havana America/Nuuk
    America/Argentina/Buenos_Aires America/Scoresbysund Europe/Berlin Europe/London Europe/Dublin Europe/Moscow
    Europe/Istanbul Europe/Lisbon Europe/Amsterdam Africa/Casablanca Africa/Cairo Africa/Monrovia Africa/Windhoek
    Asia/Kolkata Asia/Kathmandu Asia/Tehran Asia/Gaza Asia/Tokyo Asia/Shanghai Asia/Pyongyang Asia/Manila
    Australia/Lord_Howe Australia/Sydney Australia/Eucla Pacific/Apia Pacific/Chatham Pacific/Kiritimati Pacific/Auckland
    Antarctica/Troll Antarctica/Casey Atlantic/Azores Indian/Maldives UTC Etc/UTC Etc/GMT+12 EST5EDT CET GMT Factory
"""


def described(at):
    return f"{at.isoformat()} {at.dst()} {at.tzname()} {at.fold} {at.timestamp()}"


def kind(at, zone):
    at = at.astimezone(zone)
    return at.utcoffset(), at.dst(), at.tzname()


def changes(zone):
    """Yield the instants before and at each change of the zone that steps of two months can find."""
    at, was = FIRST, kind(FIRST, zone)
    while at < LAST:
        after = at + STEP
        now = kind(after, zone)
        if now != was:
            low, high = at, after
            while high - low > SECOND:
                middle = low + (high - low) // 2 // SECOND * SECOND
                low, high = (middle, high) if kind(middle, zone) == was else (low, middle)
            yield low
            yield high
        at, was = after, now


def lines(key):
    zone = ZoneInfo(key)
    for at in [*changes(zone), *FAR]:
        yield described(at.astimezone(zone))
        for fold in (0, 1):
            for shift in (-HOUR, timedelta(0), HOUR / 2, HOUR):  # local times that occur twice or never
                wall = at.astimezone(zone).replace(tzinfo=None) + shift
                yield described(wall.replace(tzinfo=zone, fold=fold))


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def missing(key):
    try:
        return str(ZoneInfo(key))
    except (ZoneInfoNotFoundError, ValueError) as error:
        return [type(error).__name__, str(error)[:60]]


def main():
    answers = {}
    for key in MANY.split():
        text = list(lines(key))
        answers[key] = [len(text), digest("\n".join(text).encode()), text[0], text[-1]]
    names = sorted(available_timezones())
    files = {name: digest(_common.load_tzdata(name).read()) for name in names}
    wrong = ["America/Sao_Paolo", "No/Such_Zone", "america/sao_paulo", "../UTC", "/UTC", "", "Zone\n1", "Ü/é", "x" * 3000]
    return [answers, len(names), files, [missing(key) for key in wrong]]
