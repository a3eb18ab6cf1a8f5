"""Dynamic programming: coins, longest common subsequences, edits, a knapsack."""

from functools import cache


def coins(amount, kinds):
    ways = [1] + [0] * amount
    for coin in kinds:
        for sum_ in range(coin, amount + 1):
            ways[sum_] += ways[sum_ - coin]
    return ways[amount]


def common(a, b):
    @cache
    def of(i, j):
        if i == len(a) or j == len(b):
            return ""
        if a[i] == b[j]:
            return a[i] + of(i + 1, j + 1)
        return max(of(i + 1, j), of(i, j + 1), key=len)

    return of(0, 0)


def edits(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(previous + (x != y), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def knapsack(items, room):
    best = {0: (0, ())}
    for name, weight, value in items:
        for used, (worth, names) in list(best.items()):
            if used + weight <= room and worth + value > best.get(used + weight, (-1,))[0]:
                best[used + weight] = worth + value, (*names, name)
    return max(best.values())


def main():
    items = [
        ("map", 9, 150),
        ("compass", 13, 35),
        ("water", 153, 200),
        ("tin", 68, 45),
        ("banana", 27, 60),
        ("glucose", 15, 60),
    ]
    return {
        "coins": [coins(100, [1, 5, 10, 25, 50]), coins(1000, [1, 2, 5, 10, 20, 50, 100, 200])],
        "common": common("the quick brown fox jumps", "a lazy dog just thinks of boxes"),
        "edits": edits("intention", "execution"),
        "knapsack": knapsack(items, 200),
    }
