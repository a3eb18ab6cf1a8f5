# An exit code that is an object, whose truth and text are code of the tool.
# expect: tool_error
class Code:
    def __bool__(self):
        raise RuntimeError

    def __str__(self):
        raise SystemExit(self)


raise SystemExit(Code())
