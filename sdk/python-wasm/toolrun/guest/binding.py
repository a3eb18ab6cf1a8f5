"""Binding of a run's input and context to the parameters of an entry."""

import inspect

from .spelling import near

_CONTEXT = ("context", "ctx")
_RESERVED = ("input", *_CONTEXT)

# Parameter names that authors usually choose for the whole input. A similar key in the input is not
# treated as a misspelling.
_WHOLE_INPUT = frozenset(
    "arg args arguments body config data event events inputs item items json kwargs message obj object options opts param "
    "parameters params payload props query record req request state values".split()
)


def _is_reserved(name, params):
    """Report whether the host itself provides a parameter and ignores a key of the input with the same name."""
    return name in _RESERVED and name not in params


class Call:
    """The binding of one entry, which is determined once for all runs."""

    def __init__(self, name, entry):
        if not callable(entry):
            raise TypeError(f"the entry {name} is not a function")
        self.name = name
        self.entry = entry
        self.location = _location(entry)
        parameters = inspect.signature(entry).parameters.values()
        self.positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self.keyword_only = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
        self.var_positional = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        self.var_keyword = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self.whole = not self.var_keyword and self._could_take_dict()
        self.names_key = bool(self.positional) and self.positional[0].name not in {*_RESERVED, *_WHOLE_INPUT}
        self.warning = None  # a probable mistake in the input of the last call

    def __call__(self, input, context, params):
        if self.name == "execute" or self._takes_dict(input, params):
            if self.names_key and self.name != "execute":
                self.warning = self._similar_key_warning(input)
            return self._by_position(input, context)
        return self._by_keyword(input, context, params)

    def _similar_key_warning(self, input):
        """Return a warning if the input has a key similar to the parameter that gets the whole input, or None."""
        name = self.positional[0].name
        similar = [key for key in input if key[:1] == name[0] and abs(len(key) - len(name)) < 3]
        meant = similar and near(name, similar)  # near is slow, so exclude most keys before calling it
        if not meant:
            return None
        return (
            f"{self.name}({name}) received the whole input as {name}, because the input has no key {name}; "
            f"the input has the similar key {meant}"
        )

    def _by_position(self, input, context):
        if self.var_keyword and not self.positional and not self.var_positional:
            return self.entry(input=input, context=context)
        count = 2 if self.var_positional else len(self.positional)
        return self.entry(*(input, context)[:count])

    def _could_take_dict(self):
        """Report whether the first parameter can receive the whole input, and a second parameter the context.

        If not, the parameters are keys of the input, and a misspelt key is an error.
        """
        if any(p.default is p.empty for p in self.keyword_only):
            return False
        if not self.positional:
            return self.var_positional and not self.keyword_only
        first, *others = self.positional
        if len(others) > 1 or first.name in _CONTEXT or first.default is not first.empty and first.name != "input":
            return False
        if not others:
            return True
        second = others[0]
        return second.name in _CONTEXT or first.name == "input" and second.default is second.empty

    def _takes_dict(self, input, params):
        """Report whether no possible key of the input has the name of a parameter.

        If the tool declares parameters, only they are possible keys: an extra key of the input must not change how the
        tool is called.
        """
        if not self.whole:
            return False
        keys = params or input
        return not any(p.name in keys and not _is_reserved(p.name, params) for p in (*self.positional, *self.keyword_only))

    def _by_keyword(self, input, context, params):
        keywords, arguments, bound = {}, [], set()
        for parameter in (*self.positional, *self.keyword_only):
            name = parameter.name
            bound.add(name)
            if _is_reserved(name, params):
                value = context if name in _CONTEXT else input
            elif name in input:
                value = input[name]
            elif parameter.default is not parameter.empty:
                value = parameter.default
            elif name in params:
                value = None
            else:
                raise TypeError(self._missing(name, input))
            if parameter.kind is parameter.POSITIONAL_ONLY:
                arguments.append(value)
            else:
                keywords[name] = value
        if self.var_keyword:
            keywords.update((name, value) for name, value in input.items() if name not in bound)
        return self.entry(*arguments, **keywords)

    def _missing(self, name, input):
        known = {p.name for p in (*self.positional, *self.keyword_only)}
        meant = near(name, [key for key in input if key not in known])
        advice = f"; the input has the similar key {meant}" if meant else ""
        return f"{self.name}() requires {name}, but the input does not contain it{advice}"


def _location(entry):
    """Return the file and the line in which a function is defined, or None."""
    code = getattr(inspect.unwrap(entry), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if inspect.iscode(code) else None
