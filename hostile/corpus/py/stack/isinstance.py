# A class is looked for in tuples within tuples.
# expect: stack_limit or tool_error
classes = ()
for _ in range(10 ** 5):
    classes = (classes,)
return isinstance(1, classes)
