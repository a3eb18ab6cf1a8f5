# Every builtin function is deleted.
# expect: output or tool_error
__builtins__.__dict__.clear()
