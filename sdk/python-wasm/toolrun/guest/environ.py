"""The variables of a run as ``os.environ``.

A top level that runs once for all runs has no variables, so this module records whether the top level uses any.
"""

import os

_Plain = type(os.environ)
_used = _filled = False


def _record():
    global _used
    _used = True


class _Environ(_Plain):
    """The class of ``os.environ`` that records each use."""

    def __getitem__(self, key):
        _record()
        return _Plain.__getitem__(self, key)

    def __setitem__(self, key, value):
        _record()
        _Plain.__setitem__(self, key, value)

    def __delitem__(self, key):
        _record()
        _Plain.__delitem__(self, key)

    def __iter__(self):
        _record()
        return _Plain.__iter__(self)

    def __len__(self):
        _record()
        return _Plain.__len__(self)

    def __repr__(self):
        _record()
        return _Plain.__repr__(self)


_Environ.__qualname__ = _Environ.__name__ = _Plain.__name__
_all = os.environ, os.environb


def install():
    """Make the mappings of ``os`` record each use.

    The mappings stay the same objects, because modules refer to them.
    """
    for mapping in _all:
        mapping.__class__ = _Environ


def watch(run):
    """Call a function and return whether it used the variables."""
    global _used
    _used = False
    run()
    return _used


def fill(env):
    """Set the variables of a run. Only the first call has an effect, because a top level may have changed them.

    The variables are not variables of the process, so C code does not see them.
    """
    global _filled
    if _filled or not env or not isinstance(env, dict):
        return
    _filled = True
    mapping = _all[0]
    for name, value in env.items():
        mapping._data[mapping.encodekey(name)] = mapping.encodevalue(value)
