# The answer is an awaitable of the tool's own that yields what no loop knows.
# expect: tool_error
class Odd:
    def __await__(self):
        while True:
            yield 'more'


def main(input):
    return Odd()
