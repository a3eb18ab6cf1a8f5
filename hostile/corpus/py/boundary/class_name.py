# The class of an answer has a name that never comes.
# expect: timeout
class Meta(type):
    @property
    def __name__(cls):
        while True:
            pass


class Named(metaclass=Meta):
    pass


return Named()
