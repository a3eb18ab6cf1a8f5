# The garbage collector calls a function of the tool whenever it begins, and that never returns.
# expect: timeout
import gc
gc.callbacks.append(lambda phase, info: [None for _ in iter(int, 1)])
gc.collect()
