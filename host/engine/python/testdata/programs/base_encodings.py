"""Encoding and decoding of base64, base32, base85, hex and quoted-printable."""

import base64
import binascii
import quopri

data = bytes(range(0, 256, 7)) + "grüße".encode()
codecs = {"b64": "b64", "url": "urlsafe_b64", "b32": "b32", "hex32": "b32hex", "b16": "b16", "b85": "b85", "a85": "a85"}
texts = {name: getattr(base64, codec + "encode")(data).decode() for name, codec in codecs.items()}
back = [getattr(base64, codec + "decode")(texts[name]) == data for name, codec in codecs.items()]
errors = []
for bad in ("abc", "a=bc", "ab$c"):
    try:
        errors.append(base64.b64decode(bad, validate=True).hex())
    except binascii.Error as error:
        errors.append(type(error).__name__)
return {
    "texts": texts,
    "back": back,
    "errors": errors,
    "quoted": quopri.encodestring("täglich = immer".encode()).decode(),
    "hexlify": binascii.hexlify(b"abcdef", "-", 2).decode(),
    "crc": [binascii.crc32(data), binascii.crc_hqx(data, 0)],
}
