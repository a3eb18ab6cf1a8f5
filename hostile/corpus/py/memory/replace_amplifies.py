# Each of many characters is replaced by as many.
# expect: memory_limit or tool_error
return len(('a' * 40_000).replace('a', 'b' * 40_000))
