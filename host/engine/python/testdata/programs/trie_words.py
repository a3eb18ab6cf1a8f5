"""A trie: completions, corrections, a word ladder, anagrams."""

from collections import defaultdict, deque
from string import ascii_lowercase

WORDS = "cold cord card ward warm word worm wore core care dare bare bard barn warn tack take stake steak skate teaks".split()


class Trie:
    def __init__(self, words=()):
        self.children, self.ends = defaultdict(Trie), False
        for word in words:
            node = self
            for letter in word:
                node = node.children[letter]
            node.ends = True

    def words(self, start=""):
        if self.ends:
            yield start
        for letter in sorted(self.children):
            yield from self.children[letter].words(start + letter)

    def complete(self, start):
        node = self
        for letter in start:
            if letter not in node.children:
                return []
            node = node.children[letter]
        return list(node.words(start))


def near(word):
    for i in range(len(word)):
        for letter in ascii_lowercase:
            if letter != word[i]:
                yield word[:i] + letter + word[i + 1 :]


def ladder(start, end):
    before, queue = {start: None}, deque([start])
    while queue:
        word = queue.popleft()
        if word == end:
            steps = []
            while word:
                steps.append(word)
                word = before[word]
            return steps[::-1]
        for other in near(word):
            if other in WORDS and other not in before:
                before[other] = word
                queue.append(other)
    return None


trie = Trie(WORDS)
groups = defaultdict(list)
for word in WORDS:
    groups["".join(sorted(word))].append(word)
return [
    trie.complete("wa"),
    trie.complete("x"),
    list(trie.words()) == sorted(WORDS),
    ladder("cold", "warm"),
    ladder("tack", "cold"),
    [g for g in groups.values() if len(g) > 1],
]
