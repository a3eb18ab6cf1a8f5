"""Hashes and message authentication, in one go and in parts."""

import hashlib
import hmac
import zlib

DATA = b"The quick brown fox jumps over the lazy dog"


def in_parts(name):
    hashed = hashlib.new(name)
    for start in range(0, len(DATA), 10):
        hashed.update(DATA[start : start + 10])
    copy = hashed.copy()
    copy.update(b".")
    return [hashed.hexdigest(), copy.hexdigest(), hashed.digest_size, hashed.block_size]


def main():
    names = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "sha3_512", "blake2b", "blake2s"]
    return {
        "hashes": {name: in_parts(name) for name in names},
        "shake": hashlib.shake_128(DATA).hexdigest(20),
        "keyed": hashlib.blake2b(DATA, key=b"key", salt=b"salt", person=b"me", digest_size=16).hexdigest(),
        "hmac": [hmac.new(b"key", DATA, name).hexdigest() for name in ("md5", "sha256", "sha512")],
        "digest": hmac.digest(b"key", DATA, "sha256").hex(),
        "same": [hmac.compare_digest("abc", "abc"), hmac.compare_digest(b"abc", b"abd")],
        "sums": [zlib.crc32(DATA), zlib.adler32(DATA)],
    }
