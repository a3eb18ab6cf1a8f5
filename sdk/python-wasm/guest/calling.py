"""How an entry is called: what it wants is read from its parameters."""

import inspect

from .spelling import near

_CONTEXT = ("context", "ctx")
_OURS = ("input", *_CONTEXT)

# Names of a parameter that say that it takes all there is: no key that looks like one of them is a slip of the pen.
_FOR_ALL = frozenset(
    "arg args arguments body config data event events inputs item items json kwargs message obj object options opts param "
    "parameters params payload props query record req request state values".split()
)


def _is_ours(name, params):
    """Whether a parameter stands for what the host gives, whatever keys the input has: a tool may trust its context."""
    return name in _OURS and name not in params


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
        self.more = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        self.rest = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self.whole = not self.rest and self._could_take_dict()
        self.means_key = bool(self.places) and self.places[0].name not in {*_OURS, *_FOR_ALL}
        self.doubt = None  # of the last call: what looks like a slip of the one who gave the input

    def __call__(self, input, context, params):
        if self.name == "execute" or self._takes_dict(input, params):
            if self.means_key and self.name != "execute":
                self.doubt = self._doubt(input)
            return self._by_place(input, context)
        return self._by_keyword(input, context, params)

    def _doubt(self, input):
        """What to say where the whole input is passed as a parameter that a key of the input looks like; or None."""
        name = self.places[0].name
        alike = [key for key in input if key[:1] == name[0] and abs(len(key) - len(name)) < 3]
        meant = alike and near(name, alike)  # which takes long
        if not meant:
            return None
        return (
            f"{self.name}({name}) got the whole input as {name}, for the input has no key {name}; "
            f"did you mean {meant}, which is there?"
        )

    def _by_place(self, input, context):
        if self.rest and not self.places and not self.more:
            return self.entry(input=input, context=context)
        count = 2 if self.more else len(self.places)
        return self.entry(*(input, context)[:count])

    def _could_take_dict(self):
        """Whether the parameters look as if the first stood for the whole input, and a second for the context. Where
        they do not, whoever misspells a key is to hear of it."""
        if any(p.default is p.empty for p in self.names):
            return False
        if not self.places:
            return self.more and not self.names
        first, *others = self.places
        if len(others) > 1 or first.name in _CONTEXT or first.default is not first.empty and first.name != "input":
            return False
        if not others:
            return True
        second = others[0]
        return second.name in _CONTEXT or first.name == "input" and second.default is second.empty

    def _takes_dict(self, input, params):
        """Whether nothing that could be given has the name of a parameter. Where the tool declares its parameters,
        those are what could be; whoever makes up another key must not change how the tool is called."""
        if not self.whole:
            return False
        given = params or input
        return not any(p.name in given and not _is_ours(p.name, params) for p in (*self.places, *self.names))

    def _by_keyword(self, input, context, params):
        given, places, taken = {}, [], set()
        for parameter in (*self.places, *self.names):
            name = parameter.name
            taken.add(name)
            if _is_ours(name, params):
                value = context if name in _CONTEXT else input
            elif name in input:
                value = input[name]
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
            given.update((name, value) for name, value in input.items() if name not in taken)
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
