# An exception with a text of fifty megabytes, of control characters.
# expect: tool_error
raise RuntimeError('\x1b[31m\x00\n' * 7 * 10 ** 6)
