"""UUIDs by name, their fields, their order."""

import uuid

names = ["python.org", "example.com/a", ""]
one = uuid.UUID("{12345678-1234-5678-1234-567812345678}")
try:
    uuid.UUID("123")
except ValueError as error:
    refused = str(error)
return {
    "version 3": [str(uuid.uuid3(uuid.NAMESPACE_DNS, name)) for name in names],
    "version 5": [str(uuid.uuid5(uuid.NAMESPACE_URL, name)) for name in names],
    "nested": uuid.uuid5(uuid.uuid5(uuid.NAMESPACE_OID, "a"), "b").hex,
    "fields": [one.time_low, one.fields[1], one.int % 1000, one.urn, one.version, one.variant, one.bytes_le.hex()],
    "order": [str(x)[:8] for x in sorted([uuid.uuid5(uuid.NAMESPACE_DNS, str(n)) for n in range(4)])],
    "version 4": uuid.UUID(bytes=b"\x00" * 16, version=4).hex,
    "refused": refused,
}
