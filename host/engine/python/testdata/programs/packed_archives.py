"""The formats zlib, gzip, bz2, zip and tar, without files."""

import bz2
import gzip
import io
import tarfile
import zipfile
import zlib

TEXT = b"a line that comes again and again\n" * 50


def streamed(data):
    packer, parts = zlib.compressobj(9, wbits=-15), []
    for start in range(0, len(data), 100):
        parts.append(packer.compress(data[start : start + 100]))
    parts.append(packer.flush())
    unpacker = zlib.decompressobj(-15)
    first = unpacker.decompress(b"".join(parts), 10)
    return first + unpacker.decompress(unpacker.unconsumed_tail) == data and unpacker.eof


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/b.txt", TEXT)
        archive.writestr(zipfile.ZipInfo("grün.txt", (2031, 5, 6, 7, 8, 10)), "ü")
    with zipfile.ZipFile(file) as archive:
        info = archive.getinfo("grün.txt")
        return [archive.namelist(), archive.testzip(), archive.read("a/b.txt") == TEXT, info.CRC, info.date_time]


def tarred():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        info = tarfile.TarInfo("x/y.txt")
        info.size, info.mtime = len(TEXT), 12345
        archive.addfile(info, io.BytesIO(TEXT))
    file.seek(0)
    with tarfile.open(fileobj=file) as archive:
        return [[m.name, m.size, m.mtime, archive.extractfile(m).read() == TEXT] for m in archive]


def main():
    try:
        zlib.decompress(b"nonsense")
    except zlib.error as error:
        broken = str(error)
    packed = gzip.compress(TEXT, mtime=0)
    return {
        "zlib": [zlib.decompress(zlib.compress(TEXT)) == TEXT, len(zlib.compress(TEXT)) < 100, streamed(TEXT), broken],
        "gzip": [gzip.decompress(packed) == TEXT, gzip.open(io.BytesIO(packed), "rt").readline()],
        "bz2": [bz2.compress(TEXT).hex(), bz2.decompress(bz2.compress(TEXT)) == TEXT],
        "zip": zipped(),
        "tar": tarred(),
        "read": zlib.decompress(bytes.fromhex("789c4b4c4a0600024d0127")).decode(),
    }
