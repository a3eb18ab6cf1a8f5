# The function that really sets the limit on calls is found behind the one that does not: what is left is the limit on memory.
# expect: memory_limit or timeout or stack_limit
# timeout: 2s
import sys
sys.setrecursionlimit.__globals__['_limit_recursion'](2 ** 31 - 1)


def deep():
    return [deep()]


return deep()
