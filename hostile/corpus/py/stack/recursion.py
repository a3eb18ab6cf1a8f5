# A function of Python that calls itself.
# expect: stack_limit
def deep():
    return deep()


return deep()
