"""Metaclasses: an ordered schema, a registry, singletons, generated class attributes."""


class Registry(type):
    kinds = {}

    def __new__(mcs, name, bases, namespace, *, abstract=False):
        cls = super().__new__(mcs, name, bases, dict(namespace))
        cls.order = [key for key in namespace if not key.startswith("_")]
        if not abstract:
            mcs.kinds[name.lower()] = cls
        return cls

    def __init__(cls, name, bases, namespace, **kwargs):
        super().__init__(name, bases, namespace)

    @classmethod
    def __prepare__(mcs, name, bases, **kwargs):
        return {"_prepared_for": name}

    def __call__(cls, *args):
        instance = super().__call__(*args)
        instance.called = True
        return instance

    def __getattr__(cls, name):
        if name.startswith("is_"):
            return name[3:] in cls.order
        raise AttributeError(name)

    def __len__(cls):
        return len(cls.order)

    def __instancecheck__(cls, instance):
        return getattr(instance, "pretends", None) is cls or super().__instancecheck__(instance)


class Model(metaclass=Registry, abstract=True):
    pass


class User(Model):
    name = "text"
    age = "number"


class Singleton(type):
    def __call__(cls, *args, **kwargs):
        if not hasattr(cls, "_one"):
            cls._one = super().__call__(*args, **kwargs)
        return cls._one


class Config(metaclass=Singleton):
    pass


class Fake:
    pretends = User


def main():
    made = Registry("Made", (Model,), {"x": 1, "get": lambda self: self.x})
    try:
        type("Clash", (Model, Config), {})
    except TypeError as error:
        clash = str(error).split(":")[0]
    return [
        sorted(Registry.kinds),
        User.order,
        User._prepared_for,
        User().called,
        User.is_age,
        User.is_size,
        len(User),
        isinstance(Fake(), User),
        Config() is Config(),
        made().get(),
        type(made).__name__,
        clash,
    ]
