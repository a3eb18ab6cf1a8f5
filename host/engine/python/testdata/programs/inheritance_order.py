"""Several base classes: the order of methods, cooperative calls, mixins, hooks."""


class Base:
    registry = {}

    def __init_subclass__(cls, tag=None, **kwargs):
        super().__init_subclass__(**kwargs)
        if tag:
            Base.registry[tag] = cls.__name__

    def __init__(self, **kwargs):
        self.left = kwargs

    def path(self):
        return ["Base"]


class A(Base, tag="a"):
    def __init__(self, *, a, **kwargs):
        super().__init__(**kwargs)
        self.a = a

    def path(self):
        return ["A", *super().path()]


class B(Base, tag="b"):
    def __init__(self, *, b=2, **kwargs):
        super().__init__(**kwargs)
        self.b = b

    def path(self):
        return ["B", *super().path()]


class C(A, B):
    def path(self):
        return ["C", *super().path()]

    def __getattr__(self, name):
        if name.startswith("get_"):
            return lambda: getattr(self, name[4:])
        raise AttributeError(name)


class Celsius(float):
    def __new__(cls, text):
        return super().__new__(cls, text.rstrip("C"))


def main():
    c = C(a=1, other=3)
    try:
        type("X", (A, Base, B), {})
        type("Y", (Base, A), {})
    except TypeError as error:
        conflict = "method resolution" in str(error)
    return [
        [k.__name__ for k in C.__mro__],
        c.path(),
        c.left,
        c.get_b(),
        hasattr(c, "nope"),
        Base.registry,
        conflict,
        Celsius("21.5C") * 2,
        A.path(c),
        C.__base__.__name__,
    ]
