"""array, memoryview and bytearray: casts, slices, byte order."""

import array
import sys

numbers = array.array("h", range(-3, 4))
numbers.append(1000)
view = memoryview(numbers).cast("B")
swapped = array.array("h", numbers)
swapped.byteswap()
buffer = bytearray(b"hello world")
window = memoryview(buffer)[6:]
window[:] = b"there"
grid = memoryview(bytes(range(24))).cast("B", (2, 3, 4))
return {
    "bytes": view.tobytes().hex(" ", 2) if sys.byteorder == "little" else None,
    "swapped": swapped.tolist(),
    "buffer": buffer.decode(),
    "grid": [grid.shape, grid.strides, grid[1, 2, 3], grid.tolist()[1][0]],
    "floats": array.array("d", [0.1, 1e308]).tobytes().hex(),
    "edits": bytearray(b"a,b,c").replace(b",", b";").split(b";")[1].decode(),
    "translate": b"secret".translate(bytes.maketrans(b"ers", b"ESR"), b"t").decode(),
}
