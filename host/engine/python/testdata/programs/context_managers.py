"""Context managers: order of exits, suppressed errors, stacks, redirected output."""

import io
from contextlib import ExitStack, chdir, closing, contextmanager, nullcontext, redirect_stdout, suppress

log = []


class Step:
    def __init__(self, name, swallow=False):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        log.append(f"enter {self.name}")
        return self

    def __exit__(self, kind, error, trace):
        log.append(f"exit {self.name} {kind.__name__ if kind else None}")
        return self.swallow


@contextmanager
def tag(name):
    log.append(f"<{name}>")
    try:
        yield name
    except KeyError as error:
        log.append(f"caught {error}")
    finally:
        log.append(f"</{name}>")


def main():
    with Step("a"), Step("b", swallow=True), Step("c"):
        raise ValueError
    with tag("p"), suppress(ZeroDivisionError):
        1 / 0
    with tag("q"):
        {}["x"]
    with ExitStack() as stack:
        for name in "xy":
            stack.enter_context(Step(name))
        stack.callback(log.append, "callback")
        kept = stack.pop_all()
    kept.close()
    with redirect_stdout(io.StringIO()) as out, nullcontext(5) as five, closing(io.BytesIO()) as held:
        print("hidden", five)
    with (
        Step("paren") as step,
        tag(step.name),
    ):
        pass
    return [log, out.getvalue(), held.closed, chdir.__name__]
