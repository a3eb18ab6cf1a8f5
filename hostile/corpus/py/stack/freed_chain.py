# A chain of iterators is freed, one within the other: a known way to overflow the stack of C.
# expect: stack_limit or tool_error or output 1
import itertools
chain = iter(())
for _ in range(10 ** 5):
    chain = itertools.chain(chain)
del chain
return 1
