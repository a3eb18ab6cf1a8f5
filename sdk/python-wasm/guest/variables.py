"""The variables of a tool as ``os.environ``, which has those of its run.

The top level of a tool that runs once for all runs has none of them, so it is noted whether it uses them.
"""

import os

_Plain = type(os.environ)
_used = _filled = False


def _note():
    global _used
    _used = True


class _Environ(_Plain):
    """The mapping of ``os``, which notes that it is used."""

    def __getitem__(self, key):
        _note()
        return _Plain.__getitem__(self, key)

    def __setitem__(self, key, value):
        _note()
        _Plain.__setitem__(self, key, value)

    def __delitem__(self, key):
        _note()
        _Plain.__delitem__(self, key)

    def __iter__(self):
        _note()
        return _Plain.__iter__(self)

    def __len__(self):
        _note()
        return _Plain.__len__(self)

    def __repr__(self):
        _note()
        return _Plain.__repr__(self)


_Environ.__qualname__ = _Environ.__name__ = _Plain.__name__
_all = os.environ, os.environb


def install():
    """Have the mappings of ``os`` note that they are used. They stay the same objects: modules hold them already."""
    for mapping in _all:
        mapping.__class__ = _Environ


def watch(run):
    """Call a function, and return whether it used the variables."""
    global _used
    _used = False
    run()
    return _used


def fill(env):
    """Set the variables of a run, once: the top level of a tool may have changed them before the entry runs.

    They are no variables of the process: C sees none of them.
    """
    global _filled
    if _filled or not env or not isinstance(env, dict):
        return
    _filled = True
    mapping = _all[0]
    for name, value in env.items():
        mapping._data[mapping.encodekey(name)] = mapping.encodevalue(value)
