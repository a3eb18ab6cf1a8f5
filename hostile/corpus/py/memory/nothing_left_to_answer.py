# Uses the memory to the last byte, so that there is none to write the answer with.
# expect: memory_limit or tool_error or output_limit
blocks, size = [], 2 ** 27
while size:
    try:
        blocks.append(bytearray(size))
    except MemoryError:
        size //= 2
return 'x' * (1 << 19)
