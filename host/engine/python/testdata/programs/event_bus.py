"""An event bus that holds weak references to its listeners."""

import gc
import weakref
from collections import defaultdict


class Bus:
    def __init__(self):
        self.listeners = defaultdict(list)

    def on(self, name, listener):
        hold = weakref.WeakMethod if hasattr(listener, "__self__") else weakref.ref
        self.listeners[name].append(hold(listener))

    def send(self, name, *args):
        self.listeners[name] = [ref for ref in self.listeners[name] if ref() is not None]
        return [ref()(*args) for ref in self.listeners[name]]


class Screen:
    def __init__(self, name):
        self.name = name

    def draw(self, text):
        return f"{self.name}: {text}"


def shout(text):
    return text.upper()


def main():
    bus, left, right, gone = Bus(), Screen("left"), Screen("right"), []
    bus.on("draw", left.draw), bus.on("draw", right.draw), bus.on("draw", shout)
    weakref.finalize(right, gone.append, "right")
    first = bus.send("draw", "a")
    del right
    gc.collect()
    cache = weakref.WeakValueDictionary({"left": left})
    names = weakref.WeakKeyDictionary({left: 1})
    second = bus.send("draw", "b")
    del left
    gc.collect()
    return [first, gone, second, bus.send("draw", "c"), len(cache), len(names)]
