"""Enumerations of flags, of numbers and of texts."""

from enum import Enum, Flag, IntEnum, IntFlag, StrEnum, auto, unique


class Permission(Flag):
    READ = auto()
    WRITE = auto()
    RUN = auto()
    ALL = READ | WRITE | RUN


class Planet(Enum):
    EARTH = (5.976e24, 6.37814e6)
    MARS = (6.421e23, 3.3972e6)

    def __init__(self, mass, radius):
        self.mass, self.radius = mass, radius

    @property
    def gravity(self):
        return 6.67300e-11 * self.mass / self.radius**2


class Colour(StrEnum):
    RED = auto()
    GREEN = auto()


class Level(IntEnum):
    LOW = 1
    HIGH = 10

    @classmethod
    def _missing_(cls, value):
        return cls.HIGH if value > 5 else None


class Bits(IntFlag):
    A = 1
    B = 4


def main():
    try:
        unique(Enum("Twice", {"A": 1, "B": 1}))
    except ValueError as error:
        twice = "B -> A" in str(error)
    both = Permission.READ | Permission.RUN
    return {
        "flags": [
            both.value,
            Permission.WRITE in both,
            (~both).name,
            [p.name for p in both],
            Permission(7) is Permission.ALL,
        ],
        "gravity": {planet.name: round(planet.gravity, 6) for planet in Planet},
        "texts": [Colour.RED, Colour("green").upper(), [*Colour], f"{Colour.RED:>6}"],
        "levels": [Level(7), Level.HIGH > Level.LOW, sorted([Level.HIGH, Level.LOW]), Level["LOW"].value],
        "bits": [Bits(5) == Bits.A | Bits.B, int(Bits(6)), Bits.A in Bits(5)],
        "twice": twice,
    }
