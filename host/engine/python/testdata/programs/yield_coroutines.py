"""A scheduler for generators: tasks that sleep in simulated time and send each other messages."""

import heapq
from collections import defaultdict, deque
from itertools import count


class Scheduler:
    def __init__(self):
        self.now, self.queue, self.number = 0, [], count()
        self.boxes, self.waiting, self.log = defaultdict(deque), {}, []

    def add(self, task, delay=0, value=None):
        heapq.heappush(self.queue, (self.now + delay, next(self.number), task, value))

    def run(self):
        while self.queue:
            self.now, _, task, value = heapq.heappop(self.queue)
            try:
                request = task.send(value)
            except StopIteration as stop:
                self.log.append((self.now, "done", stop.value))
                continue
            match request:
                case ("sleep", delay):
                    self.add(task, delay)
                case ("put", box, item):
                    self.boxes[box].append(item)
                    if box in self.waiting:
                        self.add(self.waiting.pop(box), 0, self.boxes[box].popleft())
                    self.add(task)
                case ("get", box) if self.boxes[box]:
                    self.add(task, 0, self.boxes[box].popleft())
                case ("get", box):
                    self.waiting[box] = task
        return self.log


def producer(n):
    for i in range(n):
        yield "sleep", 10
        yield "put", "work", i * i
    yield "put", "work", None


def consumer(log):
    total = 0
    while (item := (yield "get", "work")) is not None:
        log.append(item)
        total += item
        yield "sleep", 3
    return total


def main():
    scheduler, items = Scheduler(), []
    scheduler.add(consumer(items))
    scheduler.add(producer(4))
    return [scheduler.run(), items, scheduler.now]
