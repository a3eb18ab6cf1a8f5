"""Closures, nonlocal, late binding, partial application, decorators with arguments."""

from functools import partial, reduce, wraps


def counter(start=0):
    value = start

    def step(by=1):
        nonlocal value
        value += by
        return value

    return step


def repeated(times, *, combine=list):
    def decorate(function):
        @wraps(function)
        def wrapper(*args, **kwargs):
            return combine(function(*args, **kwargs) for _ in range(times))

        wrapper.times = times
        return wrapper

    return decorate


ticks = counter(10)


@repeated(3, combine=tuple)
def tick(by: int = 2) -> int:
    """Tick."""
    return ticks(by)


late = [lambda: n for n in range(3)]
early = [lambda n=n: n for n in range(3)]
compose = lambda *functions: reduce(lambda f, g: lambda x: f(g(x)), functions)  # noqa: E731
hexadecimal = partial(int, base=16)
return [
    tick(),
    tick(by=5),
    [tick.__name__, tick.__doc__, tick.times, tick.__wrapped__.__defaults__],
    [f() for f in late],
    [f() for f in early],
    compose(str, abs, lambda x: x - 10)(3),
    [hexadecimal("ff"), hexadecimal.keywords],
    [cell.cell_contents for cell in ticks.__closure__],
]
