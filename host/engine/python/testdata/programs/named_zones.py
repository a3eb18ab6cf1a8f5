"""Time zones: fixed offsets, a zone with rules of its own, folds and gaps."""

from datetime import datetime, timedelta, timezone, tzinfo

HOUR = timedelta(hours=1)


class Central(tzinfo):
    """Central Europe since 1996: summer time from the last Sunday of March to that of October."""

    @staticmethod
    def last_sunday(year, month):
        day = datetime(year, month, 31, 1, tzinfo=timezone.utc)
        return day - timedelta(days=day.isoweekday() % 7)

    def summer(self, utc):
        return self.last_sunday(utc.year, 3) <= utc < self.last_sunday(utc.year, 10)

    def dst(self, at):
        utc = at.replace(tzinfo=timezone.utc) - HOUR
        if at.fold == 0 and self.summer(utc - HOUR):
            return HOUR
        return HOUR if self.summer(utc) and self.summer(utc - HOUR) else timedelta(0)

    def utcoffset(self, at):
        return HOUR + self.dst(at)

    def tzname(self, at):
        return "CEST" if self.dst(at) else "CET"

    def fromutc(self, at):
        utc = at.replace(tzinfo=timezone.utc)
        before = not self.summer(utc) and self.summer(utc - HOUR)
        return at + (2 * HOUR if self.summer(utc) else HOUR) if not before else (at + HOUR).replace(fold=1)


def main():
    zone, india = Central(), timezone(timedelta(hours=5, minutes=30), "IST")
    start = datetime(2026, 10, 25, 0, 0, tzinfo=timezone.utc)
    hours = [(start + n * HOUR).astimezone(zone) for n in range(3)]
    talk = datetime(2026, 7, 1, 18, 30, tzinfo=india)
    try:
        talk < datetime(2026, 7, 1)
    except TypeError as error:
        naive = str(error)
    return {
        "hours": [f"{hour:%H:%M %Z %z} {hour.fold}" for hour in hours],
        "talk": [talk.isoformat(), talk.astimezone(zone).isoformat(), talk.astimezone(timezone.utc).isoformat()],
        "same": [
            talk == talk.astimezone(zone),
            (talk - start).total_seconds(),
            hash(talk) == hash(talk.astimezone(zone)),
        ],
        "stamps": [talk.timestamp(), start.timestamp()],
        "names": [str(timezone.utc), str(timezone(-HOUR * 3.5)), india.tzname(None)],
        "naive": naive,
        "rounded": str(timezone(timedelta(seconds=3661, microseconds=5))),
    }
