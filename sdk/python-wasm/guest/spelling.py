"""Which name was probably meant."""

from difflib import get_close_matches

_LONGEST, _MOST = 64, 100  # longer words are no slips of the pen, and more of them take time


def near(word, known):
    """The known name that looks most like a word, or None."""
    folded = {_fold(name): name for name in known[:_MOST] if len(name) <= _LONGEST}
    found = get_close_matches(_fold(word[:_LONGEST]), folded, 1, 0.75)
    return folded[found[0]] if found else None


def _fold(name):
    return name.replace("_", "").lower()
