"""Calendars as text and as numbers, leap years, weeks."""

import calendar
from datetime import date

cal = calendar.Calendar(calendar.SUNDAY)
text = calendar.TextCalendar(calendar.MONDAY)
return {
    "page": text.formatmonth(2024, 2).splitlines(),
    "weeks": cal.monthdayscalendar(2026, 5),
    "range": [calendar.monthrange(year, 2) for year in (1900, 2000, 2023, 2024)],
    "leaps": calendar.leapdays(1900, 2100),
    "fridays": [
        f"{day:%Y-%m-%d}"
        for month in range(1, 13)
        for day in [date(2026, month, 13)]
        if day.weekday() == calendar.FRIDAY
    ],
    "html": calendar.HTMLCalendar().formatweekday(2),
    "timegm": calendar.timegm((2031, 5, 6, 7, 8, 9)),
    "names": [list(calendar.day_abbr), list(calendar.month_name)[1:4]],
    "iso": [date(2020, 12, 31).isocalendar()[:], date.fromisocalendar(2021, 1, 1).isoformat()],
}
