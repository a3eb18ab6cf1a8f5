"""Huffman codes: a text packed into bits and unpacked again."""

import heapq
from collections import Counter
from itertools import count


def codes(text):
    number = count()
    heap = [(n, next(number), letter) for letter, n in sorted(Counter(text).items())]
    heapq.heapify(heap)
    while len(heap) > 1:
        (m, _, a), (n, _, b) = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (m + n, next(number), (a, b)))
    table = {}

    def assign(node, code):
        if isinstance(node, str):
            table[node] = code or "0"
        else:
            assign(node[0], code + "0")
            assign(node[1], code + "1")

    assign(heap[0][2], "")
    return table


def unpack(bits, table):
    letters, code = {code: letter for letter, code in table.items()}, ""
    for bit in bits:
        code += bit
        if code in letters:
            yield letters[code]
            code = ""


def main(text="she sells sea shells by the sea shore"):
    table = codes(text)
    bits = "".join(table[letter] for letter in text)
    packed = int("1" + bits, 2).to_bytes(len(bits) // 8 + 1, "big")
    return [dict(sorted(table.items())), len(bits), packed.hex(), "".join(unpack(bits, table)) == text]
