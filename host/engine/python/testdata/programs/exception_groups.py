"""Groups of exceptions: except*, split, subgroup, nested ones."""

import errno


def check(record):
    errors = []
    if not record.get("name"):
        errors.append(ValueError("name is missing"))
    if not isinstance(record.get("age"), int):
        errors.append(TypeError("age is not a number"))
    elif record["age"] < 0:
        errors.append(ValueError("age is negative"))
    if errors:
        raise ExceptionGroup("invalid record", errors)
    return "fine"


def handle(record):
    seen = []
    try:
        seen.append(check(record))
    except* ValueError as group:
        seen += [f"value: {error}" for error in group.exceptions]
    except* TypeError as group:
        seen += [f"type: {error}" for error in group.exceptions]
    return seen


def names(group):
    """Return the types within a group. The texts are omitted, because error numbers differ between systems."""
    if isinstance(group, ExceptionGroup):
        return [group.message, [names(error) for error in group.exceptions]]
    return type(group).__name__


records = [{"name": "ann", "age": 3}, {"age": "x"}, {"name": "", "age": -1}]
nested = ExceptionGroup(
    "outer", [OSError(errno.EPERM, "a"), ExceptionGroup("inner", [KeyError("k"), OSError(errno.ENOENT, "b")])]
)
systems, others = nested.split(OSError)
try:
    try:
        raise nested
    except* KeyError:
        pass
except ExceptionGroup as left:
    rest = names(left)
nested.add_note("a note")
return {
    "records": [handle(record) for record in records],
    "systems": names(systems),
    "others": repr(others),
    "rest": rest,
    "some": names(nested.subgroup(lambda error: getattr(error, "errno", 0) == errno.ENOENT)),
    "derived": [str(nested.derive([ValueError()])), nested.__notes__],
}
