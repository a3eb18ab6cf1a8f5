"""CSV: quotes, dialects, sniffing, groups and sums."""

import csv
import io
from itertools import groupby
from operator import itemgetter

TABLE = """name,city,amount
"Miller, Ann",Köln,12.50
Bob,"New
York",7
"Eve ""E"" X",Köln,0.25
"""


class Pipes(csv.Dialect):
    delimiter, quotechar, lineterminator = "|", "'", "\n"
    quoting, doublequote, escapechar, skipinitialspace = csv.QUOTE_MINIMAL, False, "\\", True


def main():
    rows = list(csv.DictReader(io.StringIO(TABLE)))
    rows.sort(key=itemgetter("city"))
    sums = {city: sum(float(row["amount"]) for row in group) for city, group in groupby(rows, itemgetter("city"))}
    out = io.StringIO()
    writer = csv.DictWriter(out, ["city", "name"], extrasaction="ignore", quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    writer.writerows(rows)
    piped = io.StringIO()
    csv.writer(piped, Pipes).writerow(["a|b", "it's", 1.5, None])
    sniffed = csv.Sniffer().sniff("a;b;c\n1;2;3\n")
    try:
        list(csv.reader(['"open'], strict=True))
    except csv.Error as error:
        broken = str(error)
    back = next(csv.reader(io.StringIO(piped.getvalue()), Pipes))
    return [rows, sums, out.getvalue(), piped.getvalue(), back, sniffed.delimiter, broken]
