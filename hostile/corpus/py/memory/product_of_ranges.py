# A product remembers the whole of each factor before it gives anything.
# expect: memory_limit or tool_error
import itertools
return next(itertools.product(range(10 ** 9), repeat=2))
