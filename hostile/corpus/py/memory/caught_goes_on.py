# Asks again and again for what it is refused, and keeps what it got.
# expect: timeout
blocks = []
while True:
    try:
        blocks.append(bytearray(2 ** 20))
    except MemoryError:
        pass
