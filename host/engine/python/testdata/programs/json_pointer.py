"""JSON Pointer (RFC 6901) and merge patches (RFC 7386)."""

import copy

DOCUMENT = {"foo": ["bar", "baz"], "": 0, "a/b": 1, "m~n": 2, "deep": {"x": {"y": [10, {"z": None}]}}}


def resolve(document, pointer):
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"{pointer!r} is not a pointer")
    for part in pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


def merge(target, patch):
    if not isinstance(patch, dict):
        return patch
    target = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        else:
            target[key] = merge(target.get(key), value)
    return target


def attempt(pointer):
    try:
        return resolve(DOCUMENT, pointer)
    except (KeyError, IndexError, ValueError, TypeError) as error:
        return f"{type(error).__name__}: {error}"


def main():
    before = copy.deepcopy(DOCUMENT)
    patched = merge(DOCUMENT, {"foo": None, "deep": {"x": {"new": {"a": None, "b": 1}}}, "": [None]})
    pointers = ["/foo/1", "/", "/a~1b", "/m~0n", "/deep/x/y/1/z", "/foo/2", "/none", "foo", "/foo/x"]
    return [{p: attempt(p) for p in pointers}, patched, before == DOCUMENT, resolve(DOCUMENT, "") is DOCUMENT]
