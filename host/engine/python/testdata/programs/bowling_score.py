"""The score of a game of bowling, frame by frame."""


def frames(rolls):
    place = 0
    for number in range(1, 11):
        if rolls[place] == 10:
            yield number, "strike", sum(rolls[place : place + 3])
            place += 1
        elif sum(rolls[place : place + 2]) == 10:
            yield number, "spare", sum(rolls[place : place + 3])
            place += 2
        else:
            yield number, "open", sum(rolls[place : place + 2])
            place += 2


def score(rolls):
    return sum(points for _, _, points in frames(rolls))


games = {
    "perfect": [10] * 12,
    "gutter": [0] * 20,
    "spares": [5] * 21,
    "mixed": [10, 7, 3, 9, 0, 10, 0, 8, 8, 2, 0, 6, 10, 10, 10, 8, 1],
}
return {name: [score(rolls), list(frames(rolls))[-2:]] for name, rolls in games.items()}
