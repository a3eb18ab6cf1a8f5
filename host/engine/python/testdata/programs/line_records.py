"""A log in lines: parsed, filtered, summed up by hour and by status."""

import re
from collections import Counter, defaultdict
from datetime import datetime, timezone
from statistics import mean

LOG = """\
10.0.0.1 - - [06/May/2031:07:08:09 +0000] "GET /index.html HTTP/1.1" 200 5120 0.012
10.0.0.2 - ann [06/May/2031:07:59:59 +0000] "POST /login HTTP/1.1" 302 0 0.250
garbage
10.0.0.1 - - [06/May/2031:08:00:01 +0000] "GET /missing?q=a%20b HTTP/2.0" 404 312 0.003
10.0.0.3 - - [06/May/2031:08:30:00 +0200] "GET /index.html HTTP/1.1" 200 5120 0.020
"""
LINE = re.compile(
    r"""(?P<host>\S+)\ -\ (?P<user>\S+)\ \[(?P<time>[^]]+)]\s
    "(?P<verb>[A-Z]+)\ (?P<path>[^\s?]*)(?:\?(?P<query>\S*))?\ HTTP/(?P<version>[\d.]+)"\s
    (?P<status>\d{3})\ (?P<size>\d+)\ (?P<took>[\d.]+)$""",
    re.VERBOSE,
)

records, bad = [], []
for number, line in enumerate(LOG.splitlines(), 1):
    if match := LINE.match(line):
        records.append(match.groupdict())
    else:
        bad.append(number)
hours = defaultdict(list)
for record in records:
    at = datetime.strptime(record["time"], "%d/%b/%Y:%H:%M:%S %z")
    hours[f"{at.astimezone(timezone.utc):%H}h"].append(float(record["took"]))
return {
    "bad": bad,
    "status": dict(Counter(record["status"] for record in records)),
    "hours": {hour: [len(took), round(mean(took), 6)] for hour, took in hours.items()},
    "bytes": sum(int(record["size"]) for record in records),
    "queries": [record["query"] for record in records],
}
