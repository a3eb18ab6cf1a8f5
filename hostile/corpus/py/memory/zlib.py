# Half a megabyte that decompresses to half a gigabyte: one block, over and over.
# expect: memory_limit
import zlib
pack = zlib.compressobj(9, zlib.DEFLATED, -15)
block = pack.compress(bytes(2 ** 20)) + pack.flush(zlib.Z_FULL_FLUSH)
return len(zlib.decompress(block * 512, -15))
