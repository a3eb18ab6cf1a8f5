# A source of brackets, compiled while the tool runs.
# expect: tool_error or stack_limit
return eval('(' * 10 ** 6)
