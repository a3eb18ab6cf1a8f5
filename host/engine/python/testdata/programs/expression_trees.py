"""Derives and simplifies formulas, by matching on their structure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sum:
    left: object
    right: object


@dataclass(frozen=True)
class Product:
    left: object
    right: object


@dataclass(frozen=True)
class Power:
    base: object
    exponent: int


def derive(e, name):
    match e:
        case int() | float():
            return 0
        case str():
            return int(e == name)
        case Sum(a, b):
            return Sum(derive(a, name), derive(b, name))
        case Product(a, b):
            return Sum(Product(derive(a, name), b), Product(a, derive(b, name)))
        case Power(base, exponent=n):
            return Product(Product(n, Power(base, n - 1)), derive(base, name))
    raise TypeError(e)


def simplify(e):
    match e:
        case Sum(a, b) | Product(a, b):
            a, b = simplify(a), simplify(b)
            match type(e)(a, b):
                case Sum(0, x) | Sum(x, 0) | Product(1, x) | Product(x, 1):
                    return x
                case Product(0, _) | Product(_, 0):
                    return 0
                case Sum(int(x), int(y)):
                    return x + y
                case Product(int(x), int(y)):
                    return x * y
                case other:
                    return other
        case Power(base, 1):
            return simplify(base)
        case Power(_, 0):
            return 1
    return e


def show(e):
    match e:
        case Sum(a, b):
            return f"({show(a)} + {show(b)})"
        case Product(a, b):
            return f"{show(a)}*{show(b)}"
        case Power(a, n):
            return f"{show(a)}^{n}"
    return str(e)


def main():
    formulas = [
        Power("x", 3),
        Product("x", "y"),
        Sum(Product(3, Power("x", 2)), Sum("x", 7)),
        Product(Sum("x", 1), Sum("x", 2)),
    ]
    return [[show(f), show(simplify(derive(f, "x")))] for f in formulas]
