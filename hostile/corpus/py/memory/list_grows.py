# A list of blocks without an end.
# expect: memory_limit
blocks = []
while True:
    blocks.append(bytes(10 ** 6))
