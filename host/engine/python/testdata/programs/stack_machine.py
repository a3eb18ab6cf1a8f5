"""A small Lisp with a reader, an evaluator with closures and tail calls, and a printer."""

import math
import operator
from functools import reduce


class Symbol(str):
    pass


class Scope(dict):
    def __init__(self, names=(), values=(), outer=None):
        super().__init__(zip(names, values))
        self.outer = outer

    def find(self, name):
        scope = self
        while scope is not None:
            if name in scope:
                return scope
            scope = scope.outer
        raise NameError(f"{name} is not defined")


class Procedure:
    def __init__(self, names, body, scope):
        self.names, self.body, self.scope = names, body, scope


GLOBALS = Scope()
GLOBALS.update(
    {
        "+": lambda *a: sum(a),
        "-": operator.sub,
        "*": lambda *a: math.prod(a),
        "/": operator.truediv,
        "<": operator.lt,
        "=": operator.eq,
        "list": lambda *a: list(a),
        "car": lambda x: x[0],
        "cdr": lambda x: x[1:],
        "cons": lambda x, y: [x, *y],
        "null?": lambda x: x == [],
        "max": max,
        "fold": lambda f, start, values: reduce(lambda a, b: call(f, [a, b]), values, start),
    }
)


def read(tokens):
    token = tokens.pop(0)
    if token == "(":
        items = []
        while tokens[0] != ")":
            items.append(read(tokens))
        tokens.pop(0)
        return items
    if token == ")":
        raise SyntaxError("unexpected )")
    for kind in (int, float):
        try:
            return kind(token)
        except ValueError:
            pass
    return Symbol(token)


def call(function, values):
    if isinstance(function, Procedure):
        return evaluate(function.body, Scope(function.names, values, function.scope))
    return function(*values)


def evaluate(x, scope=GLOBALS):
    while True:
        match x:
            case Symbol():
                return scope.find(x)[x]
            case int() | float():
                return x
            case ["quote", value]:
                return value
            case ["if", test, yes, no]:
                x = yes if evaluate(test, scope) else no
            case ["define", Symbol() as name, value]:
                scope[name] = evaluate(value, scope)
                return None
            case ["set!", name, value]:
                scope.find(name)[name] = evaluate(value, scope)
                return None
            case ["lambda", names, body]:
                return Procedure(names, body, scope)
            case [first, *rest]:
                function, *values = [evaluate(part, scope) for part in (first, *rest)]
                if not isinstance(function, Procedure):
                    return function(*values)
                x, scope = function.body, Scope(function.names, values, function.scope)


def show(value):
    return f"({' '.join(map(show, value))})" if isinstance(value, list) else str(value)


def main():
    lines = """
        (define fact (lambda (n) (if (< n 2) 1 (* n (fact (- n 1))))))
        (fact 20)
        (define loop (lambda (n total) (if (= n 0) total (loop (- n 1) (+ total n)))))
        (loop 3000 0)
        (define counter ((lambda (n) (lambda () (+ n 1))) 41))
        (counter)
        (define map (lambda (f l) (if (null? l) l (cons (f (car l)) (map f (cdr l))))))
        (map (lambda (x) (* x x)) (list 1 2 3.5))
        (quote (a (b 1) c))
        (fold max 0 (list 3 9 2))
        (undefined)
    """
    answers = []
    for line in filter(None, map(str.strip, lines.splitlines())):
        try:
            value = evaluate(read(line.replace("(", " ( ").replace(")", " ) ").split()))
        except NameError as error:
            value = f"{error}"
        if value is not None:
            answers.append(show(value))
    return answers
