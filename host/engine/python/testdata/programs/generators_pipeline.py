"""Generators: send, throw, close, yield from, pipelines that pull."""

from itertools import count, islice, takewhile


def averager():
    total = n = 0
    average = None
    while True:
        try:
            total, n = total + (yield average), n + 1
        except ZeroDivisionError:
            total = n = 0
            average = "reset"
            continue
        average = total / n


def walk(tree):
    left, value, right = tree
    if left:
        yield from walk(left)
    yield value
    if right:
        yield from walk(right)


def delegate(log):
    result = yield from inner(log)
    log.append(result)
    yield "last"


def inner(log):
    try:
        yield 1
        yield 2
    except GeneratorExit:
        log.append("closed")
        raise
    return "result"


def primes():
    seen = []
    for n in count(2):
        if all(n % p for p in takewhile(lambda p: p * p <= n, seen)):
            seen.append(n)
            yield n


def main():
    average, log = averager(), []
    next(average)
    sent = [average.send(x) for x in (10, 20, 60)] + [average.throw(ZeroDivisionError), average.send(5)]
    whole = list(delegate(log))
    part = delegate(log)
    next(part)
    part.close()
    try:
        next(part)
    except StopIteration as stop:
        end = repr(stop.value)
    tree = (((None, 1, None), 2, None), 3, (None, 4, ((None, 5, None), 6, None)))
    pulled = []
    lazy = (pulled.append(n) or n * n for n in count())
    return [sent, whole, log, end, list(walk(tree)), list(islice(primes(), 20)), list(islice(lazy, 3)), pulled]
