# Two lists are equal if their items are, which make two lists to find out: C calls Python calls C.
# expect: stack_limit
class Same:
    def __eq__(self, other):
        return [self] == [other]


return Same() == Same()
