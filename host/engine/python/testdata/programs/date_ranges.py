"""Dates: working days, ages, Easter, overlaps of bookings."""

from datetime import date, datetime, timedelta


def working_days(start, end, holidays=()):
    days = (start + timedelta(n) for n in range((end - start).days + 1))
    return sum(day.weekday() < 5 and day not in holidays for day in days)


def easter(year):
    a, b, c = year % 19, year // 100, year % 100
    d = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    e = (32 + 2 * (b % 4) + 2 * (c // 4) - d - c % 4) % 7
    f = d + e - 7 * ((a + 11 * d + 22 * e) // 451) + 114
    return date(year, f // 31, f % 31 + 1)


def age(born, today):
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))


def main():
    start, end = date(2026, 4, 1), date(2026, 5, 15)
    holidays = {easter(2026) + timedelta(days) for days in (-2, 1, 39)}
    a, b = (datetime(2026, 1, 1, 10), datetime(2026, 1, 1, 12)), (datetime(2026, 1, 1, 11, 30), datetime(2026, 1, 2))
    overlap = min(a[1], b[1]) - max(a[0], b[0])
    return {
        "working": [working_days(start, end), working_days(start, end, holidays)],
        "easter": [easter(year).isoformat() for year in (1818, 1943, 2000, 2026, 2038)],
        "age": [age(date(2000, 2, 29), date(2026, 2, 28)), age(date(2000, 2, 29), date(2026, 3, 1))],
        "overlap": [str(overlap), overlap.total_seconds(), overlap / timedelta(hours=1)],
        "delta": [
            str(timedelta(days=-1, seconds=5)),
            repr(timedelta(weeks=1.5)),
            divmod(timedelta(hours=25), timedelta(days=1))[0],
        ],
        "texts": [
            f"{start:%A %d. %B %Y, day %j, week %V}",
            start.ctime(),
            datetime(1, 1, 1).isoformat("T", "milliseconds"),
        ],
        "ordinals": [date.max.toordinal(), date.fromordinal(700000).isoformat()],
    }
