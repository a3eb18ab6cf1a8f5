"""How an entry is called: what it wants is read from its parameters."""

import inspect


class Call:
    """The way to call one entry, found out once for all runs."""

    def __init__(self, name, entry):
        if not callable(entry):
            raise TypeError(f"the entry {name} is no function")
        self.name = name
        self.entry = entry
        parameters = inspect.signature(entry).parameters.values()
        self.places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self.names = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
        self.rest = any(p.kind is p.VAR_KEYWORD for p in parameters)

    def __call__(self, input, context, params):
        if self.name == "execute":
            return self.entry(*(input, context)[: len(self.places)])
        if self._takes_dict(input, params):
            return self.entry(*(input, context)[: len(self.places)])
        return self._by_keyword(input, context, params)

    def _takes_dict(self, input, params):
        """Whether the first parameter stands for the whole input: nothing in the input has its name, nor that of
        another parameter."""
        if not self.places or any(p.default is p.empty for p in self.names):
            return False
        known = {*input, *params, "context"}
        first = self.places[0]
        others_fit = all(p.name not in input and p.name not in params for p in self.places)
        return others_fit and first.name not in known and (first.default is first.empty or first.name == "input")

    def _by_keyword(self, input, context, params):
        special = {"input": input, "context": context}
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
                raise TypeError(f"{self.name}() wants {name}, which is not in the input")
            if parameter.kind is parameter.POSITIONAL_ONLY:
                places.append(value)
            else:
                given[name] = value
        if self.rest:
            given.update((name, value) for name, value in input.items() if name not in given)
        return self.entry(*places, **given)
