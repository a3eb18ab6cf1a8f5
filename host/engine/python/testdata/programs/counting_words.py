"""The words of a text: how many, how long, which follow which."""

import re
from collections import Counter, defaultdict

TEXT = """It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness,
it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of Darkness."""


def main(text=TEXT):
    words = re.findall(r"[a-z']+", text.lower())
    counts = Counter(words)
    follows = defaultdict(Counter)
    for word, after in zip(words, words[1:]):
        follows[word][after] += 1
    letters = Counter("".join(words))
    letters.subtract(Counter("eeee"))
    return {
        "words": len(words),
        "common": counts.most_common(5),
        "once": sorted(word for word, n in counts.items() if n == 1),
        "follows": {word: dict(after) for word, after in sorted(follows.items()) if len(after) > 1},
        "letters": letters.most_common(3),
        "algebra": dict(sorted((Counter("aab") & Counter("abc") | Counter("c")).items())),
        "total": [counts.total(), (counts - Counter(words)).total()],
    }
