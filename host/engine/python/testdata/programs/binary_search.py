"""bisect: ranks, grades, insertion with a key, a sorted list."""

from bisect import bisect, bisect_left, bisect_right, insort
from operator import itemgetter


def grade(score, breaks=(60, 70, 80, 90), grades="FDCBA"):
    return grades[bisect(breaks, score)]


def main():
    people = []
    for person in [("ann", 31), ("bob", 25), ("eve", 40), ("joe", 25)]:
        insort(people, person, key=itemgetter(1))
    values = sorted([5, 3, 3, 9, 1, 3])
    return {
        "grades": [grade(score) for score in (33, 99, 77, 70, 89, 90, 100)],
        "people": people,
        "range": [bisect_left(values, 3), bisect_right(values, 3), bisect_left(values, 10), bisect_left(values, 3, 3)],
    }
