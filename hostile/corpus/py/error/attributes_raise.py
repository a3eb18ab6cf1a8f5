# An exception that raises another when anything is asked of it.
# expect: tool_error
class Silent(Exception):
    def __getattribute__(self, name):
        raise SystemExit(0)


raise Silent('x')
