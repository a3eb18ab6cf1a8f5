# An attribute that is looked up to look it up.
# expect: stack_limit
class Mirror:
    def __getattr__(self, name):
        return getattr(self, name)


return Mirror().anything
