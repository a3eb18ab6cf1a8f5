# Asks for more than a length can say.
# expect: tool_error
return len(bytearray(2 ** 40))
