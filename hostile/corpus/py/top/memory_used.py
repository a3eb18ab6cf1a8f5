# The top level takes nearly all the memory, which is then part of what runs begin with.
# expect: output 200000000 or memory_limit
kept = bytearray(200_000_000)


def main():
    return len(kept)
