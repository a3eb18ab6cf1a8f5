"""A recursive descent parser for arithmetic, with its own tokenizer and places of errors."""

import operator
import re

TOKEN = re.compile(r"\s*(?:(?P<number>\d+(?:\.\d*)?)|(?P<name>[a-z]+)|(?P<sign>\*\*|[-+*/()]))")
LEVELS = [{"+": operator.add, "-": operator.sub}, {"*": operator.mul, "/": operator.truediv}]


class Parser:
    def __init__(self, text, names):
        self.names, self.tokens, place = names, [], 0
        text = text.rstrip()
        while place < len(text):
            match = TOKEN.match(text, place)
            if not match:
                raise SyntaxError(f"unexpected {text[place]!r} at {place}")
            self.tokens.append((match.lastgroup, match[match.lastgroup]))
            place = match.end()
        self.tokens.append(("end", ""))

    def take(self, *texts):
        if self.tokens[0][1] in texts:
            return self.tokens.pop(0)[1]
        return None

    def level(self, depth=0):
        if depth == len(LEVELS):
            return self.power()
        value = self.level(depth + 1)
        while sign := self.take(*LEVELS[depth]):
            value = LEVELS[depth][sign](value, self.level(depth + 1))
        return value

    def power(self):
        if self.take("-"):
            return -self.power()
        value = self.atom()
        return value ** self.power() if self.take("**") else value

    def atom(self):
        kind, text = self.tokens.pop(0)
        if kind == "number":
            return float(text) if "." in text else int(text)
        if kind == "name":
            return self.names[text]
        if text == "(":
            value = self.level()
            if not self.take(")"):
                raise SyntaxError("a bracket is open")
            return value
        raise SyntaxError(f"a value is missing before {text or 'the end'!r}")


def evaluate(text):
    try:
        parser = Parser(text, {"x": 7, "pi": 3.14159})
        value = parser.level()
        if parser.tokens[0][0] != "end":
            raise SyntaxError(f"{parser.tokens[0][1]!r} is left")
        return value
    except (SyntaxError, KeyError, ZeroDivisionError) as error:
        return f"{type(error).__name__}: {error}"


def main():
    texts = [
        "1+2*3",
        "-2**2",
        "2**3**2",
        "(1+2)*3",
        "x*pi",
        "1/0",
        "1+",
        "(1",
        "2 $ 3",
        "y",
        "1 2",
        "10/4-0.5",
        "2**-1",
    ]
    return {text: evaluate(text) for text in texts}
