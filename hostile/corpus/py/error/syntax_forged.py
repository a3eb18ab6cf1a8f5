# An error of syntax at a line of the tool's choice: before the first, and of a class of its own.
# expect: tool_error
class Number(int):
    def __repr__(self):
        return '1}, "fault": 0, "x": {'


raise SyntaxError('forged', ('tool.py', Number(-5), Number(10 ** 40), 'text'))
