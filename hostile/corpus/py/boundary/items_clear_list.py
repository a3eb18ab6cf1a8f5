# While a list is written as JSON, one of its members empties it.
# expect: output or output_invalid or tool_error
class Clears(dict):
    def items(self):
        values.clear()
        return [('a', bytes(100))]


values = [Clears(a=1) for _ in range(100)]
return values
