# A dict of the tool's own class that never runs out of items.
# expect: timeout or memory_limit
class Endless(dict):
    def items(self):
        while True:
            yield 'a', 1


return Endless(a=1)
