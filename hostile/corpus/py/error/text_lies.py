# The text of an exception is of a class of the tool's, which lies about its length and exits when it is written.
# expect: tool_error
class Text(str):
    def __len__(self):
        return 1

    def __format__(self, how):
        raise SystemExit(0)


class Odd(Exception):
    def __str__(self):
        return Text('x' * 10 ** 6)


raise Odd
