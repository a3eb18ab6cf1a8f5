"""Integers of any size: powers, roots, digits, bytes, bits."""

import math


def fibonacci(n):
    a, b = 0, 1
    for bit in bin(n)[2:]:
        a, b = a * (2 * b - a), a * a + b * b
        if bit == "1":
            a, b = b, a + b
    return a


def main():
    n = fibonacci(1000)
    return {
        "fibonacci": str(n),
        "root": [str(math.isqrt(n)), math.isqrt(n) ** 2 <= n < (math.isqrt(n) + 1) ** 2],
        "modular": [pow(3, 10**18, 10**9 + 7), pow(17, -1, 3120)],
        "divisions": [divmod(-(10**25), 7777), (-7) // 2, -7 % 3, divmod(7, -2)],
        "bits": [n.bit_length(), n.bit_count(), (n >> 600) & 0xFFFF, ~n % 1000, (-n ^ n) % 1024],
        "bytes": [n.to_bytes(90, "big").hex(), int.from_bytes(b"\xff\x00", "big", signed=True)],
        "texts": [f"{2**70:,}", f"{2**70:#x}", f"{255:08b}", int("zz", 36), int("0b101", 0), f"{10**20:_d}"],
        "number theory": [
            math.gcd(2**80, 6**40) == 2**40,
            math.lcm(*range(1, 30)),
            math.comb(60, 30),
            math.perm(20, 5),
        ],
        "factorial": str(math.factorial(60)),
    }
