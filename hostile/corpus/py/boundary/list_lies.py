# A list that says it holds something else, and a billion of it: it is written as what it iterates.
# expect: output [3]
class Lies(list):
    def __iter__(self):
        return iter([3])

    def __len__(self):
        return 10 ** 9

    __getitem__ = None


return Lies([1, 2])
