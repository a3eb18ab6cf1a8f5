# An object that answers nothing at all, but ends the program.
# expect: output_invalid or tool_error
class Silent:
    def __getattribute__(self, name):
        raise SystemExit(0)


return [Silent()]
