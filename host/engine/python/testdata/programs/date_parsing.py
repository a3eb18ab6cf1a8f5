"""Dates from texts: strptime, ISO 8601, HTTP and mail."""

from datetime import date, datetime, timezone
from email.utils import format_datetime, parsedate_to_datetime

FORMATS = [
    "%Y-%m-%d",
    "%d.%m.%y",
    "%b %d, %Y",
    "%A %d %B %Y %H:%M",
    "%Y-%j",
    "%G-W%V-%u",
    "%d/%b/%Y:%H:%M:%S %z",
    "%I:%M %p",
]


def guess(text):
    for form in FORMATS:
        try:
            return datetime.strptime(text, form).isoformat()
        except ValueError:
            continue
    return None


def iso(text):
    try:
        return datetime.fromisoformat(text).isoformat()
    except ValueError:
        return "refused"


texts = [
    "2031-05-06",
    "06.05.31",
    "May 6, 2031",
    "Tuesday 06 May 2031 07:08",
    "2031-126",
    "2031-W19-2",
    "06/May/2031:07:08:09 +0200",
    "11:59 pm",
    "?",
]
isos = [
    "2031-05-06",
    "20310506T070809",
    "2031-W19-2",
    "2031-05-06T07:08:09.123456789Z",
    "2031-05-06 07:08+05:30",
    "2031-13-01",
    "2031-5-6",
    "2031-02-29",
]
mail = parsedate_to_datetime("Tue, 06 May 2031 07:08:09 -0700")
return {
    "guessed": {text: guess(text) for text in texts},
    "iso": {text: iso(text) for text in isos},
    "mail": [mail.isoformat(), format_datetime(mail.astimezone(timezone.utc), usegmt=True)],
    "stamps": [datetime.fromtimestamp(t, timezone.utc).isoformat() for t in (0, -1.5, 2**31, 253402300799)],
    "dates": [date.fromisoformat("20310506").isoformat(), str(date.min)],
}
