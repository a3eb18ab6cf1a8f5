"""Descriptors: checked fields, lazy ones, methods bound to classes."""


class Field:
    def __init__(self, kind, *, check=lambda value: True):
        self.kind, self.check = kind, check

    def __set_name__(self, owner, name):
        self.name = name
        owner.fields = [*getattr(owner, "fields", []), name]

    def __get__(self, instance, owner=None):
        return self if instance is None else instance.__dict__[self.name]

    def __set__(self, instance, value):
        if not isinstance(value, self.kind):
            raise TypeError(f"{self.name} is to be {self.kind.__name__}, not {type(value).__name__}")
        if not self.check(value):
            raise ValueError(f"{self.name} cannot be {value!r}")
        instance.__dict__[self.name] = value

    def __delete__(self, instance):
        raise AttributeError(f"{self.name} stays")


class Lazy:
    def __init__(self, function):
        self.function = function

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner):
        value = instance.__dict__[self.name] = self.function(instance)
        return value


class Person:
    name = Field(str, check=str.strip)
    age = Field(int, check=range(150).__contains__)
    made = 0

    def __init__(self, name, age):
        self.name, self.age = name, age

    @Lazy
    def initials(self):
        self.made += 1
        return "".join(part[0] for part in self.name.split())


def attempt(action):
    try:
        return action()
    except (TypeError, ValueError, AttributeError) as error:
        return str(error)


def main():
    ann = Person("Ann B. Miller", 33)
    texts = [
        attempt(lambda: Person(" ", 1)),
        attempt(lambda: Person("x", "1")),
        attempt(lambda: Person("x", 150)),
        attempt(lambda: delattr(ann, "age")),
    ]
    return [
        texts,
        ann.initials + ann.initials,
        ann.made,
        Person.fields,
        Person.age.kind.__name__,
        Person.__init__.__get__(ann).__self__ is ann,
    ]
