"""Consistent hashing: the server of each key, and the keys that move when a server is removed."""

import hashlib
from bisect import bisect, insort
from collections import Counter


def place(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


class Ring:
    def __init__(self, servers, points=40):
        self.points = []
        for server in servers:
            for n in range(points):
                insort(self.points, (place(f"{server}/{n}"), server))

    def server(self, key):
        return self.points[bisect(self.points, (place(key), "~")) % len(self.points)][1]

    def remove(self, server):
        self.points = [point for point in self.points if point[1] != server]


ring = Ring(["red", "green", "blue"])
keys = [f"key{n}" for n in range(300)]
before = {key: ring.server(key) for key in keys}
ring.remove("green")
moved = [key for key in keys if ring.server(key) != before[key]]
return [dict(sorted(Counter(before.values()).items())), len(moved), {before[key] for key in moved} == {"green"}]
