"""How an entry is called: what it wants is read from its parameters."""

import inspect

from .spelling import near

_CONTEXT = ("context", "ctx")


class Call:
    """The way to call one entry, found out once for all runs."""

    def __init__(self, name, entry):
        if not callable(entry):
            raise TypeError(f"the entry {name} is no function")
        self.name = name
        self.entry = entry
        self.place = _place(entry)
        parameters = inspect.signature(entry).parameters.values()
        self.places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self.names = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
        self.rest = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self.whole = not self.rest and self._could_take_dict()

    def __call__(self, input, context, params):
        if self.name == "execute" or self._takes_dict(input, params):
            return self.entry(*(input, context)[: len(self.places)])
        return self._by_keyword(input, context, params)

    def _could_take_dict(self):
        """Whether the parameters look as if the first stood for the whole input, and a second for the context. Where
        they do not, whoever misspells a key is to hear of it."""
        if any(p.default is p.empty for p in self.names) or not 1 <= len(self.places) <= 2:
            return False
        first, *others = self.places
        if first.name in _CONTEXT or first.default is not first.empty and first.name != "input":
            return False
        if not others:
            return True
        second = others[0]
        return second.name in _CONTEXT or first.name == "input" and second.default is second.empty

    def _takes_dict(self, input, params):
        if not self.whole:
            return False
        return not any(p.name in input or p.name in params for p in (*self.places, *self.names))

    def _by_keyword(self, input, context, params):
        special = {"input": input, **dict.fromkeys(_CONTEXT, context)}
        given, places = {}, []
        for parameter in (*self.places, *self.names):
            name = parameter.name
            if name in input:
                value = input[name]
            elif name in special and name not in params:
                value = special[name]
            elif parameter.default is not parameter.empty:
                value = parameter.default
            elif name in params:
                value = None
            else:
                raise TypeError(self._misses(name, input))
            if parameter.kind is parameter.POSITIONAL_ONLY:
                places.append(value)
            else:
                given[name] = value
        if self.rest:
            given.update((name, value) for name, value in input.items() if name not in given)
        return self.entry(*places, **given)

    def _misses(self, name, input):
        wanted = {p.name for p in (*self.places, *self.names)}
        meant = near(name, [key for key in input if key not in wanted])
        advice = f"; did you mean {meant}, which is there?" if meant else ""
        return f"{self.name}() wants {name}, which is not in the input{advice}"


def _place(entry):
    """The file and the line in which a function is defined, or None."""
    code = getattr(inspect.unwrap(entry), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if inspect.iscode(code) else None
