# Numbers whose texts would break out of the JSON that they stand in.
# expect: output [1,1.5]
class Whole(int):
    def __repr__(self):
        return '1], "other": ['

    __str__ = __format__ = __repr__


class Part(float):
    __repr__ = __str__ = Whole.__repr__


return [Whole(1), Part(1.5)]
