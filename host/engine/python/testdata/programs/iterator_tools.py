"""Nearly every function of the module itertools, with small inputs."""

import itertools as it
import operator


def window(values, size):
    streams = it.tee(values, size)
    for skip, stream in enumerate(streams):
        next(it.islice(stream, skip, skip), None)
    return zip(*streams)


def runs(values):
    return [(key, len(list(group))) for key, group in it.groupby(values)]


def round_robin(*values):
    turns = it.cycle([iter(v) for v in values])
    left = len(values)
    while left:
        try:
            for turn in turns:
                yield next(turn)
        except StopIteration:
            left -= 1
            turns = it.cycle(it.islice(turns, left))


def main():
    return {
        "accumulate": [list(it.accumulate([3, 1, 4, 1, 5], max)), list(it.accumulate(range(5), initial=100))],
        "chain": "".join(it.chain("ab", it.chain.from_iterable(["c", "de"]))),
        "combinations": ["".join(c) for c in it.combinations("abcd", 2)]
        + ["".join(c) for c in it.combinations_with_replacement("ab", 3)],
        "permutations": ["".join(p) for p in it.permutations("abc")] + [len(list(it.permutations(range(6), 3)))],
        "product": ["".join(p) for p in it.product("ab", "xy", repeat=1)]
        + [sum(1 for _ in it.product(range(3), repeat=4))],
        "compress": list(it.compress("abcdef", [1, 0, 1, 0, 1])),
        "while": [
            list(it.takewhile(lambda x: x < 3, [1, 2, 3, 1])),
            list(it.dropwhile(lambda x: x < 3, [1, 2, 3, 1])),
            list(it.filterfalse(None, [0, 1, ""])),
        ],
        "slices": [list(it.islice(it.count(10, -3), 2, 9, 3)), list(it.islice("abc", None))],
        "pairs": [list(it.pairwise("abcd")), list(window(range(5), 3))],
        "starmap": list(it.starmap(pow, [(2, 5), (3, 2)])),
        "longest": list(it.zip_longest("ab", [1], fillvalue="-")),
        "repeat": list(map(operator.mul, range(4), it.repeat(7))),
        "runs": runs("aaabccaa"),
        "robin": "".join(round_robin("abc", "d", "ef")),
        "strict": strict(),
    }


def strict():
    try:
        return list(zip([1, 2], [3], strict=True))
    except ValueError as error:
        return str(error)
