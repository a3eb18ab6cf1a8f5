"""Heaps: a schedule by priority, merged streams, the largest, a running median."""

import heapq
from dataclasses import dataclass, field
from itertools import count


@dataclass(order=True)
class Task:
    priority: int
    number: int
    name: str = field(compare=False)


class Median:
    def __init__(self):
        self.low, self.high = [], []

    def add(self, value):
        heapq.heappush(self.high, -heapq.heappushpop(self.low, -value))
        if len(self.high) > len(self.low):
            heapq.heappush(self.low, -heapq.heappop(self.high))
        return -self.low[0] if len(self.low) > len(self.high) else (self.high[0] - self.low[0]) / 2


def main():
    number, queue = count(), []
    for priority, name in [(3, "sweep"), (1, "rescue"), (2, "cook"), (1, "warn"), (3, "rest")]:
        heapq.heappush(queue, Task(priority, next(number), name))
    order = [heapq.heappop(queue).name for _ in range(5)]
    values = [31, 41, 59, 26, 53, 58, 97, 93, 23, 84]
    heap = values[:]
    heapq.heapify(heap)
    median = Median()
    return {
        "order": order,
        "medians": [median.add(value) for value in values],
        "merged": list(heapq.merge("adz", "bcy", key=ord)),
        "largest": heapq.nlargest(3, values, key=lambda value: value % 10),
        "smallest": heapq.nsmallest(2, values),
        "heap": [heap[0], heapq.heapreplace(heap, 1), heap[0], heapq.heappushpop(heap, 0)],
    }
