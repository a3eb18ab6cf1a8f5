"""random with a seed: the same numbers everywhere."""

import random


def walk(rng, steps):
    x = y = 0
    for _ in range(steps):
        dx, dy = rng.choice([(0, 1), (1, 0), (0, -1), (-1, 0)])
        x, y = x + dx, y + dy
    return x, y


def main():
    rng = random.Random(42)
    inside = sum(rng.random() ** 2 + rng.random() ** 2 <= 1 for _ in range(5000))
    cards = list(range(10))
    rng.shuffle(cards)
    state = rng.getstate()
    first = [rng.random() for _ in range(3)]
    rng.setstate(state)
    return {
        "pi": 4 * inside / 5000,
        "cards": cards,
        "again": first == [rng.random() for _ in range(3)],
        "walk": walk(random.Random("a text"), 1000),
        "sample": rng.sample(range(100), 5),
        "choices": rng.choices("abc", [5, 1, 1], k=8),
        "numbers": [rng.randint(1, 6), rng.randrange(0, 100, 7), rng.getrandbits(80), rng.randbytes(6).hex()],
        "floats": [
            rng.gauss(0, 1),
            rng.expovariate(1.5),
            rng.betavariate(1, 2),
            rng.triangular(),
            rng.lognormvariate(0, 1),
            rng.vonmisesvariate(0, 1),
        ],
    }
