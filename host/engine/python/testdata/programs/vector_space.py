"""math: functions at their edges, sums without loss, distances on a sphere."""

import math


def haversine(a, b):
    (lat1, lon1), (lat2, lon2) = (map(math.radians, place) for place in (a, b))
    h = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(h))


def integrate(f, a, b, n=1000):
    h = (b - a) / n
    return h / 3 * math.fsum(f(a + i * h) * (1 if i in (0, n) else 4 if i % 2 else 2) for i in range(n + 1))


def root(f, low, high):
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if f(low) * f(middle) > 0 else (low, middle)
    return low


def refused(f, *args):
    try:
        return f(*args)
    except (ValueError, OverflowError) as error:
        return f"{type(error).__name__}: {error}"


return {
    "sums": [math.fsum([0.1] * 10), math.fsum([1e100, 1, -1e100]), math.prod([1.1] * 5)],
    "distance": [
        round(haversine((50.94, 6.96), (40.71, -74.01)), 6),
        math.dist((1, 2, 3), (4, 6, 3)),
        math.hypot(3, 4, 12),
    ],
    "integral": [round(integrate(math.sin, 0, math.pi), 9), round(integrate(lambda x: math.exp(-x * x), -5, 5), 9)],
    "root": root(lambda x: x * x - 2, 0, 2),
    "edges": [
        math.nextafter(1, 2),
        math.ulp(1),
        math.frexp(0.1),
        math.ldexp(0.8, -3),
        math.modf(-2.5),
        math.fmod(-7, 3),
        math.remainder(7, 4),
        math.copysign(1, -0.0),
    ],
    "rounds": [math.floor(-2.5), math.ceil(-2.5), math.trunc(-2.5), math.isqrt(10**20 + 1), round(math.cbrt(27), 12)],
    "special": [
        round(math.gamma(0.5), 12),
        round(math.erf(0.3), 12),
        round(math.lgamma(10), 12),
        math.log2(8),
        math.log(100, 10),
        math.expm1(1e-10),
        math.log1p(1e-10),
    ],
    "refused": [refused(math.sqrt, -1), refused(math.exp, 1000), refused(math.log, 0), refused(math.factorial, -1)],
    "close": [math.isclose(0.1 + 0.2, 0.3), math.isclose(0, 1e-12), math.isclose(0, 1e-12, abs_tol=1e-9)],
}
