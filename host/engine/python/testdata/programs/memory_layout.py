"""struct: a file format with a header, records and a checksum, written and read."""

import io
import struct
import zlib
from typing import NamedTuple


class Record(NamedTuple):
    id: int
    price: float
    name: bytes
    flags: int

    FORMAT = struct.Struct("<Id8sB")


def write(records):
    body = b"".join(Record.FORMAT.pack(*record) for record in records)
    return struct.pack("!4sHHI", b"DATA", 1, len(records), zlib.crc32(body)) + body


def read(data):
    file = io.BytesIO(data)
    magic, version, count, checksum = struct.unpack("!4sHHI", file.read(12))
    body = file.read()
    if magic != b"DATA" or zlib.crc32(body) != checksum:
        raise ValueError("damaged")
    return [Record._make(fields) for fields in Record.FORMAT.iter_unpack(body)]


records = [Record(1, 9.99, b"pen", 3), Record(2**32 - 1, -0.0, b"longer than eight", 255)]
data = write(records)
try:
    read(data[:-1] + b"\x00")
except ValueError as error:
    damaged = str(error)
try:
    struct.pack("b", 200)
except struct.error as error:
    refused = "-128 <= number <= 127" in str(error)
return {
    "data": data.hex(" ", 4),
    "back": [[r.id, r.price, r.name.rstrip(b"\0").decode(), r.flags] for r in read(data)],
    "damaged": damaged,
    "refused": refused,
    "sizes": [struct.calcsize(form) for form in ("<bhilqfd", ">bxh", "!3s2x?", "=hq")],
    "halves": struct.pack("<e", 1.1).hex(),
    "order": [struct.pack(order + "H", 258).hex() for order in "<>!"],
    "into": struct.unpack_from("<2H", b"\0\1\0\2\0", 1),
}
