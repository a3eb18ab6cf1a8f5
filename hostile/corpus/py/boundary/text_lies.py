# A text that says that it is another one, also where it is a name.
# expect: output {"real":"real"}
class Lies(str):
    def __str__(self):
        return '"}, "other": {"'

    __repr__ = __format__ = encode = __iter__ = __str__


return {Lies('real'): Lies('real')}
