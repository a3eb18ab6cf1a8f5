"""Suggestions for misspelt names."""

from difflib import get_close_matches

_MAX_LENGTH, _MAX_NAMES = 64, 100  # bound the time


def near(word, known):
    """Return the known name that is most similar to a word, or None if none is similar."""
    folded = {_fold(name): name for name in known[:_MAX_NAMES] if len(name) <= _MAX_LENGTH}
    found = get_close_matches(_fold(word[:_MAX_LENGTH]), folded, 1, 0.75)
    return folded[found[0]] if found else None


def _fold(name):
    return name.replace("_", "").lower()
