# The text of lists within lists.
# expect: stack_limit
value = []
for _ in range(10 ** 5):
    value = [value]
return len(repr(value))
