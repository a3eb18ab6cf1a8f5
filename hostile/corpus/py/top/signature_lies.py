# The entry says of itself that it takes a million arguments, without an end.
# expect: output or tool_error or timeout or memory_limit
class Signature:
    @property
    def parameters(self):
        while True:
            pass


def main(a=1):
    return a


main.__signature__ = Signature()
