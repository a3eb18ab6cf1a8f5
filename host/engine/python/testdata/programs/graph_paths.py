"""Shortest paths, components, an order of tasks, a spanning tree."""

import heapq
from collections import deque
from graphlib import CycleError, TopologicalSorter

ROADS = [
    ("a", "b", 7),
    ("a", "c", 9),
    ("a", "f", 14),
    ("b", "c", 10),
    ("b", "d", 15),
    ("c", "d", 11),
    ("c", "f", 2),
    ("d", "e", 6),
    ("e", "f", 9),
    ("x", "y", 1),
]


def neighbours(roads):
    near = {}
    for a, b, length in roads:
        near.setdefault(a, []).append((b, length))
        near.setdefault(b, []).append((a, length))
    return near


def dijkstra(near, start):
    best, queue = {}, [(0, start, None)]
    while queue:
        length, place, before = heapq.heappop(queue)
        if place in best:
            continue
        best[place] = length, before
        for other, more in near[place]:
            heapq.heappush(queue, (length + more, other, place))
    return best


def components(near):
    seen = set()
    for start in sorted(near):
        if start not in seen:
            part, queue = [], deque([start])
            while queue:
                place = queue.popleft()
                if place not in seen:
                    seen.add(place)
                    part.append(place)
                    queue.extend(other for other, _ in near[place])
            yield sorted(part)


def kruskal(roads):
    parent = {}

    def find(x):
        while parent.setdefault(x, x) != x:
            x = parent[x]
        return x

    for a, b, length in sorted(roads, key=lambda road: road[2]):
        if find(a) != find(b):
            parent[find(a)] = find(b)
            yield a + b


def main():
    near = neighbours(ROADS)
    tasks = TopologicalSorter({"shoes": {"socks", "trousers"}, "coat": {"shirt", "trousers"}, "trousers": {"pants"}})
    tasks.prepare()
    rounds = []
    while tasks.is_active():
        rounds.append(sorted(tasks.get_ready()))
        tasks.done(*rounds[-1])
    try:
        TopologicalSorter({1: [2], 2: [1]}).prepare()
    except CycleError as error:
        cycle = sorted(set(error.args[1]))
    return [dijkstra(near, "a"), list(components(near)), rounds, cycle, list(kruskal(ROADS))]
